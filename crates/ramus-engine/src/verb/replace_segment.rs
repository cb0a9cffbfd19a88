//! `replace_segment`: one entry in the place of several, on every branch.
//!
//! Nothing is rewritten. The replacement is appended, then every entry that hung from a replaced one is appended again
//! under its own id with the replacement as parent. Readers that index entries by id and take the last one, which is all
//! programs of this format, see the new tree; the old lines stay.

use ramus_model::json::Raw;
use ramus_model::segment::{self, Plan};
use ramus_model::{Body, EntryId, Seq};
use ramus_store::StoreError;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
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
        self.make_writable(session)?;
        loop {
            let (bytes, outcome) = lines(self, session)?;
            match self.write(session, &bytes) {
                Ok(()) => return Ok(outcome),
                Err(StoreError::Moved { .. }) => session.refresh()?,
                Err(StoreError::NotFound { .. }) => self.look_up_again(session)?,
                Err(error) => return Err(error.into()),
            }
        }
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
        let mut bytes = close_tail(session);
        bytes.extend(body.to_line(&replacement, parent.as_ref(), &now));
        for seq in &plan.reparented {
            bytes.extend(moved_line(session, *seq, Some(&replacement))?);
        }
        let visible: Vec<Seq> = plan
            .reparented
            .iter()
            .copied()
            .filter(|seq| session.log().record(*seq).is_some_and(ramus_model::Record::is_visible))
            .collect();
        let replaced =
            Replaced { replacement: replacement.clone(), replaced: names(&plan.replaced), reparented: names(&visible) };
        // The record of the operation comes last and hangs from the leaf, so that every reader lands on the right path.
        let leaf = if plan.leaf_moves { Some(replacement.clone()) } else { session.leaf() };
        let record = fresh(&[&replacement]);
        let data = json!({
            "op": "replace_segment",
            "client": self.client,
            "replacement": replacement.as_str(),
            "replaced": strings(&replaced.replaced),
            "reparented": strings(&names(&plan.reparented)),
        });
        bytes.extend(Body::ramus("segment", data).to_line(&record, leaf.as_ref(), &now));
        Ok((bytes, replaced))
    }
}

fn strings(ids: &[EntryId]) -> Vec<&str> {
    ids.iter().map(EntryId::as_str).collect()
}

/// What must come before the first line: a newline when the last one has none.
pub(crate) fn close_tail(session: &Session) -> Vec<u8> {
    if session.log().tail() == ramus_model::Tail::Ended { Vec::new() } else { b"\n".to_vec() }
}

/// The line of an entry again, with another parent, as its later version.
fn moved_line(session: &Session, seq: Seq, parent: Option<&EntryId>) -> Result<Vec<u8>, EngineError> {
    let line = session.line(seq)?;
    let raw = Raw::parse(&line);
    let timestamp = raw.and_then(|raw| raw.field("timestamp")).and_then(Raw::text).unwrap_or_default();
    let body = raw.and_then(Body::of_record);
    let damaged = || EngineError::Corrupt(format!("entry {} is damaged and cannot be moved", session.entry_id(seq)));
    let body = body.ok_or_else(damaged)?.superseding();
    Ok(body.to_line(&session.entry_id(seq), parent, &timestamp))
}
