//! What tools made.

use ramus_engine::Artifact;
use ramus_model::SessionId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{members, object_of};

/// What tools made on a path.
#[derive(Serialize, ToSchema)]
pub struct Artifacts<'a> {
    session: &'a str,
    /// Newest first.
    #[schema(value_type = Vec<MadeArtifact>)]
    artifacts: Vec<Map<String, Value>>,
}

/// Something that a tool made: what the tool tells of it, and where that is stored.
#[derive(ToSchema)]
pub struct MadeArtifact {
    /// The entry that tells of it.
    pub entry: String,
    /// The call that made it.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the tool tells, whatever that is: `type`, `name`, `url` and others.
    #[serde(flatten)]
    pub told: Map<String, Value>,
}

/// What tools made on a path, newest first.
pub fn list(session: &SessionId, artifacts: &[Artifact]) -> Map<String, Value> {
    object_of(&Artifacts { session: session.as_str(), artifacts: artifacts.iter().map(one).collect() })
}

fn one(artifact: &Artifact) -> Map<String, Value> {
    // A tool may tell members of these names too. They are told once, where they stand.
    let mut told = members(artifact.artifact.clone());
    told.insert("entry".into(), artifact.entry.as_str().into());
    told.insert("call".into(), artifact.call.as_str().into());
    told.insert("tool".into(), artifact.tool.as_str().into());
    told
}
