//! OKCVM: a conversation as its frontend keeps it. Messages are a list; other versions of it are whole lists beside it.

mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes conversations of OKCVM.
pub(crate) struct Okcvm;

const AGENT: &str = "okcvm";

impl Codec for Okcvm {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let mut out = target.create(&self.place(passage.start()).file)?;
        write::write(passage, &mut *out)
    }

    fn place(&self, start: &Start) -> Place {
        Place { file: format!("{}.json", crate::emit::hash(&start.id)), ..Place::default() }
    }
}
