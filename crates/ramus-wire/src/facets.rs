//! What a list of sessions can be narrowed to.

use ramus_engine::{Facet, Facets};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// What a list of sessions can be narrowed to.
#[derive(Serialize, ToSchema)]
pub struct SessionFacets<'f> {
    agents: Vec<CountedFacet<'f>>,
    projects: Vec<CountedFacet<'f>>,
    tags: Vec<CountedFacet<'f>>,
}

/// An agent, a project or a tag.
#[derive(Serialize, ToSchema)]
struct CountedFacet<'f> {
    name: &'f str,
    /// How many there are.
    sessions: u64,
}

/// Agents, projects and tags, each with a number of sessions.
pub fn facets(facets: &Facets) -> Map<String, Value> {
    object_of(&SessionFacets {
        agents: counted(&facets.agents),
        projects: counted(&facets.projects),
        tags: counted(&facets.tags),
    })
}

fn counted(facets: &[Facet]) -> Vec<CountedFacet<'_>> {
    facets.iter().map(|facet| CountedFacet { name: &facet.name, sessions: facet.sessions }).collect()
}
