//! Codex: a rollout. Lines of several families; only `response_item` and `compacted` are the conversation, the rest says
//! again or beside it what happened.

mod item;
mod pending;
mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::mapping::{is_uuid, uuid_of};
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes rollouts of Codex.
pub(crate) struct Codex;

const AGENT: &str = "codex";
/// The version that written sessions name.
const VERSION: &str = "0.166.0";

impl Codec for Codex {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(passage, &mut *out)
    }

    fn place(&self, start: &Start) -> Place {
        let id = thread_uuid(&start.id);
        let time = ramus_model::time::format(ramus_model::time::parse(&start.created).unwrap_or_default());
        let (day, seconds) = (time.get(..10).unwrap_or_default(), time.get(..19).unwrap_or_default());
        Place {
            directory: day.replace('-', "/"),
            file: format!("rollout-{}-{id}.jsonl", seconds.replace(':', "-")),
            resume: ["codex", "resume", &id].map(String::from).to_vec(),
            import: Vec::new(),
        }
    }
}

/// The id of a written thread: Codex insists on a UUID.
fn thread_uuid(id: &str) -> String {
    if is_uuid(id) { id.to_owned() } else { uuid_of(&["thread", id]) }
}
