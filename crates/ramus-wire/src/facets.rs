//! What a list of sessions can be narrowed to.

use ramus_engine::{Facet, Facets};
use serde_json::{Map, Value, json};

use crate::members;

/// Agents, projects and tags, each with a number of sessions.
pub fn facets(facets: &Facets) -> Map<String, Value> {
    members(json!({
        "agents": counted(&facets.agents),
        "projects": counted(&facets.projects),
        "tags": counted(&facets.tags),
    }))
}

fn counted(facets: &[Facet]) -> Vec<Value> {
    facets.iter().map(|facet| json!({"name": facet.name, "sessions": facet.sessions})).collect()
}
