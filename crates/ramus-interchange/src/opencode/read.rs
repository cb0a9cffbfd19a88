//! Reading: the document that `opencode export` prints.

use std::borrow::Cow;

use ramus_model::EntryId;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::message::{self, Message};
use super::{AGENT, files, store};
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::document;
use crate::origin::Kept;
use crate::record::{Pieced, Record};
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::todo;

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    if let Some(path) = source.database()? {
        return store::read(&path, limits, sink);
    }
    let bytes = document(source.open()?, limits)?;
    let whole = Record::new(1, &bytes);
    if let Some(id) =
        whole.object().filter(|object| object.field("messages").is_none()).and_then(|object| object.text("id"))
    {
        let known = Known { info: whole.bytes.to_vec().into(), beside: None, unread: 0 };
        return session(&known, &mut files::messages(source, &id, limits)?, sink);
    }
    let parts = whole.object().and_then(|object| Some((object.field("info")?, object.field("messages")?)));
    let Some((info, messages)) =
        parts.filter(|(info, list)| info.shape() == Shape::Object && list.shape() == Shape::Array)
    else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "the document has no info and messages".into() });
    };
    let known = Known { info: info.bytes().to_vec().into(), beside: None, unread: 0 };
    let mut messages = messages.items().map(|message| message.bytes().to_vec().into());
    session(&known, &mut || Ok(messages.next()), sink)
}

/// What is known about a session.
pub(super) struct Known {
    /// What an export says about it.
    pub(super) info: Pieced,
    /// What a store has beside, and an export has no word for.
    pub(super) beside: Option<Vec<u8>>,
    /// How many messages a store has in a layout that is not read.
    pub(super) unread: u64,
}

/// Reads a session from what is known about it and its messages, whichever store they come from.
pub(super) fn session(
    known: &Known,
    next: &mut dyn FnMut() -> Result<Option<Pieced>, Error>,
    sink: &mut dyn Sink,
) -> Result<Report, Error> {
    let info = &known.info;
    let facts = Raw::parse(&info.bytes).and_then(Raw::object).unwrap_or_default();
    let mut reader = Reader { emitter: Emitter::new(sink, AGENT, start(&facts)), compaction: None };
    reader.emitter.report.records += 1;
    reader.emitter.keep(Kept::whole(1, &info.bytes));
    reader.emitter.miss(1, &info.gaps)?;
    if let Some(beside) = &known.beside {
        reader.emitter.report.records += 1;
        reader.emitter.keep(Kept::whole(1, beside));
    }
    reader.archived(&facts)?;
    let reverted = facts.field("revert").and_then(|revert| revert.field("messageID")?.text());
    let mut hidden: Option<Option<EntryId>> = None;
    let mut line = 1;
    while let Some(message) = next()? {
        line += 1;
        reader.emitter.report.records += 1;
        reader.emitter.miss(line, &message.gaps)?;
        if message.bytes.is_empty() {
            reader.emitter.report.lost += 1;
            continue;
        }
        let Some(raw) = Raw::parse(&message.bytes) else {
            reader.emitter.lose(Some(line), "a message is no JSON; its bytes are kept")?;
            reader.emitter.keep(Kept::whole(line, &message.bytes));
            continue;
        };
        if let Some(message) = raw.field("info").and_then(|info| info.field("id")?.text())
            && Some(&message) == reverted.as_ref()
        {
            reader.settle()?;
            hidden = Some(reader.emitter.last().cloned());
        }
        reader.message(line, raw)?;
        if reader.emitter.is_full() {
            reader.settle()?;
            reader.emitter.flush()?;
        }
    }
    reader.settle()?;
    if let Some(target) = hidden {
        reader.hide(target)?;
    }
    if let Some(todos) = known.beside.as_deref().and_then(Raw::parse).and_then(|beside| beside.field("todos")) {
        todo::give(&mut reader.emitter, todos)?;
    }
    if line == 1 && known.unread > 0 {
        reader.emitter.report.records += known.unread;
        reader.emitter.report.lost += known.unread;
        let why = format!("{} messages, in a layout of opencode 2 that this version does not read", known.unread);
        reader.emitter.lose(None, why)?;
    }
    reader.emitter.finish()
}

/// Says whether a title is the one that opencode gives a session until it has another: what it is, and when it was made.
fn is_made_up(title: &str) -> bool {
    let made = ["New session - ", "Child session - "].iter().find_map(|front| title.strip_prefix(front));
    made.is_some_and(|when| time::parse(when).is_some())
}

fn start(info: &Object<'_>) -> Start {
    let text = |name: &str| info.text(name).map(Cow::into_owned).filter(|text| !text.is_empty());
    let created = info.field("time").and_then(|time| time.field("created")?.float());
    Start {
        former_id: None,
        id: text("id").unwrap_or_default(),
        cwd: text("directory").unwrap_or_default(),
        created: created.map(|millis| time::format(millis as i64)).unwrap_or_default(),
        title: text("title").filter(|title| !is_made_up(title)),
        parent: text("parentID"),
        forked_from: None,
        format: Some(Format::Opencode),
        version: text("version"),
    }
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    /// A message that asks for a summary, which the next one is.
    compaction: Option<(u64, Vec<u8>)>,
}

