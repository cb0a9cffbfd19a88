//! goose: messages in a list. What a model no longer sees is marked on each message, which is how goose compacts.
//!
//! Read from what `goose session export` prints; written as what `goose session import` takes.

mod message;
mod read;
mod store;
mod write;

use crate::codec::{Codec, Place, TAKEN_ID};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of goose.
pub(crate) struct Goose;

const AGENT: &str = "goose";

impl Codec for Goose {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(passage, &mut *out)
    }

    /// goose gives an imported session an id of its own, which its import says.
    fn place(&self, start: &Start) -> Place {
        Place {
            directory: String::new(),
            file: format!("{}.json", crate::emit::hash(&start.id)),
            resume: ["goose", "session", "--resume", "--session-id", TAKEN_ID].map(String::from).to_vec(),
            import: ["goose", "session", "import"].map(String::from).to_vec(),
        }
    }
}
