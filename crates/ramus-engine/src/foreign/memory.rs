//! What is remembered of earlier imports, so that what did not change is not read again. It is derived: without it everything is
//! read, and the answer is the same.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ramus_model::SessionId;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::ground::Stamp;
use super::print::Print;
use super::source::{Located, Looked};

/// What is remembered is thrown away when it is not of this kind.
const KIND: &str = "ramus imports 3";
/// The longest memory that is read.
const LONGEST: u64 = 1 << 30;

/// What is remembered of one source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Remembered {
    looked: Looked,
    /// The sessions that came of it.
    pub(crate) sessions: Vec<String>,
}

/// What is remembered of all of them, by path.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    path: Option<PathBuf>,
    sources: HashMap<String, Remembered>,
    /// How sessions begin, by their ids here.
    prints: HashMap<String, Print>,
    has_changed: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored<'m> {
    kind: std::borrow::Cow<'m, str>,
    sources: std::borrow::Cow<'m, HashMap<String, Remembered>>,
    prints: std::borrow::Cow<'m, HashMap<String, Print>>,
}

impl Memory {
    /// Reads what is remembered. What cannot be read is forgotten.
    pub(crate) fn at(path: Option<&Path>) -> Self {
        let read = |path: &Path| {
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
            let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
            let stored: Stored<'_> = serde_json::from_reader(BufReader::new(file.take(LONGEST))).ok()?;
            (stored.kind == KIND).then(|| (stored.sources.into_owned(), stored.prints.into_owned()))
        };
        let (sources, prints) = path.and_then(read).unwrap_or_default();
        Self { path: path.map(Path::to_owned), sources, prints, has_changed: false }
    }

    /// Returns what came of a source that has not changed since, and whose sessions are all there.
    pub(crate) fn unchanged(&self, source: &Located, is_there: impl Fn(&SessionId) -> bool) -> Option<&Remembered> {
        let known = self.sources.get(&*source.path().to_string_lossy())?;
        let is_same = |(name, stamp): (&String, &Option<Stamp>)| matches!(source.store.ground.stamp(name), Ok(now) if now == *stamp);
        let is_here = |id: &String| is_there(&SessionId::from(id.as_str()));
        let told = || source.format.map(|format| source.store.told(format, &source.name)).unwrap_or_default();
        let is_unchanged = known.looked.stamps.iter().all(is_same) && known.looked.told == told();
        (is_unchanged && known.sessions.iter().all(is_here)).then_some(known)
    }

    /// Remembers what came of a source, unless something of it is so fresh that a change might not show.
    pub(crate) fn remember(&mut self, source: &Located, looked: Looked, sessions: Vec<String>, now: i64) {
        let path = source.path().to_string_lossy().into_owned();
        let is_fresh = looked.stamps.values().flatten().any(|stamp| stamp.is_fresh(now));
        self.has_changed |= !is_fresh || self.sources.contains_key(&path);
        if is_fresh {
            self.sources.remove(&path);
        } else {
            self.sources.insert(path, Remembered { looked, sessions });
        }
    }

    /// Remembers how a session begins. What was found out about the same beginning stays, unless the session is new.
    pub(crate) fn remember_print(&mut self, id: &str, print: &Print, is_new: bool) {
        let known = self.prints.get(id);
        if known.is_some_and(|known| known.is_same(print) && !is_new) || known.is_none() && print.is_blank() {
            return;
        }
        self.has_changed = true;
        if print.is_blank() {
            self.prints.remove(id);
        } else {
            self.prints.insert(id.to_owned(), print.clone());
        }
    }

    /// Returns how a session begins.
    pub(crate) fn print(&self, id: &str) -> Option<&Print> {
        self.prints.get(id)
    }

    /// Iterates over how sessions begin.
    pub(crate) fn prints(&self) -> impl Iterator<Item = (&str, &Print)> {
        self.prints.iter().map(|(id, print)| (id.as_str(), print))
    }

    /// Remembers that a session was compared with others.
    pub(crate) fn mark(&mut self, id: &str, change: impl FnOnce(&mut Print)) {
        if let Some(print) = self.prints.get_mut(id) {
            change(print);
            self.has_changed = true;
        }
    }

    /// Forgets how sessions begin that are not there any more.
    pub(crate) fn forget_gone(&mut self, is_there: impl Fn(&SessionId) -> bool) {
        let before = self.prints.len();
        self.prints.retain(|id, _| is_there(&SessionId::from(id.as_str())));
        self.has_changed |= self.prints.len() != before;
    }

    /// Writes it down. The file is the old one or the new one; whether it outlives a power cut matters to nobody.
    pub(crate) fn save(&mut self) -> io::Result<()> {
        let Some(path) = self.path.as_deref().filter(|_| self.has_changed) else { return Ok(()) };
        let new = path.with_extension(format!("new-{}", uuid::Uuid::new_v4().simple()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let mut out = BufWriter::new(file);
        let stored = Stored {
            kind: KIND.into(),
            sources: std::borrow::Cow::Borrowed(&self.sources),
            prints: std::borrow::Cow::Borrowed(&self.prints),
        };
        let written = serde_json::to_writer(&mut out, &stored)
            .map_err(io::Error::from)
            .and_then(|()| out.flush())
            .and_then(|()| std::fs::rename(&new, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        self.has_changed &= written.is_err();
        written
    }
}
