//! `snapshot`, `snapshots`: the files of a session's directory at an entry, and what is known of them.
//!
//! A snapshot counts when its entry is in the log; what it refers to is durable before that.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft, EntryId, Seq};
use ramus_snapshot::{About, SnapshotError, SnapshotId, Snapshots, Taken, Uncovered};
use ramus_store::Residence;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::workspace::{Cause, Note, SNAPSHOT, Timeline, note_outsider, short};

/// What a snapshot without a label is called.
const UNNAMED: &str = "Workspace snapshot";

/// The longest label.
const LABEL: usize = 200;

/// A snapshot of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// The entry that tells of it.
    pub entry: EntryId,
    /// Where that is.
    pub seq: Seq,
    /// What is kept.
    pub commit: SnapshotId,
    /// What it is called.
    pub label: String,
    /// How many files it holds.
    pub files: u64,
    /// How much was in the directory and is not in it.
    pub uncovered: u64,
    /// When it was taken, as the entry tells it.
    pub created: String,
    /// Why it was taken.
    pub cause: Cause,
    /// Whether its entry is on the path to the leaf.
    pub is_on_path: bool,
}

impl SnapshotEntry {
    /// Returns the short name that people use.
    pub fn id(&self) -> String {
        short(self.commit)
    }
}

/// A snapshot that was just taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotTaken {
    /// It.
    pub snapshot: SnapshotEntry,
    /// What is in the directory and not in it.
    pub uncovered: Vec<Uncovered>,
    /// Ignore files that were not heeded, or not every line of them.
    pub unheeded: Vec<Uncovered>,
}

impl Engine {
    /// Takes a snapshot of the session's directory.
    pub fn snapshot(&self, session: &mut Session, label: Option<&str>) -> Result<SnapshotTaken, EngineError> {
        let label = label.map(|label| label.split_whitespace().collect::<Vec<_>>().join(" "));
        let label = label.filter(|label| !label.is_empty()).unwrap_or_else(|| UNNAMED.to_owned());
        if label.chars().count() > LABEL {
            return Err(EngineError::Invalid(format!("a label can have at most {LABEL} characters")));
        }
        let mut store = self.snapshot_store(session)?;
        let mut doing = Doing::one("snapshot", self);
        self.take_snapshot(session, &mut store, (&label, Cause::Asked), &mut doing)
    }

    /// Lists the snapshots of a session, newest first.
    pub fn snapshots(&self, session: &Session) -> Result<Vec<SnapshotEntry>, EngineError> {
        let log = session.log();
        let mut on_path: Vec<Seq> = log.ancestors(log.leaf()).collect();
        on_path.sort_unstable();
        let moments = Timeline::of(session)?.moments.into_iter().rev();
        let listed = moments.filter_map(|(seq, note)| {
            SnapshotEntry::of(session.entry_id(seq), seq, note, on_path.binary_search(&seq).is_ok())
        });
        Ok(listed.collect())
    }

