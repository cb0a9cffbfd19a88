//! A session as a directory: `meta.json`, a file for each message below `message/`, snapshots below `snapshot/`, `todo.json`.

mod message;
mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions that are directories.
pub(crate) struct Directory;

const AGENT: &str = "directory";

impl Codec for Directory {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        write::write(passage, target)
    }

    fn place(&self, start: &Start) -> Place {
        Place { directory: write::directory(&start.id), file: "meta.json".to_owned(), ..Place::default() }
    }
}
