//! `replace_segment`: one entry in the place of several, on every branch.
//!
//! Nothing is rewritten. The replacement is appended, then every entry that hung from a replaced one is appended again
//! under its own id with the replacement as parent. Readers that index entries by id and take the last one, which is all
//! programs of this format, see the new tree; the old lines stay.

use ramus_model::json::Raw;
use ramus_model::segment::{self, Plan};
use ramus_model::{Body, EntryId, Kind, Record, Seq, Tail};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::append::{ATTEMPTS, overtaken};
use crate::verb::create::new_entry_id;

/// What replacing a segment did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The entry that stands for the segment.
    pub replacement: EntryId,
    /// The entries that were replaced, from first to last.
    pub replaced: Vec<EntryId>,
    /// The entries that now hang from the replacement.
    pub reparented: Vec<EntryId>,
}

impl Engine {
    /// Replaces the entries from `first` to `last` by one that says `text`.
    pub fn replace_segment(
        &self,
        session: &mut Session,
        first: Seq,
        last: Seq,
        text: &str,
    ) -> Result<Replaced, EngineError> {
        if text.trim().is_empty() {
            return Err(EngineError::Invalid("the text that replaces a segment cannot be empty".into()));
        }
        let between = segment::between(session.log(), first, last)?;
        self.replace_entries(session, &between, text)
    }

    /// Replaces exactly these entries, which must follow each other from parent to child.
    pub fn replace_entries(&self, session: &mut Session, entries: &[Seq], text: &str) -> Result<Replaced, EngineError> {
        let ids: Vec<EntryId> = entries.iter().map(|seq| session.entry_id(*seq)).collect();
        segment::plan(session.log(), entries)?;
        self.rewriting(session, |engine, session| {
            // Others may have written since: plan again for the log as it is now.
            let entries: Vec<Seq> = ids.iter().filter_map(|id| session.log().seq_of(id.as_str())).collect();
            let plan = segment::plan(session.log(), &entries)?;
            engine.segment_lines(session, &plan, text)
        })
    }

    /// Prepares a log for writing and writes what `lines` makes of it, again when others were faster.
    pub(crate) fn rewriting<T>(
        &self,
        session: &mut Session,
        lines: impl Fn(&Self, &Session) -> Result<(Vec<u8>, T), EngineError>,
    ) -> Result<T, EngineError> {
        self.begin_writing(session)?;
        for _ in 0..ATTEMPTS {
            session.check_expected(session.log().len())?;
            let (bytes, outcome) = lines(self, session)?;
            match self.write(session, &bytes) {
                Ok(()) => return Ok(outcome),
                Err(error) => self.catch_up(session, error)?,
            }
        }
        Err(overtaken(session))
    }

    fn segment_lines(&self, session: &Session, plan: &Plan, text: &str) -> Result<(Vec<u8>, Replaced), EngineError> {
        let now = self.timestamp();
        let names = |seqs: &[Seq]| -> Vec<EntryId> { seqs.iter().map(|seq| session.entry_id(*seq)).collect() };
        let fresh = |taken: &[&EntryId]| {
            new_entry_id(|id| session.log().seq_of(id).is_some() || taken.iter().any(|known| known.as_str() == id))
        };
        let replacement = fresh(&[]);
        let parent = plan.parent.map(|parent| session.entry_id(parent));
        let body = Body::new(
            "custom_message",
            [
                ("customType", Value::from("ramus.segment")),
                ("content", Value::from(text)),
                ("display", Value::from(true)),
                ("details", json!({"replaced": strings(&names(&plan.replaced))})),
            ],
        );
        let mut doing = Doing::several("replace_segment", self, session);
        let mut bytes = close_tail(session);
        bytes.extend(doing.mark(body).to_line(&replacement, parent.as_ref(), &now));
        for version in later_versions(session, plan, &replacement, &mut doing)? {
            bytes.extend(version);
        }
        let (gone, moved) = (names(&plan.replaced), names(&plan.reparented));
        let replaced = Replaced { replacement: replacement.clone(), replaced: gone, reparented: moved };
        // The record of the operation comes last and hangs from the leaf, so that every reader lands on the right path.
        let leaf = if plan.leaf_moves { Some(replacement.clone()) } else { session.leaf() };
        let record = fresh(&[&replacement]);
        let data = json!({
            "replacement": replacement.as_str(),
            "replaced": strings(&replaced.replaced),
            "reparented": strings(&replaced.reparented),
        });
        bytes.extend(doing.mark(Body::ramus("segment", data)).to_line(&record, leaf.as_ref(), &now));
        Ok((bytes, replaced))
    }
}

fn strings(ids: &[EntryId]) -> Vec<&str> {
    ids.iter().map(EntryId::as_str).collect()
}

/// What must come before the first line: a record without a newline gets one.
pub(crate) fn close_tail(session: &Session) -> Vec<u8> {
    match session.log().tail() {
        Tail::Unended => b"\n".to_vec(),
        // What is torn is set aside before anything is written.
        Tail::Ended | Tail::Torn { .. } => Vec::new(),
    }
}

/// The entries that change with a segment, as their later versions: those that hung from it get the replacement as their
/// parent, and compactions that kept from inside it keep from the replacement.
fn later_versions(
    session: &Session,
    plan: &Plan,
    replacement: &EntryId,
    doing: &mut Doing,
) -> Result<Vec<Vec<u8>>, EngineError> {
    let log = session.log();
    let replaced = |id: &str| plan.replaced.iter().any(|seq| log.id(*seq) == id);
    let mut versions = Vec::new();
    for seq in log.visible().filter(|seq| !plan.replaced.contains(seq)) {
        let moves = plan.reparented.binary_search(&seq).is_ok();
        let compacts = log.record(seq).is_some_and(|record| record.kind == Kind::Compaction);
        if !moves && !compacts {
            continue;
        }
        let line = session.line(seq)?;
        let raw = Raw::parse(&line);
        let text = |name| raw.and_then(|raw| raw.field(name)).and_then(Raw::text);
        let keeps_inside = compacts && text("firstKeptEntryId").is_some_and(|kept| replaced(&kept));
        if !moves && !keeps_inside {
            continue;
        }
        let damaged = || EngineError::Corrupt(format!("entry {} is damaged and cannot be moved", log.id(seq)));
        let mut body = raw.and_then(Body::of_record).ok_or_else(damaged)?.superseding();
        if keeps_inside {
            body = body.with("firstKeptEntryId", &replacement.as_str().into());
        }
        let stored = log.record(seq).and_then(Record::parent).map(|parent| session.entry_id(parent));
        let parent = if moves { Some(replacement.clone()) } else { stored };
        let when = text("timestamp").unwrap_or_default();
        versions.push(doing.mark(body).to_line(&session.entry_id(seq), parent.as_ref(), &when));
    }
    Ok(versions)
}
