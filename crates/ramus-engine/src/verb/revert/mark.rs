//! The mark that a revert leaves: the pointer that moved the leaf says all that is needed to take it back.

use ramus_model::json::Raw;
use ramus_model::{Kind, Marker, Seq};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::SNAPSHOT;

/// A revert that can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertMark {
    /// The last message that counts.
    pub message: String,
    /// Always none: messages are kept whole.
    pub part: Option<String>,
    /// The files as they were then, if a snapshot tells.
    pub snapshot: Option<String>,
    /// What the revert changed, as a unified diff; the start of it when it is long.
    pub diff: String,
    /// When it happened.
    pub time: String,
    /// The files as they were before the revert, if it changed any.
    pub safety_snapshot: Option<String>,
}

/// A revert that is in force, and how it is taken back.
pub(crate) struct InForce {
    pub(crate) mark: RevertMark,
    /// The pointer.
    pub(crate) pointer: Seq,
    /// The leaf before it.
    pub(super) left: String,
    /// The entry behind which it changed files; empty when it changed none.
    pub(super) since: String,
    /// All that the pointer says of the revert.
    pub(crate) data: Value,
}

impl Session {
    /// Returns the revert that can be taken back.
    pub fn revert_mark(&self) -> Result<Option<RevertMark>, EngineError> {
        Ok(self.revert_in_force()?.map(|revert| revert.mark))
    }

    /// Finds the revert that is in force: nothing was said and the leaf was not moved since.
    pub(crate) fn revert_in_force(&self) -> Result<Option<InForce>, EngineError> {
        let log = self.log();
        for seq in log.seqs().rev() {
            let Some(record) = log.record(seq) else { break };
            match (record.kind, record.marker) {
                (Kind::Custom, Marker::Leaf) => {
                    let line = self.line(seq)?;
                    return Ok(Raw::parse(&line).and_then(|raw| InForce::read(raw, seq)));
                }
                // Snapshots may be taken while one looks around.
                (Kind::Custom, Marker::None) if is_snapshot(&self.line(seq)?) => {}
                _ if !record.is_visible() => {}
                _ => break,
            }
        }
        Ok(None)
    }
}

fn is_snapshot(line: &[u8]) -> bool {
    let custom = Raw::parse(line).and_then(|raw| raw.field("customType")).and_then(Raw::text);
    custom.is_some_and(|custom| custom.strip_prefix("ramus.") == Some(SNAPSHOT))
}

impl InForce {
    /// Reads a pointer; none when it is not that of a revert.
    fn read(raw: Raw<'_>, pointer: Seq) -> Option<Self> {
        let data = raw.field("data")?;
        let text = |raw: Raw<'_>, name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
        if text(data, "op")? != "revert" {
            return None;
        }
        let mark = RevertMark {
            message: text(data, "target")?,
            part: None,
            snapshot: text(data, "snapshot"),
            diff: text(data, "diff").unwrap_or_default(),
            time: text(raw, "timestamp").unwrap_or_default(),
            safety_snapshot: text(data, "safety_snapshot"),
        };
        let (left, since) = (text(data, "left")?, text(data, "since").unwrap_or_default());
        let mut data: Map<String, Value> = serde_json::from_slice(data.bytes()).ok()?;
        // What it was part of is not what it says.
        ["client", "opId", "opOf", "opFrom", "takesBack"].iter().for_each(|name| drop(data.remove(*name)));
        Some(Self { mark, pointer, left, since, data: data.into() })
    }
}
