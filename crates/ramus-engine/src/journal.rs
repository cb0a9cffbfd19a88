//! The journal of a turn: what a model says, while it says it, so that a process that is killed leaves it behind.
//!
//! A journal is lines, each with a checksum in front: first which turn it is, then which entry the answer will be and what
//! it follows, then the pieces of the answer as they came. The answer is stored under the id that the journal names, so
//! whoever finds a journal can tell whether its answer is in the log. That is what makes keeping it happen once.

mod left;
mod writing;

pub(crate) use left::Interrupted;
pub(crate) use writing::Journalling;

use ramus_model::delta::Delta;
use ramus_model::usage::{ModelName, Price};
use serde::{Deserialize, Serialize};

/// Which turn a journal belongs to, and what its answers are stored with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) session: String,
    pub(crate) turn: String,
    pub(crate) model: ModelName,
    pub(crate) api: String,
    pub(crate) price: Option<Price>,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Turn(Head),
    /// An answer begins: the entry it will be, and what that hangs from.
    Answer {
        entry: String,
        parent: Option<String>,
    },
    /// The answer was cut off by its length and goes on.
    Round,
    Piece(Delta),
}

/// The length of the checksum in front of a line: eight hex digits and a space.
const SUM: usize = 9;

impl Line {
    fn write(&self, out: &mut Vec<u8>) {
        // Strings and numbers can always be written.
        let Ok(text) = serde_json::to_vec(self) else { return };
        out.extend_from_slice(format!("{:08x} ", crc32fast::hash(&text)).as_bytes());
        out.extend_from_slice(&text);
        out.push(b'\n');
    }

    /// Reads a line without its newline; none when it is not as it was written.
    fn read(line: &[u8]) -> Option<Self> {
        let (sum, text) = line.split_at_checked(SUM)?;
        let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?.strip_suffix(' ')?, 16).ok()?;
        if crc32fast::hash(text) != sum {
            return None;
        }
        serde_json::from_slice(text).ok()
    }
}
