//! What entries say about files: `ramus.started` (a call begins), `ramus.files` (a call changed files), `ramus.snapshot` (a
//! snapshot was taken) and `ramus.turn` (a turn ended).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use ramus_model::json::Raw;
use ramus_snapshot::{FileDiff, SnapshotId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::verb::info::GitState;

/// The `customType` of entries about files, without our prefix.
pub(crate) const SNAPSHOT: &str = "snapshot";
pub(crate) const FILES: &str = "files";
pub(crate) const TURN: &str = "turn";
const STARTED: &str = "started";

/// How many characters of a snapshot's name people use.
const SHORT: usize = 12;

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it.
    Asked,
    /// A turn ended that may have changed files.
    Turn,
    /// Files were about to be restored.
    Safety,
    /// Files were restored.
    Restored,
    /// A call was about to change files, or had. No entry says this of itself.
    Call,
    /// A call was about to run that did not come to its end yet, or never will.
    Before,
}

impl Cause {
    const ALL: [Self; 5] = [Self::Asked, Self::Turn, Self::Safety, Self::Restored, Self::Before];

    /// Returns its name in entries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Turn => "turn",
            Self::Safety => "safety",
            Self::Restored => "restored",
            Self::Call => "call",
            Self::Before => "before",
        }
    }
}

/// How much changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// How many lines came.
    pub additions: u64,
    /// How many lines went.
    pub deletions: u64,
    /// How many files differ.
    pub files: u64,
}

impl Summary {
    /// Counts what differs.
    pub fn of(diffs: &[FileDiff]) -> Self {
        let sum = |count: fn(&FileDiff) -> u64| diffs.iter().map(count).sum();
        Self { additions: sum(|diff| diff.additions), deletions: sum(|diff| diff.deletions), files: diffs.len() as u64 }
    }

    fn read(raw: Option<Raw<'_>>) -> Self {
        let count = |name| raw.and_then(|raw| raw.field(name)).and_then(Raw::unsigned).unwrap_or_default();
        Self { additions: count("additions"), deletions: count("deletions"), files: count("files") }
    }
}

/// Which entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Started,
    Snapshot,
    Files,
    Turn,
}

/// What one entry says about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) name: Name,
    /// The files as they were then, if they were looked at.
    pub(crate) commit: Option<SnapshotId>,
    /// What ramus or an agent changed: the files before and after.
    pub(crate) steps: Vec<(SnapshotId, SnapshotId)>,
    /// What of that somebody else changed at the same moment.
    pub(crate) theirs: BTreeSet<PathBuf>,
    /// What of that either of them may have changed last.
    pub(crate) unclear: BTreeSet<PathBuf>,
    /// Whether the call was killed that changed it.
    pub(crate) is_interrupted: bool,
    pub(crate) cause: Option<Cause>,
    pub(crate) label: String,
    /// How many files the snapshot holds.
    pub(crate) files: u64,
    /// How much is not in it.
    pub(crate) uncovered: u64,
    /// What changed here.
    pub(crate) summary: Summary,
    /// What changed in all turns up to here.
    pub(crate) session: Summary,
    /// Some of the paths that changed.
    pub(crate) changed: Vec<String>,
    /// The newest snapshot when a turn ended, its own or an earlier one.
    pub(crate) latest: Option<SnapshotId>,
    /// The user's repository when a turn ended.
    pub(crate) git: GitState,
    /// Why a turn took no snapshots.
    pub(crate) without: Option<String>,
    pub(crate) timestamp: String,
}

impl Note {
    /// Reads an entry; none when it says nothing about files.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let raw = Raw::parse(line)?;
        let custom = raw.field("customType").and_then(Raw::text)?;
        let name = match custom.strip_prefix("ramus.")? {
            STARTED => Name::Started,
            SNAPSHOT => Name::Snapshot,
            FILES => Name::Files,
            TURN => Name::Turn,
            _ => return None,
        };
        let data = raw.field("data")?;
        let kept = if name == Name::Turn { data.field("snapshot").filter(|kept| !kept.is_null()) } else { Some(data) };
        let commit = match name {
            // Without it, it says nothing about files.
            Name::Started => Some(id(data, "before")?),
            _ => kept.and_then(|kept| commit(kept.field("commit"))),
        };
        let steps = match name {
            Name::Files => steps(data.field("steps")?)?,
            // What was restored was changed from one state to the other.
            Name::Snapshot => {
                commit.zip(id(data, "before")).map(|(after, before)| (before, after)).into_iter().collect()
            }
            Name::Started | Name::Turn => Vec::new(),
        };
        let cause = match name {
            Name::Snapshot => {
                text(data, "cause").and_then(|text| Cause::ALL.into_iter().find(|one| one.as_str() == text))
            }
            Name::Turn => commit.map(|_| Cause::Turn),
            Name::Started => Some(Cause::Before),
            Name::Files => None,
        };
        let git = data.field("git");
        let label = match name {
            Name::Started => text(data, "name").map(|name| format!("Before {name}")),
            _ => kept.and_then(|kept| text(kept, "label")),
        };
        Some(Self {
            name,
            commit: commit.or_else(|| steps.last().map(|(_, after)| *after)),
            theirs: paths(data, "theirs"),
            unclear: paths(data, "unclear"),
            is_interrupted: data.field("interrupted").and_then(Raw::flag).unwrap_or_default(),
            steps,
            cause,
            label: label.unwrap_or_default(),
            files: count(kept, "files"),
            uncovered: count(kept, "uncovered"),
            summary: Summary::read(data.field("summary")),
            session: Summary::read(data.field("session")),
            changed: data
                .field("changed")
                .into_iter()
                .flat_map(Raw::items)
                .filter_map(|path| Some(path.text()?.into_owned()))
                .collect(),
            latest: id(data, "latest"),
            git: GitState {
                commit: git.and_then(|git| text(git, "commit")),
                dirty: git.and_then(|git| git.field("dirty")).and_then(Raw::flag),
            },
            without: text(data, "without_snapshots"),
            timestamp: text(raw, "timestamp").unwrap_or_default(),
        })
    }
}

