//! Shepherd: one document with a list of messages. Calls are a text on the answer, their outcome is a message of its own.

mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of Shepherd.
pub(crate) struct Shepherd;

const AGENT: &str = "shepherd";

impl Codec for Shepherd {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let mut out = target.create(&self.place(passage.start()).file)?;
        write::write(passage, &mut *out)
    }

    /// Shepherd has one session for each provider, in the directory it is started in.
    fn place(&self, _: &Start) -> Place {
        Place {
            file: ".shepherd_session.openai.json".to_owned(),
            resume: vec!["shepherd".to_owned()],
            ..Place::default()
        }
    }
}
