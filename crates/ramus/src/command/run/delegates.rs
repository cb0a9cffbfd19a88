//! Whom a model can give work to: the agents of the settings.

use ramus_engine::run::Delegate;
use ramus_engine::settings::Settings;

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
