//! What tools made.

use ramus_engine::Artifact;
use ramus_model::SessionId;
use serde_json::{Map, Value, json};

use crate::members;

/// What tools made on a path, newest first.
pub fn list(session: &SessionId, artifacts: &[Artifact]) -> Map<String, Value> {
    let told: Vec<Value> = artifacts.iter().map(one).collect();
    members(json!({"session": session.as_str(), "artifacts": told}))
}

fn one(artifact: &Artifact) -> Value {
    let mut told = members(artifact.artifact.clone());
    told.insert("entry".into(), artifact.entry.as_str().into());
    told.insert("call".into(), artifact.call.as_str().into());
    told.insert("tool".into(), artifact.tool.as_str().into());
    Value::Object(told)
}
