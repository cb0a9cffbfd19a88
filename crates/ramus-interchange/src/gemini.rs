//! Gemini CLI: JSON lines that are applied in order. A message that comes again replaces itself, `$set` changes what is known
//! about the session or rebuilds its messages, `$rewindTo` drops the newest. Everything that was dropped is still in the file.

mod message;
mod read;
mod write;

use sha2::{Digest as _, Sha256};

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::mapping::{is_uuid, uuid_of};
use crate::passage::Passage;
use crate::place::slug;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of Gemini CLI.
pub(crate) struct Gemini;

const AGENT: &str = "gemini";

impl Codec for Gemini {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(passage, &mut *out)
    }

    /// The directory is named after the last part of the working directory, which is what Gemini CLI calls a project that
    /// it meets for the first time. Of one that it knows, `projects.json` says the name.
    fn place(&self, start: &Start) -> Place {
        let id = session_uuid(&start.id);
        let time = ramus_model::time::format(ramus_model::time::parse(&start.created).unwrap_or_default());
        let minutes = time.get(..16).unwrap_or_default().replace(':', "-");
        Place {
            directory: format!("{}/chats", slug(&start.cwd)),
            file: format!("session-{minutes}-{}.jsonl", id.get(..8).unwrap_or_default()),
            resume: ["gemini", "--resume", &id].map(String::from).to_vec(),
            import: Vec::new(),
        }
    }
}

fn session_uuid(id: &str) -> String {
    if is_uuid(id) { id.to_owned() } else { uuid_of(&["chat", id]) }
}

/// The hash by which a session names its project.
pub(crate) fn project_hash(cwd: &str) -> String {
    hex::encode(Sha256::digest(cwd.as_bytes()))
}
