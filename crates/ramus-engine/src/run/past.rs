//! Turns that are in the log: found by the name that whoever started them gave them.

use ramus_model::EntryId;
use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use serde_json::{Map, Value};

use super::Running;
use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::TURN;

/// A turn that is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTurn {
    /// What it is called.
    pub name: String,
    /// The last entry it wrote.
    pub entry: EntryId,
    /// What it noted at its end; none when it did not come to it.
    pub end: Option<Map<String, Value>>,
}

impl Session {
    /// Finds the turn whose name begins so: the last one, if there are several. Reads the log from its end.
    pub fn turn_called(&self, beginning: &str) -> Result<Option<PastTurn>, EngineError> {
        let (log, mut last, mut end) = (self.log(), None, None);
        for seq in log.seqs().rev().filter(|seq| log.belongs(*seq)) {
            let line = self.line(seq)?;
            let Some(raw) = Raw::parse(&line) else { continue };
            let Some(mark) = Mark::read(raw).filter(|mark| mark.name == Running::OPERATION) else { continue };
            let Some(name) = mark.id.as_ref().or(mark.of.as_ref()).filter(|name| name.starts_with(beginning)) else {
                continue;
            };
            // What turns note of themselves is not what they say.
            if raw.field("type").and_then(Raw::text).is_none_or(|kind| kind != "custom") {
                last.get_or_insert_with(|| self.entry_id(seq));
            }
            let is_end = raw
                .field("customType")
                .and_then(Raw::text)
                .is_some_and(|kind| kind.strip_prefix("ramus.") == Some(TURN));
            if is_end && end.is_none() {
                end = self.data_of(seq)?;
            }
            if mark.id.is_some() {
                let name = name.clone();
                return Ok(Some(PastTurn { name, entry: last.unwrap_or_else(|| self.entry_id(seq)), end }));
            }
        }
        Ok(None)
    }
}
