//! What other agents keep on this machine, and taking it in.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ramus_engine::{ForeignFailure, ForeignImported, ForeignProgress, ForeignStore};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, path};

/// What other agents keep, and the import.
#[derive(Serialize, ToSchema)]
pub struct ForeignSessions {
    found: Vec<FoundSessions>,
    /// How far an import has come.
    #[schema(value_type = ImportProgress)]
    import: Map<String, Value>,
}

/// What an agent keeps.
#[derive(Serialize, ToSchema)]
struct FoundSessions {
    agent: &'static str,
    files: usize,
    bytes: u64,
}

/// What other agents keep, by agent, and how far an import has come.
pub fn found(stores: &[ForeignStore], import: Map<String, Value>) -> Map<String, Value> {
    let mut agents: BTreeMap<&'static str, (usize, u64)> = BTreeMap::new();
    for store in stores.iter().filter(|store| store.files() > 0) {
        let name = store.format.map_or("files", ramus_interchange::Format::name);
        let (files, bytes) = agents.entry(name).or_default();
        *files += store.files();
        *bytes += store.bytes();
    }
    let found = agents.into_iter().map(|(agent, (files, bytes))| FoundSessions { agent, files, bytes }).collect();
    object_of(&ForeignSessions { found, import })
}

/// An import that was started.
#[derive(Serialize, ToSchema)]
pub struct StartedImport {
    /// How far it has come.
    #[schema(value_type = ImportProgress)]
    import: Map<String, Value>,
}

/// An import that was started.
pub fn started(import: Map<String, Value>) -> Map<String, Value> {
    object_of(&StartedImport { import })
}

/// How far an import has come.
#[derive(Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
enum ImportProgress<'i> {
    /// There was none.
    None,
    /// It runs.
    Running { files: usize, of_files: usize, bytes: u64, of_bytes: u64 },
    /// It is over.
    Ended {
        /// How many sessions are new.
        imported: usize,
        /// How many sessions have grown.
        grown: usize,
        /// How many sessions are as they were.
        unchanged: usize,
        failed: Vec<FailedImport<'i>>,
    },
    /// It could not be done.
    Failed { reason: String },
}

/// A file that could not be taken in.
#[derive(Serialize, ToSchema)]
struct FailedImport<'i> {
    file: Cow<'i, str>,
    /// Whose it is, as far as that is known.
    #[schema(required)]
    agent: Option<&'static str>,
    reason: &'i str,
}

impl<'i> From<&'i ForeignFailure> for FailedImport<'i> {
    fn from(failure: &'i ForeignFailure) -> Self {
        Self { file: path(&failure.file), agent: failure.agent, reason: &failure.reason }
    }
}

/// There was no import.
pub fn never() -> Map<String, Value> {
    object_of(&ImportProgress::None)
}

/// An import runs.
pub fn running(progress: &ForeignProgress) -> Map<String, Value> {
    object_of(&ImportProgress::Running {
        files: progress.sources,
        of_files: progress.of_sources,
        bytes: progress.bytes,
        of_bytes: progress.of_bytes,
    })
}

/// An import is over.
pub fn ended(done: &ForeignImported) -> Map<String, Value> {
    object_of(&ImportProgress::Ended {
        imported: done.imported.len(),
        grown: done.grown.len(),
        unchanged: done.unchanged,
        failed: done.failed.iter().map(FailedImport::from).collect(),
    })
}

/// An import could not be done.
pub fn failed(reason: String) -> Map<String, Value> {
    object_of(&ImportProgress::Failed { reason })
}
