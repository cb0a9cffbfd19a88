//! `facets`: what a list of sessions can be narrowed to.

use std::collections::BTreeMap;

pub use ramus_catalogue::Facet;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project;

/// What a list can be narrowed to, in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// The agents that sessions came from; [`NATIVE`](crate::NATIVE) for those that began here.
    pub agents: Vec<Facet>,
    /// The projects, recorded or found around the directories.
    pub projects: Vec<Facet>,
    /// The tags.
    pub tags: Vec<Facet>,
}

impl Engine {
    /// Counts the sessions of an owner, or of all, by what a list can be narrowed to. Archived sessions and drafts count.
    pub fn facets(&self, owner: Option<&str>) -> Result<Facets, EngineError> {
        let found = self.consult(&mut |held, _| Ok(held.facets(owner)?))?;
        let mut projects: BTreeMap<String, u64> = BTreeMap::new();
        for Facet { name, sessions } in found.projects {
            *projects.entry(name).or_default() += sessions;
        }
        for Facet { name, sessions } in found.directories {
            if let Some(project) = project::find(&name) {
                *projects.entry(project.name().to_owned()).or_default() += sessions;
            }
        }
        let projects = projects.into_iter().map(|(name, sessions)| Facet { name, sessions }).collect();
        Ok(Facets { agents: found.agents, projects, tags: found.tags })
    }
}
