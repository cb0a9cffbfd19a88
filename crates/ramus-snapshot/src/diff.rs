//! What changed between two snapshots, file by file, with the lines.

use std::path::{Path, PathBuf};

use gix_object::Kind;
use gix_object::tree::EntryKind;

use crate::compare::{Difference, Item, compare, join_moved};
use crate::error::SnapshotError;
use crate::store::{SnapshotId, Snapshots};
use crate::text;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It came.
    Added,
    /// It is another one.
    Modified,
    /// It went.
    Deleted,
    /// It has another name.
    Renamed,
}

impl Status {
    /// Returns the word that every surface shows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
        }
    }
}

/// How a file differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Its name now, or the last one it had.
    pub path: PathBuf,
    /// The name it had before, if that was another one.
    pub from: Option<PathBuf>,
    /// What became of it.
    pub status: Status,
    /// How many lines came.
    pub additions: u64,
    /// How many lines went.
    pub deletions: u64,
    /// Whether it is no text, so that no lines are counted.
    pub is_binary: bool,
    /// The unified diff.
    pub diff: String,
}

impl Snapshots {
    /// Lists the paths that differ between two snapshots, sorted, without looking into files.
    pub fn changed(&self, old: SnapshotId, new: SnapshotId) -> Result<Vec<PathBuf>, SnapshotError> {
        if old == new {
            return Ok(Vec::new());
        }
        let (old, new) = (self.vault().directory_of(old)?, self.vault().directory_of(new)?);
        Ok(compare(self.objects(), Some(old), Some(new))?.into_iter().map(|one| one.path).collect())
    }

    /// Says whether a snapshot is kept here.
    pub fn has(&self, id: SnapshotId) -> bool {
        self.objects().has(&id.0)
    }

    /// Compares two snapshots. `only` chooses paths and what is beneath them; empty for all.
    pub fn diff(&self, old: SnapshotId, new: SnapshotId, only: &[PathBuf]) -> Result<Vec<FileDiff>, SnapshotError> {
        let (old, new) = (self.vault().directory_of(old)?, self.vault().directory_of(new)?);
        let differences = join_moved(compare(self.objects(), Some(old), Some(new))?);
        let is_wanted = |path: &Path| only.is_empty() || only.iter().any(|only| path.starts_with(only));
        let wanted = differences.into_iter().filter(|difference| is_wanted(&difference.path));
        wanted.map(|difference| self.file_diff(difference)).collect()
    }

    fn file_diff(&self, difference: Difference) -> Result<FileDiff, SnapshotError> {
        let Difference { path, old, new, from } = difference;
        let content = |item: Option<Item>| -> Result<Vec<u8>, SnapshotError> {
            let mut bytes = Vec::new();
            item.map_or(Ok(()), |item| self.objects().read(&item.id, Kind::Blob, &mut bytes))?;
            Ok(bytes)
        };
        let text = text::diff(&content(old)?, &content(new)?);
        let status = match (&from, old, new) {
            (Some(_), ..) => Status::Renamed,
            (None, None, _) => Status::Added,
            (None, Some(_), None) => Status::Deleted,
            (None, Some(_), Some(_)) => Status::Modified,
        };
        let mut diff = header(&path, from.as_deref(), old, new);
        if text.is_binary {
            diff.push_str("Binary files differ\n");
        }
        diff.push_str(&text.hunks);
        let text::TextDiff { additions, deletions, is_binary, .. } = text;
        Ok(FileDiff { path, from, status, additions, deletions, is_binary, diff })
    }
}

/// The lines in front of the hunks: names, and modes where they differ.
fn header(path: &Path, from: Option<&Path>, old: Option<Item>, new: Option<Item>) -> String {
    let (before, after) = (from.unwrap_or(path).display(), path.display());
    let mode = |item: Item| match item.kind {
        EntryKind::BlobExecutable => "100755",
        EntryKind::Link => "120000",
        _ => "100644",
    };
    let mut text = String::new();
    match (old.map(mode), new.map(mode)) {
        (Some(old), Some(new)) if old != new => text.push_str(&format!("old mode {old}\nnew mode {new}\n")),
        (None, Some(new)) => text.push_str(&format!("new file mode {new}\n")),
        (Some(old), None) => text.push_str(&format!("deleted file mode {old}\n")),
        _ => {}
    }
    if from.is_some() {
        text.push_str(&format!("rename from {before}\nrename to {after}\n"));
    }
    let before = if old.is_some() { format!("a/{before}") } else { "/dev/null".to_owned() };
    let after = if new.is_some() { format!("b/{after}") } else { "/dev/null".to_owned() };
    text.push_str(&format!("--- {before}\n+++ {after}\n"));
    text
}
