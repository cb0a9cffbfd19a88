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
