//! The seam: one codec per format.

use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes the sessions of one agent. A codec is a pure transformation: the same bytes give the same bytes.
pub trait Codec {
    /// Reads a source within the given limits. What is wrong with a record is reported and the rest is read.
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error>;

    /// Writes a passage as a session of its own. What the format cannot say is in the report.
    ///
    /// Entries that came from this format are written as they were there, with what changed since. A format without
    /// branches has the entries in the order they come.
    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error>;

    /// Says where the agent looks for such a session.
    fn place(&self, start: &Start) -> Place;

    /// Reads a source within the usual limits.
    fn read(&self, source: &dyn Source, sink: &mut dyn Sink) -> Result<Report, Error> {
        self.read_within(source, Limits::default(), sink)
    }
}

/// Where an agent keeps a session, and how it is told to go on with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory, relative to where the agent keeps sessions; empty when files go right there.
    pub directory: String,
    /// The name of the file.
    pub file: String,
    /// The command that resumes the session, to be run in its directory.
    pub resume: Vec<String>,
    /// A command that must be run first, in the same directory, with the file as its last argument: the agent has a store
    /// of its own and takes files in.
    pub import: Vec<String>,
}