impl Reader<'_> {
    /// Says that the session is out of the way, if it is. The entry hangs from nothing, so that it is the same however the
    /// session grows.
    fn archived(&mut self, info: &Object<'_>) -> Result<(), Error> {
        let time = info.field("time").and_then(|time| time.field("archived")?.float()).filter(|millis| *millis > 0.0);
        let Some(time) = time.map(|millis| time::format(millis as i64)) else { return Ok(()) };
        let mut composer = Composer::default();
        composer.text("customType", "ramus.meta");
        composer.object("data", |data| {
            data.text("op", "import");
            data.object("set", |set| set.text("archived_at", &time));
        });
        let (members, _) = composer.finish();
        let new = New {
            kind: "custom",
            id: "archived",
            parent: Hang::Root,
            members: &members,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }

    fn message(&mut self, line: u64, raw: Raw<'_>) -> Result<(), Error> {
        let record = Record::new(line, raw.bytes());
        let Some(message) = Message::read(raw) else {
            self.emitter.lose(Some(line), "a message has no info; it is kept")?;
            self.emitter.keep(record.whole());
            return Ok(());
        };
        let is_summary = message.info.field("summary").and_then(Raw::flag).unwrap_or_default();
        match &*message.role() {
            "assistant" if is_summary && self.compaction.is_some() => self.summary(&record, &message),
            "assistant" => {
                self.settle()?;
                self.answer(&record, &message)
            }
            "user" if message.of_type("compaction").next().is_some() => {
                self.settle()?;
                self.emitter.flush()?;
                self.compaction = Some((line, raw.bytes().to_vec()));
                Ok(())
            }
            "user" => {
                self.settle()?;
                let mut composer = Composer::new(&record.bytes);
                message.user(&mut composer);
                self.give("message", &message, composer, &record).map(drop)
            }
            _ => {
                self.emitter.keep(record.whole());
                Ok(())
            }
        }
    }

    fn answer(&mut self, record: &Record<'_>, message: &Message<'_>) -> Result<(), Error> {
        let mut composer = Composer::new(&record.bytes);
        message.answer(&mut composer);
        self.give("message", message, composer, record)?;
        let id = message.info.text("id").unwrap_or_default();
        for (at, part) in message.of_type("tool").enumerate() {
            let mut composer = Composer::new(&[]);
            if message::result(&mut composer, part) {
                let (members, _) = composer.finish();
                let own = format!("{id}.r{}", at + 1);
                let entry =
                    self.emitter.entry(&New { kind: "message", id: &own, members: &members, ..New::default() })?;
                self.emitter.point(&id, &entry);
            }
        }
        Ok(())
    }

    /// A summary, and the message that asked for it, are a compaction.
    fn summary(&mut self, record: &Record<'_>, message: &Message<'_>) -> Result<(), Error> {
        let Some((line, asked)) = self.compaction.take() else { return Ok(()) };
        let asked = Record::new(line, &asked);
        let question = asked.raw().and_then(Message::read);
        let id = question.as_ref().and_then(|question| question.info.text("id")).unwrap_or_default().into_owned();
        let tail = question
            .as_ref()
            .and_then(|question| question.of_type("compaction").find_map(|part| part.text("tail_start_id")));
        let kept = tail.and_then(|tail| self.emitter.entry_of(&tail));
        let mut composer = Composer::new(&record.bytes);
        let texts: Vec<_> = message.of_type("text").filter_map(|part| part.field("text")).collect();
        match texts.as_slice() {
            [one] if one.shape() == Shape::Text => composer.raw("summary", *one),
            _ => composer.text("summary", &message.text()),
        }
        composer.text("firstKeptEntryId", kept.as_ref().map_or(&id, |kept| kept.as_str()));
        composer.number("tokensBefore", 0);
        let (members, holes) = composer.finish();
        let between = self.emitter.take_run();
        let records: Vec<_> = std::iter::once(asked.whole()).chain(between).chain([record.kept(holes)]).collect();
        let time = message.time();
        let new = New {
            kind: "compaction",
            id: &id,
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            ..New::default()
        };
        let entry = self.emitter.entry(&new)?;
        if let Some(summary) = message.info.text("id") {
            self.emitter.alias(&summary, &entry);
        }
        Ok(())
    }

    /// A message that asked for a summary and got none is a message.
    fn settle(&mut self) -> Result<(), Error> {
        let Some((line, asked)) = self.compaction.take() else { return Ok(()) };
        let record = Record::new(line, &asked);
        let behind = self.emitter.take_run();
        if let Some(message) = record.raw().and_then(Message::read) {
            let mut composer = Composer::new(&record.bytes);
            message.user(&mut composer);
            self.give("message", &message, composer, &record)?;
        }
        behind.into_iter().for_each(|kept| self.emitter.keep(kept));
        Ok(())
    }

    fn give(
        &mut self,
        kind: &'static str,
        message: &Message<'_>,
        composer: Composer<'_>,
        record: &Record<'_>,
    ) -> Result<(), Error> {
        let (members, holes) = composer.finish();
        let (time, records) = (message.time(), [record.kept(holes)]);
        let id = message.info.text("id").map_or_else(|| format!("message-{}", record.line), Cow::into_owned);
        let new =
            New { kind, id: &id, timestamp: time.as_deref(), members: &members, records: &records, ..New::default() };
        self.emitter.entry(&new).map(drop)
    }

    /// Goes back in front of what was reverted. It stays, as a branch, and can be had again.
    fn hide(&mut self, target: Option<EntryId>) -> Result<(), Error> {
        let new = New {
            kind: "custom",
            id: "reverted",
            parent: target.as_ref().map_or(Hang::Root, Hang::Entry),
            members: br#""customType":"ramus.leaf","data":{"op":"import"}"#,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new)?;
        self.emitter.move_to(target);
        Ok(())
    }
}
