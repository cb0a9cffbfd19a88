//! What a home takes on disk.

use std::borrow::Cow;

use ramus_engine::DiskReport;
use ramus_store::Tally;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, path};

/// What a home takes on disk.
#[derive(Serialize, ToSchema)]
pub struct DiskUse<'d> {
    /// All of it.
    bytes: u64,
    /// By what it is, with what is in the trash as `trash`.
    #[schema(value_type = std::collections::BTreeMap<String, DiskPart>)]
    parts: Map<String, Value>,
    /// The directories whose snapshots are kept.
    directories: Vec<DirectoryUse<'d>>,
    /// The workspaces that were made for sessions.
    workspaces: Vec<WorkspaceUse<'d>>,
}

/// Files, and what they take.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiskPart {
    files: u64,
    bytes: u64,
}

impl From<&Tally> for DiskPart {
    fn from(tally: &Tally) -> Self {
        Self { files: tally.count, bytes: tally.bytes }
    }
}

/// A directory whose snapshots are kept.
#[derive(Serialize, ToSchema)]
struct DirectoryUse<'d> {
    /// The directory; null when that is not known.
    #[schema(required)]
    directory: Option<Cow<'d, str>>,
    /// Whether it is still there.
    exists: bool,
    /// Where its snapshots are kept.
    path: Cow<'d, str>,
    /// How many there are; null when they cannot be read.
    #[schema(required)]
    snapshots: Option<u64>,
    /// What they take; null when they cannot be read.
    #[schema(required)]
    bytes: Option<u64>,
}

/// A workspace that was made for a session.
#[derive(Serialize, ToSchema)]
struct WorkspaceUse<'d> {
    session: &'d str,
    path: Cow<'d, str>,
    files: u64,
    bytes: u64,
}

impl<'d> From<&'d DiskReport> for DiskUse<'d> {
    fn from(report: &'d DiskReport) -> Self {
        let part = |name: &str, tally: &Tally| (name.to_owned(), object_of(&DiskPart::from(tally)).into());
        let parts = report.parts.iter().map(|(name, tally)| part(name, tally));
        let directories = report.directories.iter().map(|one| DirectoryUse {
            directory: one.directory.as_deref().map(path),
            exists: one.is_there,
            path: path(&one.path),
            snapshots: one.usage.map(|usage| usage.snapshots),
            bytes: one.usage.map(|usage| usage.bytes),
        });
        let workspaces = report.workspaces.iter().map(|one| WorkspaceUse {
            session: &one.session,
            path: path(&one.path),
            files: one.tally.count,
            bytes: one.tally.bytes,
        });
        Self {
            bytes: report.bytes(),
            parts: parts.chain([part("trash", &report.trash)]).collect(),
            directories: directories.collect(),
            workspaces: workspaces.collect(),
        }
    }
}

/// The report of `doctor` and `gc`.
pub fn report(report: &DiskReport) -> Value {
    object_of(&DiskUse::from(report)).into()
}
