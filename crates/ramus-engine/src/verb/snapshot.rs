//! `snapshot`, `snapshots`: the files of a session's directory at an entry, and what is known of them.
//!
//! A snapshot counts when its entry is in the log; what it refers to is durable before that.

use std::path::{Path, PathBuf};

use ramus_model::json::Raw;
use ramus_model::{Body, Draft, EntryId, Kind, Seq};
use ramus_snapshot::{About, SnapshotId, Snapshots, Uncovered};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::Cursor;

/// The `customType` of snapshot entries, without our prefix.
const NAME: &str = "snapshot";

/// What a snapshot without a label is called.
const UNNAMED: &str = "Workspace snapshot";

/// The longest label.
const LABEL: usize = 200;

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it.
    Asked,
    /// Files were about to be restored.
    Safety,
    /// Files were restored.
    Restored,
}

impl Cause {
    const ALL: [Self; 3] = [Self::Asked, Self::Safety, Self::Restored];

    /// Returns its name in entries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Safety => "safety",
            Self::Restored => "restored",
        }
    }
}

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
        let mut text = self.commit.to_string();
        text.truncate(12);
        text
    }
}

/// A snapshot that was just taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotTaken {
    /// It.
    pub snapshot: SnapshotEntry,
    /// What is in the directory and not in it.
    pub uncovered: Vec<Uncovered>,
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
        self.take_snapshot(session, &mut store, &label, Cause::Asked)
    }

    /// Lists the snapshots of a session, newest first.
    pub fn snapshots(&self, session: &Session) -> Result<Vec<SnapshotEntry>, EngineError> {
        let log = session.log();
        let mut on_path: Vec<Seq> = log.ancestors(log.leaf()).collect();
        on_path.sort_unstable();
        let mut found = Vec::new();
        for seq in log.seqs().rev() {
            if log.record(seq).is_some_and(|record| record.kind == Kind::Custom) {
                let line = session.line(seq)?;
                let is_on_path = on_path.binary_search(&seq).is_ok();
                found.extend(read(&line, session.entry_id(seq), seq, is_on_path));
            }
        }
        Ok(found)
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
        found.dedup_by_key(|one| one.commit);
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
        let root = Snapshots::root_of(cwd)?;
        let directory = home.join(key(&root));
        let mut store = Snapshots::open(&directory, &root, &self.apart)?;
        if let Some(restored) = store.recover()? {
            let files = restored.done.len();
            session.notices.push(format!("a restore that was interrupted was finished: {files} files"));
        }
        Ok(store)
    }

    pub(crate) fn take_snapshot(
        &self,
        session: &mut Session,
        store: &mut Snapshots,
        label: &str,
        cause: Cause,
    ) -> Result<SnapshotTaken, EngineError> {
        let parents = self.snapshots(session)?.iter().find(|one| one.is_on_path).map(|one| one.commit);
        let taken = store.take(&About { label: label.to_owned(), parents: parents.into_iter().collect() })?;
        let data = json!({
            "commit": taken.id.to_string(), "label": label, "files": taken.files, "cause": cause.as_str(),
            "uncovered": taken.uncovered.len(),
        });
        let draft = Draft::new(Body::ramus(NAME, data));
        let appended = self.append(session, &[draft], &Cursor::Leaf)?;
        let missing = || EngineError::Invalid("nothing was written".into());
        let written = appended.entries.into_iter().next().ok_or_else(missing)?;
        let line = session.line(written.seq)?;
        let snapshot = read(&line, written.id, written.seq, true).ok_or_else(missing)?;
        Ok(SnapshotTaken { snapshot, uncovered: taken.uncovered })
    }
}

/// What the store of a directory is called.
fn key(root: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let mut name = hex::encode(Sha256::digest(root.as_os_str().as_bytes()));
    name.truncate(32);
    name.into()
}

/// Reads a snapshot entry; none when it is something else.
fn read(line: &[u8], entry: EntryId, seq: Seq, is_on_path: bool) -> Option<SnapshotEntry> {
    let raw = Raw::parse(line)?;
    let text = |raw: Raw<'_>, name: &str| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
    if text(raw, "customType")?.strip_prefix("ramus.")? != NAME {
        return None;
    }
    let data = raw.field("data")?;
    let cause = text(data, "cause")?;
    Some(SnapshotEntry {
        entry,
        seq,
        commit: SnapshotId::parse(&text(data, "commit")?).ok()?,
        label: text(data, "label").unwrap_or_default(),
        files: data.field("files").and_then(Raw::unsigned).unwrap_or_default(),
        created: text(raw, "timestamp").unwrap_or_default(),
        cause: Cause::ALL.into_iter().find(|one| one.as_str() == cause)?,
        is_on_path,
    })
}
