//! Whom a model can give work to: the agents of the settings; and where they can work apart.

use std::sync::Arc;

use ramus_engine::run::{Apart, Delegate};
use ramus_engine::settings::Settings;

use super::equipment;
use crate::home::Home;

/// Agents that have work of their own: one answers the person, the other writes summaries.
const APART: [&str; 2] = ["build", "compaction"];

/// The agents that can be given work.
pub(crate) fn of(settings: &Settings) -> Vec<Delegate> {
    let agents = settings.agents().into_iter().filter(|agent| !APART.contains(&agent.name.as_str()));
    agents
        .map(|agent| Delegate {
            permissions: agent.own_permissions(settings),
            tools: agent.tools().map(<[String]>::to_vec),
            name: agent.name,
            description: agent.description,
            prompt: agent.prompt,
        })
        .collect()
}

/// Where children get copies of a directory: in the user's cache. None when the user has no home.
pub(crate) fn apart(home: &Home) -> Option<Apart> {
    let storage = std::env::home_dir()?.join(".cache").join("ramus").join("children");
    let home = home.root().to_owned();
    let equip = move |cwd: &std::path::Path, session: &str| {
        equipment::tools_in(cwd, &home, session).map_err(|error| format!("{error:#}"))
    };
    Some(Apart { storage, equip: Arc::new(equip) })
}
