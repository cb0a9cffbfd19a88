//! Which model and which provider: the call, the path, the user's settings, the defaults. Absent means ask the next.

use std::fmt;

use ramus_model::context::State;

use super::{Layer, Settings};

/// Where a choice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The call named it.
    Call,
    /// The last change, or answer, on the path.
    Path,
    /// A setting.
    Setting(Layer),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => f.write_str("call"),
            Self::Path => f.write_str("path"),
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
