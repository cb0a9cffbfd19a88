//! What is written: entries of a session in their order, parents first, as often as a codec needs to go through them.

use hashbrown::HashMap;
use ramus_model::Header;
use ramus_model::json::Raw;

use crate::error::Error;
use crate::sink::Start;

/// The entries to be written: a path, or a whole tree for formats that have trees.
///
/// Lines are complete entries of version 3, each once, in the latest version, with pictures and texts in place.
pub trait Passage {
    /// Returns how the written session begins: its own id, directory and time.
    fn start(&self) -> &Start;

    /// Goes through the entries.
    fn each(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error>;

    /// Returns the entry that the conversation stands at; none when the entries say it themselves.
    fn leaf(&self) -> Option<&str> {
        None
    }
}

/// A passage that is a whole file of our own format.
pub struct LogPassage<'a> {
    start: Start,
    bytes: &'a [u8],
    /// Where the latest version of an entry stands, when there is more than one.
    versions: HashMap<Vec<u8>, &'a [u8]>,
}

impl<'a> LogPassage<'a> {
    /// Takes a file with a header.
    pub fn new(bytes: &'a [u8]) -> Self {
        let header = lines(bytes).find_map(|line| Header::read(Raw::parse(line)?));
        let start = header.as_ref().map(Start::of_header).unwrap_or_default();
        let later = lines(bytes).filter_map(|line| {
            let record = Raw::parse(line)?.object()?;
            record.field("ramusSupersedes")?;
            Some((record.field("id")?.bytes().to_vec(), line))
        });
        Self { start, bytes, versions: later.collect() }
    }

    /// Lets the session that is written begin otherwise.
    #[must_use]
    pub fn starting(mut self, start: Start) -> Self {
        self.start = start;
        self
    }
}

impl Passage for LogPassage<'_> {
    fn start(&self) -> &Start {
        &self.start
    }

    fn each(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        for line in lines(self.bytes) {
            let Some(record) = Raw::parse(line).and_then(Raw::object) else { continue };
            let is_entry = record.text("type").is_some_and(|kind| kind != "session" && kind != "title");
            if !is_entry || record.field("ramusSupersedes").is_some() {
                continue;
            }
            let latest = record.field("id").and_then(|id| self.versions.get(id.bytes())).copied();
            take(latest.unwrap_or(line))?;
        }
        Ok(())
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
