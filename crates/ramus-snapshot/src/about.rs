//! What is known about stored snapshots: names by a prefix, labels, times, and the files they hold.

use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;
use sha2::{Digest as _, Sha256};

use crate::compare::compare;
use crate::error::SnapshotError;
use crate::plan::find;
use crate::store::{SnapshotId, Snapshots};

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Where it is.
    pub path: PathBuf,
    /// Its mode, as git spells it.
    pub mode: u32,
    /// How many bytes it has.
    pub size: u64,
    /// The hash of its content, in hex.
    pub sha256: String,
}

/// A snapshot that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its name.
    pub id: SnapshotId,
    /// What it is called.
    pub label: String,
    /// When it was taken, in seconds since 1970.
    pub created: i64,
    /// The snapshots before it.
    pub parents: Vec<SnapshotId>,
}

impl SnapshotId {
    /// Reads a full name.
    pub fn parse(text: &str) -> Result<Self, SnapshotError> {
        let unknown = || SnapshotError::NotFound(text.to_owned());
        ObjectId::from_hex(text.as_bytes()).map(Self).map_err(|_| unknown())
    }
}

impl Snapshots {
    /// Returns what is known about a snapshot.
    pub fn info(&self, id: SnapshotId) -> Result<SnapshotInfo, SnapshotError> {
        self.vault().info(id)
    }

    /// Says whether a snapshot holds a path, or anything beneath it.
    pub fn holds(&self, id: SnapshotId, path: &Path) -> Result<bool, SnapshotError> {
        let root = self.vault().directory_of(id)?;
        Ok(path.as_os_str().is_empty() || find(self.objects(), root, path)?.is_some())
    }

    /// Counts the files of a snapshot; one that holds about the same makes that quick: its name, and how many it has.
    pub fn count(&self, id: SnapshotId, near: Option<(SnapshotId, u64)>) -> Result<u64, SnapshotError> {
        let base = near.map(|(near, _)| self.vault().directory_of(near)).transpose()?;
        let differences = compare(self.objects(), base, Some(self.vault().directory_of(id)?))?;
        let (mut more, mut less) = (near.map_or(0, |(_, files)| files), 0);
        for difference in differences {
            more += u64::from(difference.old.is_none());
            less += u64::from(difference.new.is_none());
        }
        Ok(more.saturating_sub(less))
    }

    /// Lists the files of a snapshot, with the hash of their content.
    pub fn files(&self, id: SnapshotId) -> Result<Vec<FileInfo>, SnapshotError> {
        let all = compare(self.objects(), None, Some(self.vault().directory_of(id)?))?;
        let mut content = Vec::new();
        let mut files = Vec::with_capacity(all.len());
        for (path, item) in all.into_iter().filter_map(|one| Some((one.path, one.new?))) {
            self.objects().read(&item.id, Kind::Blob, &mut content)?;
            let mode = match item.kind {
                EntryKind::BlobExecutable => 0o100_755,
                EntryKind::Link => 0o120_000,
                _ => 0o100_644,
            };
            let sha256 = hex::encode(Sha256::digest(&content));
            files.push(FileInfo { path, mode, size: content.len() as u64, sha256 });
        }
        Ok(files)
    }
}
