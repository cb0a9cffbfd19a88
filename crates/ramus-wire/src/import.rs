//! What came in.

use ramus_engine::Imported;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// What came of an import, or would.
#[derive(Serialize, ToSchema)]
pub struct ImportedBundle<'i> {
    imported: Vec<ImportedSession<'i>>,
    skipped: Vec<SkippedSession<'i>>,
    /// Always empty: a bundle comes in as a whole.
    #[schema(value_type = Vec<String>)]
    failed: [&'i str; 0],
    /// How many snapshots came along.
    snapshots: usize,
    dry_run: bool,
}

/// A session that came in.
#[derive(Serialize, ToSchema)]
struct ImportedSession<'i> {
    id: &'i str,
    /// What it was read from.
    source: &'static str,
    /// What it is called where it comes from.
    origin: &'i str,
    entries: usize,
    branches: usize,
    /// Whether it was here before and has grown.
    extended: bool,
    /// Always empty: a bundle loses nothing.
    #[schema(value_type = Vec<String>)]
    lossy: [&'i str; 0],
}

/// A session that did not come in.
#[derive(Serialize, ToSchema)]
struct SkippedSession<'i> {
    id: &'i str,
    reason: &'static str,
}

/// What came of an import, or would.
pub fn imported(imported: &Imported, dry_run: bool) -> Map<String, Value> {
    let sessions = imported.imported.iter().map(|session| ImportedSession {
        id: session.id.as_str(),
        source: "ramus-bundle",
        origin: session.origin.as_str(),
        entries: session.entries,
        branches: session.branches,
        extended: session.extended,
        lossy: [],
    });
    let skipped = imported.skipped.iter().map(|(id, reason)| SkippedSession { id: id.as_str(), reason });
    object_of(&ImportedBundle {
        imported: sessions.collect(),
        skipped: skipped.collect(),
        failed: [],
        snapshots: imported.snapshots,
        dry_run,
    })
}