/// The name of a snapshot that people use.
pub(crate) fn short(id: SnapshotId) -> String {
    let mut text = id.to_string();
    text.truncate(SHORT);
    text
}

/// Spells paths so that they can be read again, whatever is in them.
pub(crate) fn paths_to_json<'p>(paths: impl Iterator<Item = &'p Path>) -> Value {
    let spelled = |path: &Path| match path.to_str() {
        Some(text) => Value::from(text),
        None => json!({"hex": hex::encode(path.as_os_str().as_bytes())}),
    };
    paths.map(spelled).collect()
}

fn paths(data: Raw<'_>, name: &str) -> BTreeSet<PathBuf> {
    data.field(name).into_iter().flat_map(Raw::items).filter_map(path_of).collect()
}

fn path_of(raw: Raw<'_>) -> Option<PathBuf> {
    if let Some(text) = raw.text() {
        return Some(PathBuf::from(text.into_owned()));
    }
    let bytes = hex::decode(raw.field("hex")?.text()?.as_bytes()).ok()?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

fn steps(raw: Raw<'_>) -> Option<Vec<(SnapshotId, SnapshotId)>> {
    let step = |raw: Raw<'_>| {
        let mut ends = raw.items().map(|end| commit(Some(end)));
        Some((ends.next()??, ends.next()??))
    };
    raw.items().map(step).collect()
}

fn id(raw: Raw<'_>, name: &str) -> Option<SnapshotId> {
    commit(raw.field(name))
}

fn commit(raw: Option<Raw<'_>>) -> Option<SnapshotId> {
    SnapshotId::parse(&raw?.text()?).ok()
}

fn count(raw: Option<Raw<'_>>, name: &str) -> u64 {
    raw.and_then(|raw| raw.field(name)).and_then(Raw::unsigned).unwrap_or_default()
}

fn text(raw: Raw<'_>, name: &str) -> Option<String> {
    raw.field(name).and_then(Raw::text).map(|text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn entries_say_what_changed_and_others_say_nothing() {
        let line = format!(
            r#"{{"type":"custom","customType":"ramus.files","data":{{"call":"c","steps":[["{ONE}","{TWO}"]],"summary":{{"additions":2,"deletions":1,"files":1}}}},"timestamp":"t"}}"#
        );
        let note = Note::read(line.as_bytes()).unwrap_or_else(|| panic!("it is no note"));
        assert_eq!((note.steps.len(), note.commit.map(|id| id.to_string())), (1, Some(TWO.to_owned())));
        assert_eq!(note.summary, Summary { additions: 2, deletions: 1, files: 1 });
        assert_eq!(note.cause, None);
        let turn = format!(
            r#"{{"customType":"ramus.turn","data":{{"snapshot":{{"commit":"{ONE}","label":"After: x","files":3}},"latest":"{ONE}"}}}}"#
        );
        let note = Note::read(turn.as_bytes()).unwrap_or_else(|| panic!("it is no note"));
        assert_eq!((note.cause, note.label.as_str(), note.files), (Some(Cause::Turn), "After: x", 3));
        assert_eq!(Note::read(br#"{"customType":"ramus.started","data":{}}"#), None);
        assert_eq!(Note::read(br#"{"customType":"ramus.files","data":{"steps":[["short","x"]]}}"#), None);
        let quiet = Note::read(br#"{"customType":"ramus.turn","data":{"end":"stop"}}"#);
        assert!(quiet.is_some_and(|note| note.cause.is_none() && note.commit.is_none()));
    }

    #[test]
    fn any_path_is_spelled_so_that_it_can_be_read_again() {
        let paths = [PathBuf::from("a b/ü"), PathBuf::from(OsString::from_vec(vec![b'x', 0xff]))];
        let spelled = paths_to_json(paths.iter().map(PathBuf::as_path)).to_string();
        let raw = Raw::parse(spelled.as_bytes());
        let read: Vec<PathBuf> = raw.into_iter().flat_map(Raw::items).filter_map(path_of).collect();
        assert_eq!(read, paths);
    }
}
