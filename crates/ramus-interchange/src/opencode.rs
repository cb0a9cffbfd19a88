//! opencode: messages with parts. A call and its outcome are one part, so an answer becomes a message and its results.
//!
//! Read from what `opencode export` prints, from its database, and from the files it had before; written as what
//! `opencode import` takes.

mod files;
mod message;
mod read;
mod store;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of opencode.
pub(crate) struct Opencode;

const AGENT: &str = "opencode";
/// The version that written sessions name.
const VERSION: &str = "1.18.33";
/// What is said of a message that does not fit into memory.
const TOO_LARGE: &str = "a message is too large to be held in memory; the parts that do not fit are left out";

/// The digits of an id that say when it was made, and half of the times that they can say.
const TIME: usize = 12;
const HALF: u64 = 1 << 47;

/// Puts parts of one message, which are in the order of their ids, into the order in which they were made. Ids begin anew every 795
/// days, and no message takes half as long.
fn unwrapped<T>(parts: &mut [T], id: impl Fn(&T) -> &str) {
    let time_of = |part: &T| {
        let time = id(part).split_once('_').and_then(|(_, rest)| rest.get(..TIME)).unwrap_or_default();
        let is_time = time.len() == TIME && time.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_time.then(|| u64::from_str_radix(time, 16).unwrap_or_default())
    };
    let times: Option<Vec<u64>> = parts.iter().map(time_of).collect();
    let times = times.unwrap_or_default();
    if let (Some(first), Some(last)) = (times.first(), times.last())
        && last.saturating_sub(*first) > HALF
    {
        let early = times.iter().filter(|time| last.saturating_sub(**time) > HALF).count();
        parts.rotate_left(early.min(parts.len()));
    }
}

impl Codec for Opencode {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(passage, &mut *out)
    }

    fn place(&self, start: &Start) -> Place {
        let id = write::session_id(&start.id);
        Place {
            directory: String::new(),
            file: format!("{id}.json"),
            resume: ["opencode", "--session", &id].map(String::from).to_vec(),
            import: ["opencode", "import"].map(String::from).to_vec(),
        }
    }
}
