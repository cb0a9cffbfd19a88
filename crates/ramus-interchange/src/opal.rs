//! Opal: a DETS table of Erlang terms, one for each message and one about the session.
//!
//! Terms are kept as their bytes. A written table has no hash: Erlang says that it was not closed, makes the hash, and finds
//! every record.

mod decode;
mod dets;
mod read;
mod term;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

pub(crate) use dets::COOKIE;

/// Reads and writes sessions of Opal.
pub(crate) struct Opal;

const AGENT: &str = "opal";
/// The key of the record about the session.
const META: &str = "__session_meta__";
/// The name of the struct that a message is.
const STRUCT: &str = "Elixir.Opal.Message";

impl Codec for Opal {
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
            file: format!("{id}.dets"),
            resume: ["opal", "--session", &id].map(String::from).to_vec(),
            ..Place::default()
        }
    }
}
