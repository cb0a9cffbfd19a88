//! `snapshot`, `snapshots`: the files of a session's directory at an entry, and what is known of them.
//!
//! A snapshot counts when its entry is in the log; what it refers to is durable before that.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft, EntryId, Seq};
use ramus_snapshot::{About, FileInfo, Glance, SnapshotError, SnapshotId, Snapshots, Taken, Uncovered};
use ramus_store::Residence;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::workspace::{Cause, Name, Note, SNAPSHOT, Timeline, note_outsider, short};

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
    /// What was done to files behind it came after what is kept.
    pub since: Seq,
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
    /// Whether what the directory is at came of it: what was restored goes on from there, and what was taken since does not
    /// count.
    pub is_ancestor: bool,
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
        let on_path = session.on_path()?;
        let mut moments = Timeline::of(session)?.moments;
        keep_before_interrupted(&mut moments);
        let listed = moments.into_iter().rev().filter_map(|(seq, note)| {
            SnapshotEntry::of(session.entry_id(seq), seq, note, on_path.binary_search(&seq).is_ok())
        });
        let mut listed: Vec<SnapshotEntry> = listed.collect();
        let ancestors = ancestors(session, &listed);
        listed.iter_mut().for_each(|one| one.is_ancestor = ancestors.contains(&one.seq));
        Ok(listed)
    }

    /// Finds a snapshot by its name, by its entry, by the start of its name, or by its label, in this order: no label takes
    /// the place of another snapshot. What was there between calls has names too.
    pub fn find_snapshot(&self, session: &Session, name: &str) -> Result<SnapshotEntry, EngineError> {
        let all = self.states(session)?;
        let is_exact = |one: &&SnapshotEntry| one.entry.as_str() == name || one.commit.to_string() == name;
        if let Some(found) = all.iter().find(is_exact) {
            return Ok(found.clone());
        }
        let is_meant = |commit: SnapshotId| name.len() >= 4 && commit.to_string().starts_with(name);
        let mut found = each_once(&all, |one| is_meant(one.commit));
        let between;
        if found.is_empty() {
            between = self.states_between(session, is_meant)?;
            found = each_once(&between, |_| true);
        }
        if found.is_empty() {
            found = each_once(&all, |one| one.label == name);
        }
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(EngineError::SnapshotNotFound(name.to_owned())),
            several => Err(EngineError::SessionAmbiguous {
                reference: name.to_owned(),
                candidates: several.iter().map(|one| one.commit.to_string()).collect(),
            }),
        }
    }

    /// Lists the files that a snapshot holds.
    pub fn snapshot_files(
        &self,
        session: &mut Session,
        snapshot: &SnapshotEntry,
    ) -> Result<Vec<FileInfo>, EngineError> {
        let missing = || SnapshotError::NotFound(snapshot.commit.to_string());
        let glance = self.glance_at_snapshots(session)?.ok_or_else(missing)?;
        Ok(glance.files(snapshot.commit)?)
    }

    /// Opens the store of the session's directory, and ends a restore that was interrupted.
    pub(crate) fn snapshot_store(&self, session: &mut Session) -> Result<Snapshots, EngineError> {
        let (directory, root) = self.vault_of(session)?;
        session.note_outside(&directory)?;
        let mut store = Snapshots::open(&directory, &root, &self.apart)?;
        if let Some(restored) = store.recover()? {
            let files = restored.done.len();
            session.notices.push(format!("a restore that was interrupted was finished: {files} files"));
        }
        Ok(store)
    }

    /// Opens the store of the session's directory to look at it; none when there is none. A restore that was interrupted is
    /// told, and stays so.
    pub(crate) fn glance_at_snapshots(&self, session: &mut Session) -> Result<Option<Glance>, EngineError> {
        let (directory, root) = self.vault_of(session)?;
        let glance = Glance::open(&directory, &root, &self.apart)?;
        let notice = "a restore was interrupted; whatever changes files or keeps them next ends it";
        let is_new = !session.notices.iter().any(|known| known == notice);
        if let Some(glance) = glance.as_ref().filter(|_| is_new)
            && glance.is_interrupted()?
        {
            session.notices.push(notice.into());
        }
        Ok(glance)
    }

    /// Where the snapshots of the session's directory are, and which directory that is.
    pub(crate) fn vault_of(&self, session: &Session) -> Result<(PathBuf, PathBuf), EngineError> {
        let home =
            self.snapshots.as_ref().ok_or_else(|| EngineError::Invalid("this home keeps no snapshots".into()))?;
        let root = root_of(session)?;
        Ok((home.join(key(&root)), root))
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
            Cause::Turn | Cause::Safety | Cause::Restored | Cause::Call | Cause::Before => look(session, store, label)?,
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

/// Of several entries that tell of one snapshot, the newest counts.
fn each_once(all: &[SnapshotEntry], is_meant: impl Fn(&SnapshotEntry) -> bool) -> Vec<&SnapshotEntry> {
    let mut known = HashSet::new();
    all.iter().filter(|one| is_meant(one) && known.insert(one.commit)).collect()
}

/// What was there before a call is no snapshot of its own, unless the call did not come to its end.
fn keep_before_interrupted(moments: &mut Vec<(Seq, Note)>) {
    let mut is_open = true;
    moments.reverse();
    moments.retain(|(_, note)| {
        let is_kept = note.name != Name::Started || is_open;
        is_open = note.name == Name::Files && note.is_interrupted;
        is_kept
    });
    moments.reverse();
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
    /// The entries up to the leaf that tell of files, and those behind answers on the way, sorted.
    pub(crate) fn on_path(&self) -> Result<Vec<Seq>, EngineError> {
        let notes = self.path_notes(self.log().leaf());
        let mut on_path = notes.map(|note| Ok(note?.0)).collect::<Result<Vec<Seq>, EngineError>>()?;
        on_path.sort_unstable();
        Ok(on_path)
    }

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
            since: seq,
            commit: note.commit?,
            cause: note.cause?,
            label: note.label,
            files: note.files,
            uncovered: note.uncovered,
            created: note.timestamp,
            is_on_path,
            is_ancestor: is_on_path,
        })
    }

    /// Names the snapshot that was restored, if that is what it tells of.
    pub fn restored(&self) -> Option<&str> {
        self.label.strip_prefix("Restored ").filter(|_| self.cause == Cause::Restored)
    }
}

