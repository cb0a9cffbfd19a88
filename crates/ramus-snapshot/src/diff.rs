//! What changed between two snapshots, file by file, with the lines.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use gix_object::Kind;

use crate::compare::{Difference, Item, compare, is_link, join_moved};
use crate::error::SnapshotError;
use crate::former::Former;
use crate::patch::Part;
use crate::store::{SnapshotId, Snapshots};
use crate::text;

/// What became of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It came.
    Added,
    /// It is another one.
    #[default]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The unified diff: a patch that git takes. What is no UTF-8 is replaced.
    pub diff: String,
    /// The same, byte for byte, when something had to be replaced.
    pub exact: Option<Vec<u8>>,
}

impl FileDiff {
    /// Returns the patch, byte for byte.
    pub fn patch(&self) -> &[u8] {
        self.exact.as_deref().unwrap_or(self.diff.as_bytes())
    }
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

    /// The same, and whether it only shows: it could have been there before, where it was not covered.
    pub fn changed_or_shown(&self, old: SnapshotId, new: SnapshotId) -> Result<Vec<(PathBuf, bool)>, SnapshotError> {
        if old == new {
            return Ok(Vec::new());
        }
        let beside = self.vault().beside(old)?;
        let (old, new) = (self.vault().directory_of(old)?, self.vault().directory_of(new)?);
        let former = LazyCell::new(|| Former::new(self.objects(), old, self.root()));
        let ignored = |path: &Path| former.leaves_out(path);
        let is_left_out = |path: &Path| beside.as_ref().is_some_and(|beside| beside.leaves_out_unless(path, ignored));
        let all = compare(self.objects(), Some(old), Some(new))?.into_iter();
        Ok(all
            .map(|one| (one.old.is_none() && is_left_out(&one.path), one.path))
            .map(|(is, path)| (path, is))
            .collect())
    }

    /// Says whether a snapshot is kept here.
    pub fn has(&self, id: SnapshotId) -> bool {
        self.objects().has(&id.0)
    }

    /// Compares two snapshots. `only` chooses paths and what is beneath them, under the name before or after; empty for all.
    pub fn diff(&self, old: SnapshotId, new: SnapshotId, only: &[PathBuf]) -> Result<Vec<FileDiff>, SnapshotError> {
        let beside = self.vault().beside(new)?;
        let (old, new) = (self.vault().directory_of(old)?, self.vault().directory_of(new)?);
        let mut differences = compare(self.objects(), Some(old), Some(new))?;
        // What is not covered any more is not gone. Where one name stands for many, it shows on the disk.
        let is_there = |path: &Path| self.is_there(path);
        let is_left_out = |path: &Path| beside.as_ref().is_some_and(|beside| beside.leaves_out_unless(path, is_there));
        differences.retain(|one| one.new.is_some() || !is_left_out(&one.path));
        let differences = join_moved(differences);
        let is_wanted = |path: &Path| only.is_empty() || only.iter().any(|only| path.starts_with(only));
        // Whoever asks for the name that a file had wants to know where it went.
        let is_meant = |one: &Difference| is_wanted(&one.path) || one.from.as_deref().is_some_and(is_wanted);
        let wanted = differences.into_iter().filter(is_meant);
        wanted.map(|difference| self.file_diff(difference)).collect()
    }

    fn file_diff(&self, difference: Difference) -> Result<FileDiff, SnapshotError> {
        let Difference { path, old, new, from } = difference;
        let content = |item: Option<Item>| -> Result<Vec<u8>, SnapshotError> {
            let mut bytes = Vec::new();
            item.map_or(Ok(()), |item| self.objects().read(&item.id, Kind::Blob, &mut bytes))?;
            Ok(bytes)
        };
        let status = match (&from, old, new) {
            (Some(_), ..) => Status::Renamed,
            (None, None, _) => Status::Added,
            (None, Some(_), None) => Status::Deleted,
            (None, Some(_), Some(_)) => Status::Modified,
        };
        // What became another kind of thing goes in a patch, and comes again.
        let steps = match (old, new) {
            (Some(one), Some(other)) if is_link(one) != is_link(other) => vec![(old, None), (None, new)],
            _ => vec![(old, new)],
        };
        let mut found = FileDiff { path, from, status, ..FileDiff::default() };
        let mut patch = Vec::new();
        for (old, new) in steps {
            let text = text::diff(&content(old)?, &content(new)?);
            let from = found.from.as_deref().unwrap_or(&found.path);
            Part { path: &found.path, from, old, new, text: &text }.write(&mut patch);
            found.additions += text.additions;
            found.deletions += text.deletions;
            found.is_binary |= text.is_binary;
        }
        match String::from_utf8(patch) {
            Ok(text) => found.diff = text,
            Err(error) => {
                found.diff = String::from_utf8_lossy(error.as_bytes()).into_owned();
                found.exact = Some(error.into_bytes());
            }
        }
        Ok(found)
    }
}
