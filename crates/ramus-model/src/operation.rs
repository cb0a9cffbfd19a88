//! Operations: which entries were written together, by whom, and which operation took back which.
//!
//! Every entry that ramus writes is marked with the operation it belongs to: its own entries in their `data`, all others in
//! a member beside the body that programs which do not know it ignore. Entries without a mark are somebody else's, or were
//! given to ramus as they are; those that stand side by side and bear the same time count as one operation.
//!
//! The invariant: every entry of a session that was not erased belongs to exactly one operation.

use std::collections::VecDeque;

use hashbrown::HashMap;
use serde_json::{Map, Value};

use crate::body::{Body, SUPERSEDES};
use crate::id::Seq;
use crate::json::{Raw, Spelled};
use crate::kind::{Kind, RAMUS_PREFIX};
use crate::log::{Lines, Log};

/// The member that marks an entry which has no `data` of ours.
pub const OPERATION: &str = "ramusOp";

/// How the types of entries begin that stand where one was erased. They belong to no operation.
pub const PURGED: &str = "ramus.purged";

/// What the members of a mark are called.
const MEMBERS: [&str; 6] = ["op", "client", "opId", "opOf", "opFrom", "takesBack"];

/// What an entry says about the operation it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// What was done, in one word.
    pub name: String,
    /// The surface through which it was done.
    pub client: String,
    /// The name of the operation, on the first of several entries.
    pub id: Option<String>,
    /// The operation that an earlier entry began.
    pub of: Option<String>,
    /// The entry without a mark that the operation began with.
    pub from: Option<String>,
    /// The operation that this one takes back.
    pub takes_back: Option<String>,
}

impl Mark {
    /// Reads the mark of an entry.
    pub fn read(entry: Raw<'_>) -> Option<Self> {
        let mark = entry.field(OPERATION).or_else(|| entry.field("data").filter(|_| is_ours(entry)))?;
        let text = |name| mark.field(name).and_then(Raw::text).map(|text| text.into_owned());
        Some(Self {
            name: text("op")?,
            client: text("client").unwrap_or_default(),
            id: text("opId"),
            of: text("opOf"),
            from: text("opFrom"),
            takes_back: text("takesBack"),
        })
    }

    fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        let mut put = |name: &str, value: Option<&str>| {
            members.extend(value.map(|value| (name.to_owned(), Value::from(value))));
        };
        put("op", Some(&self.name));
        put("client", Some(&self.client));
        put("opId", self.id.as_deref());
        put("opOf", self.of.as_deref());
        put("opFrom", self.from.as_deref());
        put("takesBack", self.takes_back.as_deref());
        members
    }
}

fn is_ours(entry: Raw<'_>) -> bool {
    let is_custom = entry.field("type").and_then(Raw::text).is_some_and(|name| name == "custom");
    is_custom && entry.field("customType").and_then(Raw::text).is_some_and(|name| name.starts_with(RAMUS_PREFIX))
}

impl Body {
    /// Marks the body with the operation it belongs to. What an entry of ours says about itself stays, unless it is the
    /// later version of one that another operation wrote.
    #[must_use]
    pub fn marked(self, mark: &Mark) -> Self {
        let custom_type = self.member("customType").and_then(Raw::text).filter(|_| self.kind() == Kind::Custom);
        let is_ours = custom_type.is_some_and(|name| name.starts_with(RAMUS_PREFIX));
        if !is_ours {
            return self.with(OPERATION, &Value::Object(mark.members()));
        }
        // What is kept as it was sent stays as it was spelled.
        let mark = Value::Object(mark.members()).to_string();
        let mut marked = Raw::parse(mark.as_bytes()).map(Spelled::of).unwrap_or_default();
        let is_later = self.member(SUPERSEDES).is_some();
        for (name, value) in self.member("data").into_iter().flat_map(Raw::raw_fields) {
            let name = name.text().unwrap_or_default();
            if !(is_later && MEMBERS.contains(&&*name)) {
                marked.put(&name, value);
            }
        }
        let marked = marked.bytes();
        match Raw::parse(&marked) {
            Some(data) => self.with_spelled("data", data),
            None => self,
        }
    }
}

/// Something that was done to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub id: String,
    /// What was done, in one word.
    pub name: String,
    /// The surface through which it was done; none when nobody said.
    pub client: Option<String>,
    /// When its first entry was written, as written.
    pub time: String,
    /// Its entries, in the order of the log. Never empty.
    pub entries: Vec<Seq>,
    /// The operation that it takes back.
    pub takes_back: Option<String>,
}

impl Operation {
    /// Returns its first entry.
    pub fn first(&self) -> Option<Seq> {
        self.entries.first().copied()
    }
}

/// The operations of a session, the one that began last first. A fork has those since it was forked.
pub struct Operations<'l, L: ?Sized> {
    log: &'l Log,
    lines: &'l L,
    /// The entries that are still to be read, as positions.
    rest: Box<dyn Iterator<Item = Seq> + 'l>,
    /// Operations of which the first entry was not met yet, in the order in which they were met.
    open: HashMap<String, Operation>,
    order: Vec<String>,
    /// Entries without a mark, side by side.
    unmarked: Option<Unmarked>,
    /// What is complete.
    ready: VecDeque<Operation>,
    is_over: bool,
}

/// Entries without a mark that belong together.
struct Unmarked {
    operation: Operation,
    /// The entry with which they begin, when an entry behind them says so.
    from: Option<String>,
}

