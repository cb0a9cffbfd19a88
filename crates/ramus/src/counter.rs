//! Which counter the budget of a model is kept with: the setting `token_counter`, and whether the model can be counted.

use std::sync::Arc;

use ramus_engine::settings::resolve_model;
use ramus_engine::{Engine, EngineError, Session};
use ramus_model::usage::ModelName;
use ramus_provider::Bpe;

use crate::invocation::Invocation;

/// The same, for the model that a session would go on with.
pub(crate) fn engine_of(invocation: &Invocation<'_>, session: &Session) -> anyhow::Result<Engine> {
    Ok(engine(invocation, &model_of(invocation, session)?)?)
}

/// The model that a session would go on with; one without a name when nobody says.
fn model_of(invocation: &Invocation<'_>, session: &Session) -> anyhow::Result<ModelName> {
    let state = session.context(session.log().leaf())?.state;
    let named = resolve_model(None, &state, "default", invocation.home.settings()).map(|chosen| chosen.value);
    let (provider, model) = named.as_deref().and_then(|name| name.split_once('/')).unwrap_or_default();
    Ok(ModelName { provider: provider.to_owned(), model: model.to_owned() })
}

/// Returns the engine that counts as the settings want it for this model.
pub(crate) fn engine(invocation: &Invocation<'_>, model: &ModelName) -> Result<Engine, EngineError> {
    let engine = invocation.engine.clone();
    let (wanted, _) = invocation.home.settings().get("token_counter")?;
    Ok(match Bpe::of(model).filter(|_| wanted == "bpe") {
        Some(bpe) => engine.with_counter(Arc::new(bpe)),
        None => engine,
    })
}
