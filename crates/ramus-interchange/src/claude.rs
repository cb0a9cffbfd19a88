//! Claude Code: JSON lines. A message of the model is one line per block; lines name their parent, so a file is a tree.

mod answer;
mod block;
mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::place::dashed;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of Claude Code.
pub(crate) struct Claude;

/// The version that written sessions name. Claude Code has no version of its format, only of itself.
const VERSION: &str = "2.1.325";

impl Codec for Claude {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(passage, &mut *out)
    }

    fn place(&self, start: &Start) -> Place {
        let id = write::session_uuid(&start.id);
        Place {
            directory: dashed(&start.cwd),
            file: format!("{id}.jsonl"),
            resume: ["claude", "--resume", &id].map(String::from).to_vec(),
            import: Vec::new(),
        }
    }
}

const AGENT: &str = "claude";

fn format() -> Option<Format> {
    Some(Format::Claude)
}
