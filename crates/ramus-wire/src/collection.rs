//! What nothing needs any more.

use std::borrow::Cow;

use ramus_engine::{DiskReport, Swept};
use ramus_snapshot::SnapshotInfo;
use ramus_store::{Collected, Tally};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::disk::{DiskPart, DiskUse};
use crate::{object_of, path};

/// What was collected, or would be, and what the home takes.
#[derive(Serialize, ToSchema)]
pub struct CollectedHome<'c> {
    /// Blobs that were removed for good.
    removed: BlobTally,
    /// Blobs that were put in the trash.
    trashed: BlobTally,
    /// Blobs that came back from the trash, because something refers to them.
    restored: BlobTally,
    /// Blobs that something refers to.
    kept: BlobTally,
    /// What crashes left.
    leftovers: DiskPart,
    snapshots: SweptSnapshots<'c>,
    disk: DiskUse<'c>,
    dry_run: bool,
}

/// Blobs, and what they take.
#[derive(Serialize, ToSchema)]
struct BlobTally {
    blobs: u64,
    bytes: u64,
}

impl From<Tally> for BlobTally {
    fn from(tally: Tally) -> Self {
        Self { blobs: tally.count, bytes: tally.bytes }
    }
}

/// Snapshots that nothing named.
#[derive(Serialize, ToSchema)]
struct SweptSnapshots<'c> {
    /// How many there were.
    removed: usize,
    /// What they took.
    bytes: u64,
    directories: Vec<SweptDirectory<'c>>,
}

/// Snapshots of a directory.
#[derive(Serialize, ToSchema)]
struct SweptDirectory<'c> {
    /// The directory; null when that is not known.
    #[schema(required)]
    directory: Option<Cow<'c, str>>,
    /// Where its snapshots are kept.
    path: Cow<'c, str>,
    removed: Vec<SweptSnapshot<'c>>,
    /// What they took.
    bytes: u64,
    /// What is left; null when nothing was done.
    #[schema(required)]
    kept: Option<KeptSnapshots>,
    /// Why nothing was done; null when something was.
    #[schema(required)]
    left: Option<String>,
}

/// A snapshot that nothing named.
#[derive(Serialize, ToSchema)]
struct SweptSnapshot<'c> {
    /// The short name that people use.
    id: String,
    /// The whole name.
    commit: String,
    label: &'c str,
    /// In milliseconds since 1970.
    created: i64,
}

/// Snapshots that are left.
#[derive(Serialize, ToSchema)]
struct KeptSnapshots {
    snapshots: u64,
    bytes: u64,
}

/// What was collected, or would be, and what the home takes.
pub fn collected(collected: &Collected, swept: &[Swept], report: &DiskReport, dry_run: bool) -> Map<String, Value> {
    object_of(&CollectedHome {
        removed: collected.removed.into(),
        trashed: collected.trashed.into(),
        restored: collected.restored.into(),
        kept: collected.kept.into(),
        leftovers: (&collected.leftovers).into(),
        snapshots: snapshots(swept),
        disk: report.into(),
        dry_run,
    })
}

fn snapshots(swept: &[Swept]) -> SweptSnapshots<'_> {
    let freed = |one: &Swept| one.outcome.as_ref().map_or(0, |done| done.before.bytes.saturating_sub(done.after.bytes));
    let gone = |one: &Swept| one.outcome.as_ref().map_or(0, |done| done.gone.len());
    let directories = swept.iter().map(|one| {
        let collected = one.outcome.as_ref().ok();
        let removed = collected.into_iter().flat_map(|done| &done.gone);
        let removed = removed.map(|gone| SweptSnapshot {
            id: short(gone),
            commit: gone.id.to_string(),
            label: &gone.label,
            created: gone.created,
        });
        SweptDirectory {
            directory: one.directory.as_deref().map(path),
            path: path(&one.path),
            removed: removed.collect(),
            bytes: freed(one),
            kept: collected.map(|done| KeptSnapshots { snapshots: done.after.snapshots, bytes: done.after.bytes }),
            left: one.outcome.as_ref().err().map(ToString::to_string),
        }
    });
    SweptSnapshots {
        removed: swept.iter().map(gone).sum(),
        bytes: swept.iter().map(freed).sum(),
        directories: directories.collect(),
    }
}

/// A snapshot by the start of its commit, as people name it.
pub fn short(snapshot: &SnapshotInfo) -> String {
    snapshot.id.to_string().chars().take(12).collect()
}
