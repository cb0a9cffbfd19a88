//! Sessions that were handed to other agents: what they are copies of, so that they are known when they come back.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use ramus_model::{EntryId, Origin, SessionId};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// The longest list that is read.
const LONGEST: u64 = 64 << 20;

/// A session that was handed over.
#[derive(Serialize, Deserialize)]
struct Line {
    /// What the agent was told that its id is.
    id: String,
    /// The file that was written.
    file: String,
    session: String,
    entry: String,
}

/// What sessions of other agents are copies of, by their ids and files.
#[derive(Debug, Default)]
pub(super) struct Handed(HashMap<String, Origin>);

impl Handed {
    /// Reads the list. What cannot be read is not known.
    pub(super) fn at(path: Option<&Path>) -> Self {
        let Some(file) = path.and_then(|path| open(path, OpenOptions::new().read(true)).ok()) else {
            return Self::default();
        };
        let mut known = HashMap::new();
        for line in BufReader::new(file.take(LONGEST)).split(b'\n').map_while(Result::ok) {
            let Ok(Line { id, file, session, entry }) = serde_json::from_slice(&line) else { continue };
            let origin = Origin { session: SessionId::from(session.as_str()), entry: EntryId::from(entry.as_str()) };
            known.insert(id, origin.clone());
            known.insert(file, origin);
        }
        Self(known)
    }

    /// Returns what a session is a copy of.
    pub(super) fn origin(&self, id: &str, file: &str) -> Option<&Origin> {
        self.0.get(id).or_else(|| self.0.get(file))
    }
}

/// Notes that a session was handed over. One write, so that two at the same time do not mix.
pub(crate) fn note(path: &Path, id: &SessionId, file: &Path, origin: &Origin) -> io::Result<()> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let line = Line {
        id: id.to_string(),
        file: file.to_string_lossy().into_owned(),
        session: origin.session.to_string(),
        entry: origin.entry.to_string(),
    };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    open(path, OpenOptions::new().append(true).create(true).mode(0o600))?.write_all(&bytes)
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()).open(path)
}