impl<'l, L: Lines + ?Sized> Operations<'l, L> {
    /// Reads the operations of a log from its end.
    pub fn of(log: &'l Log, lines: &'l L) -> Self {
        let own = log.seqs().rev().take_while(|seq| log.stored_place(*seq).is_some_and(|place| place.source == 0));
        Self {
            log,
            lines,
            rest: Box::new(own),
            open: HashMap::new(),
            order: Vec::new(),
            unmarked: None,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// Returns the next operation.
    pub fn next_operation(&mut self) -> Result<Option<Operation>, L::Error> {
        loop {
            if let Some(operation) = self.ready.pop_front() {
                return Ok(Some(operation));
            }
            match self.rest.next() {
                Some(seq) => self.take(seq)?,
                None if self.is_over => return Ok(None),
                None => self.end(),
            }
        }
    }

    /// What has no beginning was cut off or purged: what is left of it counts.
    fn end(&mut self) {
        self.is_over = true;
        self.close_unmarked();
        for id in std::mem::take(&mut self.order) {
            if let Some(mut operation) = self.open.remove(&id) {
                operation.entries.reverse();
                self.ready.push_back(operation);
            }
        }
    }

    fn take(&mut self, seq: Seq) -> Result<(), L::Error> {
        let Some(place) = self.log.stored_place(seq) else { return Ok(()) };
        let line = self.lines.line(place)?;
        let raw = Raw::parse(&line);
        let time = raw.and_then(|raw| raw.field("timestamp")).and_then(Raw::text).unwrap_or_default().into_owned();
        let custom_type = raw.and_then(|raw| raw.field("customType")).and_then(Raw::text);
        if custom_type.is_some_and(|name| name.starts_with(PURGED)) {
            return Ok(());
        }
        match raw.and_then(Mark::read) {
            Some(mark) => self.take_marked(seq, time, mark),
            None => self.take_unmarked(seq, time),
        }
        Ok(())
    }

    fn take_marked(&mut self, seq: Seq, time: String, mark: Mark) {
        self.close_unmarked();
        let own = self.log.id(seq).to_owned();
        let goes_on = mark.of.is_some();
        let id = mark.id.or(mark.of).unwrap_or(own);
        let operation = Operation {
            id: id.clone(),
            name: mark.name,
            client: Some(mark.client).filter(|client| !client.is_empty()),
            time,
            entries: Vec::new(),
            takes_back: mark.takes_back,
        };
        if mark.from.is_some() {
            let operation = Operation { entries: vec![seq], ..operation };
            self.unmarked = Some(Unmarked { operation, from: mark.from });
            return;
        }
        if !goes_on && !self.open.contains_key(&id) {
            self.ready.push_back(Operation { entries: vec![seq], ..operation });
            return;
        }
        if !self.open.contains_key(&id) {
            self.order.push(id.clone());
        }
        let known = self.open.entry(id.clone()).or_insert_with(|| operation.clone());
        known.entries.push(seq);
        // A later version of an entry bears the time of the entry.
        if self.log.is_original(seq) {
            known.time.clone_from(&operation.time);
        }
        known.takes_back = known.takes_back.take().or(operation.takes_back);
        if !goes_on && let Some(mut whole) = self.open.remove(&id) {
            // How it began says what it is.
            whole.name = operation.name;
            whole.entries.reverse();
            self.order.retain(|open| *open != id);
            self.ready.push_back(whole);
        }
    }

    fn take_unmarked(&mut self, seq: Seq, time: String) {
        let id = self.log.id(seq).to_owned();
        if let Some(known) = &mut self.unmarked {
            let belongs = match &known.from {
                Some(_) => true,
                None => !time.is_empty() && known.operation.time == time,
            };
            if belongs {
                known.operation.entries.push(seq);
                known.operation.time = time;
                let is_first = known.from.as_ref().is_some_and(|from| *from == id);
                known.operation.id = id;
                if is_first {
                    self.close_unmarked();
                }
                return;
            }
            self.close_unmarked();
        }
        let operation =
            Operation { id, name: "append".into(), client: None, time, entries: vec![seq], takes_back: None };
        self.unmarked = Some(Unmarked { operation, from: None });
    }

    fn close_unmarked(&mut self) {
        if let Some(Unmarked { mut operation, .. }) = self.unmarked.take() {
            operation.entries.reverse();
            self.ready.push_back(operation);
        }
    }
}

/// What can be taken back, and what can be done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// The last operation that was not taken back.
    Undo,
    /// The last one that was, when nothing was done since.
    Redo,
}

/// The name of the operation that takes another one back.
pub const UNDO: &str = "undo";
/// The name of the operation that takes back what [`UNDO`] did.
pub const REDO: &str = "redo";

/// Finds an operation by its name.
pub fn find<L: Lines + ?Sized>(log: &Log, lines: &L, id: &str) -> Result<Option<Operation>, L::Error> {
    let mut operations = Operations::of(log, lines);
    while let Some(operation) = operations.next_operation()? {
        if operation.id == id {
            return Ok(Some(operation));
        }
    }
    Ok(None)
}

/// Finds the operation that goes next in a direction: what must be taken back to go there.
pub fn next<L: Lines + ?Sized>(log: &Log, lines: &L, way: Way) -> Result<Option<Operation>, L::Error> {
    let mut operations = Operations::of(log, lines);
    // Read from the end: whoever took something back is met before what it took back.
    let mut taken_back: Vec<String> = Vec::new();
    while let Some(operation) = operations.next_operation()? {
        if taken_back.contains(&operation.id) {
            // What an undone undo did, is not there; what it had taken back is.
            continue;
        }
        match (operation.name.as_str(), &operation.takes_back, &way) {
            (UNDO, Some(_), Way::Redo) => return Ok(Some(operation)),
            (UNDO, Some(id), Way::Undo) => taken_back.push(id.clone()),
            (REDO, Some(undo), _) => taken_back.push(undo.clone()),
            (_, _, Way::Undo) => return Ok(Some(operation)),
            (_, _, Way::Redo) => return Ok(None),
        }
    }
    Ok(None)
}
