//! Which model and which provider: the call, the path, the agent, the user's settings, the defaults. Absent means ask the
//! next.

use std::fmt;

use ramus_model::context::State;

use super::{Agent, Layer, Settings};

/// Where a choice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The call named it.
    Call,
    /// The last change, or answer, on the path.
    Path,
    /// The agent's definition.
    Agent,
    /// A setting.
    Setting(Layer),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => f.write_str("call"),
            Self::Path => f.write_str("path"),
            Self::Agent => f.write_str("agent"),
            Self::Setting(layer) => write!(f, "setting ({layer})"),
        }
    }
}

/// A choice and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The choice.
    pub value: String,
    /// Where it comes from.
    pub source: Source,
}

/// Chooses the model for a role. Going back to an old branch restores its model, because its path names it.
pub fn resolve_model(call: Option<&str>, state: &State, role: &str, settings: &Settings) -> Option<Resolved> {
    let found = |value: &str, source| Some(Resolved { value: value.to_owned(), source });
    if let Some(model) = call.filter(|model| !model.is_empty()) {
        return found(model, Source::Call);
    }
    if let Some(model) = state.models.get(role).or_else(|| state.models.get("default")) {
        return found(model, Source::Path);
    }
    settings.value("default_model").and_then(|(model, layer)| found(model, Source::Setting(layer)))
}

/// Chooses the model of an agent: as [`resolve_model`] does, but with what the agent says in front of the settings. An agent
/// that only now takes over, `takes_over`, goes by its own model before the one of whoever was there before.
pub fn choose_model(
    call: Option<&str>,
    state: &State,
    agent: &Agent,
    takes_over: bool,
    settings: &Settings,
) -> Option<Resolved> {
    let own = agent.model.as_ref().map(|model| Resolved { value: model.clone(), source: Source::Agent });
    match resolve_model(call, state, "default", settings) {
        Some(found) if found.source == Source::Call => Some(found),
        Some(found) if found.source == Source::Path && !(takes_over && own.is_some()) => Some(found),
        found => own.or(found),
    }
}

/// Chooses the provider: named by the call, part of the model, or a setting.
pub fn resolve_provider(call: Option<&str>, model: Option<&Resolved>, settings: &Settings) -> Option<Resolved> {
    if let Some(provider) = call.filter(|provider| !provider.is_empty()) {
        return Some(Resolved { value: provider.to_owned(), source: Source::Call });
    }
    if let Some(model) = model
        && let Some((provider, _)) = model.value.split_once('/')
    {
        return Some(Resolved { value: provider.to_owned(), source: model.source });
    }
    let (provider, layer) = settings.value("default_provider")?;
    Some(Resolved { value: provider.to_owned(), source: Source::Setting(layer) })
}
