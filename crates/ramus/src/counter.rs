//! Which counter the budget of a model is kept with: the setting `token_counter`, and whether the model can be counted.

use std::sync::Arc;

use ramus_engine::{Engine, EngineError};
use ramus_model::usage::ModelName;
use ramus_provider::Bpe;

use crate::invocation::Invocation;

/// Returns the engine that counts as the settings want it for this model.
pub(crate) fn engine(invocation: &Invocation<'_>, model: &ModelName) -> Result<Engine, EngineError> {
    let engine = invocation.engine.clone();
    let (wanted, _) = invocation.home.settings().get("token_counter")?;
    Ok(match Bpe::of(model).filter(|_| wanted == "bpe") {
        Some(bpe) => engine.with_counter(Arc::new(bpe)),
        None => engine,
    })
}
