//! What a session begins with. The lines that say where and when it was are not always the first: titles and notes may stand in
//! front of them, and a session begins with its first entry.

use std::io::Read;

use hashbrown::HashSet;
use ramus_model::json::{Object, Raw};
use ramus_model::time;

use crate::error::Error;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::sink::Start;

/// How many lines, and how much of them, are looked at for where and when the session was.
const MOST_LINES: u64 = 10_000;
const MOST_BYTES: usize = 64 << 20;
/// How many summaries in front of what they sum up are looked into.
const MOST_LEAVES: usize = 1024;

/// What the first lines of a file say.
#[derive(Default)]
pub(super) struct Front {
    id: Option<String>,
    cwd: Option<String>,
    created: Option<String>,
    version: Option<String>,
    /// The messages that summaries in front name as the last one they are about, when they are in the file.
    pub(super) leaves: HashSet<String>,
}

impl Front {
    /// Reads the front of a file, and all of it when it starts with summaries: versions before 2 wrote those of other sessions
    /// there too.
    pub(super) fn of(reader: impl Read, limits: Limits) -> Result<Self, Error> {
        let mut front = Self::default();
        let mut wanted: HashSet<String> = HashSet::new();
        let mut lines = Lines::new(reader, limits);
        let mut bytes = 0;
        while let Some(line) = lines.next()? {
            bytes += line.bytes.map_or(limits.line, <[u8]>::len);
            let is_front = !front.is_whole() && line.number <= MOST_LINES && bytes <= MOST_BYTES;
            if !is_front && wanted.is_empty() {
                break;
            }
            let Some(object) = line.bytes.and_then(Raw::parse).and_then(Raw::object) else { continue };
            if let Some(uuid) = object.text("uuid").filter(|uuid| wanted.remove(&**uuid)) {
                front.leaves.insert(uuid.into_owned());
            }
            if is_front {
                front.take(&object);
                wanted.extend(leaf(&object).filter(|_| wanted.len() < MOST_LEAVES));
            }
        }
        Ok(front)
    }

    fn is_whole(&self) -> bool {
        self.id.is_some() && self.cwd.is_some() && self.created.is_some()
    }

    fn take(&mut self, object: &Object<'_>) {
        if object.field("isSidechain").and_then(Raw::flag).unwrap_or_default() {
            return;
        }
        let text = |name: &str| object.text(name).filter(|text| !text.is_empty()).map(|text| text.into_owned());
        self.id = self.id.take().or_else(|| text("sessionId"));
        self.cwd = self.cwd.take().or_else(|| text("cwd"));
        self.created = self.created.take().or_else(|| text("timestamp").filter(|text| time::parse(text).is_some()));
        self.version = self.version.take().or_else(|| text("version"));
    }

    /// Lets a session begin with it.
    pub(super) fn fill(&mut self, start: &mut Start) {
        if let Some(id) = self.id.take() {
            start.id = id;
        }
        start.cwd = self.cwd.take().unwrap_or_default();
        start.created = self.created.take().unwrap_or_default();
        start.version = self.version.take();
    }
}

/// The last message that a summary is about.
pub(super) fn leaf(object: &Object<'_>) -> Option<String> {
    let is_summary = object.text("type").as_deref() == Some("summary");
    is_summary.then(|| object.text("leafUuid").map(|leaf| leaf.into_owned())).flatten()
}
