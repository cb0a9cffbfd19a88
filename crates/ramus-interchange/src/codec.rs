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

/// Stands in a command for the id that an agent gives a session that it takes in: what the import prints says it, and
/// [`taken_id`] finds it there.
pub const TAKEN_ID: &str = "{id}";

/// Where an agent keeps a session, and how it is told to go on with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory, relative to where the agent keeps sessions; empty when files go right there.
    pub directory: String,
    /// The name of the file.
    pub file: String,
    /// The command that resumes the session, to be run in its directory. Where it has [`TAKEN_ID`], the id belongs that the
    /// agent gave the session when it took it in.
    pub resume: Vec<String>,
    /// A command that must be run first, in the same directory, with the file as its last argument: the agent has a store
    /// of its own and takes files in.
    pub import: Vec<String>,
}

/// Returns the id that an import says it gave a session: a day and a number, as goose names sessions.
pub fn taken_id(said: &str) -> Option<&str> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_id = |word: &&str| {
        word.split_once('_').is_some_and(|(day, number)| day.len() == 8 && is_number(day) && is_number(number))
    };
    said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(is_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_that_an_import_gives_is_found_in_what_it_says() {
        let said = "reading /tmp/12345678-1/a_1.json\nImported 12 messages into session \"20261119_7\" (v16).\n";
        assert_eq!(taken_id(said), Some("20261119_7"));
        for other in ["", "no session", "2026111_7", "20261119_", "20261119_7x", "x20261119_7"] {
            assert_eq!(taken_id(other), None, "{other}");
        }
    }
}
