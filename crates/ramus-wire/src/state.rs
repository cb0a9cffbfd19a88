//! What holds at the end of a path.

use std::collections::BTreeMap;

use ramus_engine::Session;
use ramus_engine::settings::Resolved;
use ramus_model::Seq;
use ramus_model::context::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// What the path says: models, mode and rules.
#[derive(Serialize, ToSchema)]
pub struct PathState<'s> {
    /// The model of each role, as `provider/name`.
    models: &'s BTreeMap<String, String>,
    thinking_level: &'s str,
    mode: &'s str,
    /// What came with the mode, whatever that is; null when nothing did.
    #[schema(required)]
    mode_data: Option<&'s Value>,
    /// The rules that were injected, each once, in order.
    rules: &'s [String],
}

impl<'s> From<&'s State> for PathState<'s> {
    fn from(state: &'s State) -> Self {
        Self {
            models: &state.models,
            thinking_level: &state.thinking_level,
            mode: &state.mode,
            mode_data: state.mode_data.as_ref(),
            rules: &state.rules,
        }
    }
}

/// What holds at an entry.
#[derive(Serialize, ToSchema)]
pub struct SessionState<'s> {
    session: &'s str,
    /// The entry; null when the next one is a root.
    #[schema(required)]
    leaf: Option<String>,
    /// The role that the model is asked for.
    role: &'s str,
    /// Which model would be asked; null when none is chosen.
    #[schema(required)]
    model: Option<Choice<'s>>,
    /// Which provider would be asked; null when none is chosen.
    #[schema(required)]
    provider: Option<Choice<'s>>,
    #[serde(flatten)]
    state: PathState<'s>,
}

/// A choice, and where it comes from.
#[derive(Serialize, ToSchema)]
struct Choice<'s> {
    value: &'s str,
    /// `call`, `path`, `agent`, or `setting (…)`.
    source: String,
}

impl<'s> From<&'s Resolved> for Choice<'s> {
    fn from(resolved: &'s Resolved) -> Self {
        Self { value: &resolved.value, source: resolved.source.to_string() }
    }
}

/// What holds at an entry, and the model that a role has there.
pub fn state(
    (session, leaf): (&Session, Option<Seq>),
    role: &str,
    (model, provider): (Option<&Resolved>, Option<&Resolved>),
    state: &State,
) -> Map<String, Value> {
    object_of(&SessionState {
        session: session.id().as_str(),
        leaf: leaf.map(|leaf| session.entry_id(leaf).to_string()),
        role,
        model: model.map(Choice::from),
        provider: provider.map(Choice::from),
        state: state.into(),
    })
}