    /// Finds a snapshot by the start of its name, by its entry, or by its label.
    pub fn find_snapshot(&self, session: &Session, name: &str) -> Result<SnapshotEntry, EngineError> {
        let all = self.snapshots(session)?;
        let is_exact = |one: &&SnapshotEntry| one.entry.as_str() == name || one.label == name;
        if let Some(found) = all.iter().find(is_exact) {
            return Ok(found.clone());
        }
        let starts = |one: &&SnapshotEntry| name.len() >= 4 && one.commit.to_string().starts_with(name);
        let mut found: Vec<&SnapshotEntry> = all.iter().filter(starts).collect();
        // Of several entries that tell of one snapshot, the newest counts.
        let mut known = HashSet::new();
        found.retain(|one| known.insert(one.commit));
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(EngineError::SnapshotNotFound(name.to_owned())),
            several => Err(EngineError::SessionAmbiguous {
                reference: name.to_owned(),
                candidates: several.iter().map(|one| one.commit.to_string()).collect(),
            }),
        }
    }

    /// Opens the store of the session's directory, and ends a restore that was interrupted.
    pub(crate) fn snapshot_store(&self, session: &mut Session) -> Result<Snapshots, EngineError> {
        let home =
            self.snapshots.as_ref().ok_or_else(|| EngineError::Invalid("this home keeps no snapshots".into()))?;
        let cwd = Path::new(session.cwd());
        let root = Snapshots::root_of(cwd).map_err(|error| match cwd.is_dir() {
            true => error.into(),
            false => EngineError::Invalid(format!("the directory of the session is not there: {}", cwd.display())),
        })?;
        let directory = home.join(key(&root));
        session.note_outside(&directory)?;
        let mut store = Snapshots::open(&directory, &root, &self.apart)?;
        if let Some(restored) = store.recover()? {
            let files = restored.done.len();
            session.notices.push(format!("a restore that was interrupted was finished: {files} files"));
        }
        Ok(store)
    }

    /// Takes a snapshot and notes it. One that somebody asks for is always a new one.
    pub(crate) fn take_snapshot(
        &self,
        session: &mut Session,
        store: &mut Snapshots,
        (label, cause): (&str, Cause),
        doing: &mut Doing,
    ) -> Result<SnapshotTaken, EngineError> {
        let taken = match cause {
            Cause::Asked => store.take(&about(session, store, label)?)?,
            Cause::Turn | Cause::Safety | Cause::Restored => look(session, store, label)?,
        };
        let snapshot = self.note_snapshot(session, describe(&taken, label, cause), doing)?;
        Ok(SnapshotTaken { snapshot, uncovered: taken.uncovered, unheeded: taken.unheeded })
    }

    /// Appends the entry of a snapshot.
    pub(crate) fn note_snapshot(
        &self,
        session: &mut Session,
        data: Value,
        doing: &mut Doing,
    ) -> Result<SnapshotEntry, EngineError> {
        let draft = Draft::new(Body::ramus(SNAPSHOT, data));
        let appended = self.record(session, doing, vec![draft])?;
        let missing = || EngineError::Invalid("nothing was written".into());
        let written = appended.entries.into_iter().next().ok_or_else(missing)?;
        session.snapshot_at(written.seq)?.ok_or_else(missing)
    }
}

/// Takes a snapshot, or returns the newest one of the path when nothing changed since. It is not noted anywhere.
pub(crate) fn look(session: &Session, store: &mut Snapshots, label: &str) -> Result<Taken, EngineError> {
    let about = about(session, store, label)?;
    Ok(match about.parents.first() {
        Some(earlier) => store.take_since(*earlier, &about)?,
        None => store.take(&about)?,
    })
}

/// A snapshot stands on the newest one of the path, so that whoever keeps it keeps those before it.
fn about(session: &Session, store: &Snapshots, label: &str) -> Result<About, EngineError> {
    let earlier = session.account()?.latest.filter(|id| store.has(*id));
    Ok(About { label: label.to_owned(), parents: earlier.into_iter().collect() })
}

/// What the entry of a snapshot says.
pub(crate) fn describe(taken: &Taken, label: &str, cause: Cause) -> Value {
    json!({
        "commit": taken.id.to_string(), "label": label, "files": taken.files, "cause": cause.as_str(),
        "uncovered": taken.uncovered.len(),
    })
}

impl Session {
    /// Returns the snapshot that an entry of the path tells of.
    pub(crate) fn snapshot_at(&self, seq: Seq) -> Result<Option<SnapshotEntry>, EngineError> {
        let note = Note::read(&self.line(seq)?);
        Ok(note.and_then(|note| SnapshotEntry::of(self.entry_id(seq), seq, note, true)))
    }

    /// Writes down where snapshots are named when that is not in the home: a log of another program.
    pub(crate) fn note_outside(&self, vault: &Path) -> Result<(), SnapshotError> {
        match &self.location().path {
            Some(log) if self.residence() == Residence::InPlace => note_outsider(vault, log),
            _ => Ok(()),
        }
    }
}

impl SnapshotEntry {
    /// Makes one of what an entry says; none when it tells of no snapshot.
    fn of(entry: EntryId, seq: Seq, note: Note, is_on_path: bool) -> Option<Self> {
        Some(Self {
            entry,
            seq,
            commit: note.commit?,
            cause: note.cause?,
            label: note.label,
            files: note.files,
            uncovered: note.uncovered,
            created: note.timestamp,
            is_on_path,
        })
    }
}

/// What the store of a directory is called.
pub(crate) fn key(root: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let mut name = hex::encode(Sha256::digest(root.as_os_str().as_bytes()));
    name.truncate(32);
    name.into()
}