/// Follows the files back from what they are at: along the path, and from a restore on from what it restored. Files that were
/// put back to something else than a snapshot came of everything on the path.
fn ancestors(session: &Session, all: &[SnapshotEntry]) -> HashSet<Seq> {
    let by_seq: HashMap<Seq, &SnapshotEntry> = all.iter().map(|one| (one.seq, one)).collect();
    // The oldest of those that have a name: the others tell of it again.
    let by_name: HashMap<String, Seq> = all.iter().map(|one| (one.id(), one.seq)).collect();
    let (mut found, mut walked) = (HashSet::new(), HashSet::new());
    let (mut from, mut is_known) = (session.log().leaf(), true);
    while let Some(start) = from.take() {
        for seq in session.log().ancestors(Some(start)) {
            if !walked.insert(seq) {
                break;
            }
            let Some(one) = by_seq.get(&seq) else { continue };
            found.insert(seq);
            let target = one.restored().filter(|_| is_known).map(|name| by_name.get(name).filter(|at| **at < seq));
            match target {
                Some(Some(target)) => {
                    from = Some(*target);
                    break;
                }
                Some(None) => is_known = false,
                None => {}
            }
        }
    }
    found
}

/// What the store of a directory is called.
pub(crate) fn key(root: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let mut name = hex::encode(Sha256::digest(root.as_os_str().as_bytes()));
    name.truncate(32);
    name.into()
}

/// Where the directory of a session really is.
pub(crate) fn root_of(session: &Session) -> Result<PathBuf, EngineError> {
    let cwd = Path::new(session.cwd());
    Snapshots::root_of(cwd).map_err(|error| match cwd.is_dir() {
        true => error.into(),
        false => EngineError::Invalid(format!("the directory of the session is not there: {}", cwd.display())),
    })
}
