//! Options of every command that runs turns: who answers, and what it may do.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use ramus_engine::Session;
use ramus_engine::run::Run as Turn;
use ramus_model::request::Thinking;
use ramus_tools::Tool;

use super::said::Said;
use super::{equipment, person};
use crate::failure::Refusal;
use crate::invocation::Invocation;

/// What a turn is run with.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// The model, as PROVIDER/NAME
    #[arg(long, short, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// The provider, for a model that is named without one
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Allow, ask for or deny something: bash, edit, write, read, … or all
    #[arg(long, value_name = "NAME=ACTION")]
    permission: Vec<String>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// How much the model may think: off, minimal, low, medium, high or max
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<String>,
}

impl Options {
    /// Chooses who answers.
    pub(crate) fn chosen(&self, invocation: &Invocation<'_>, session: &Session) -> anyhow::Result<equipment::Chosen> {
        let named = match (&self.model, &self.provider) {
            (Some(model), Some(provider)) if !model.contains('/') => Some(format!("{provider}/{model}")),
            (model, _) => model.clone(),
        };
        equipment::model(invocation, session, named.as_deref(), self.script.as_deref())
    }

    /// Puts together what a turn is run with.
    pub(crate) fn turn(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        chosen: &equipment::Chosen,
        tools: Vec<Arc<dyn Tool>>,
        said: Said,
    ) -> anyhow::Result<Turn> {
        let thinking = match &self.thinking {
            Some(name) => Thinking::named(name).ok_or_else(|| {
                Refusal::usage(format!("{name:?} is no level of thinking"))
                    .hint("the levels are off, minimal, low, medium, high and max")
            })?,
            None => equipment::thinking(session)?,
        };
        Ok(Turn {
            prompt: said.text,
            pictures: said.pictures,
            facts: chosen.facts.clone(),
            model: chosen.model.clone(),
            system: equipment::system(session),
            tools,
            permissions: equipment::permissions(&self.permission)?,
            approvals: Vec::new(),
            asker: person::asker(invocation.screen.wants_json()),
            max_tokens: self.max_tokens,
            thinking,
            limits: ramus_agent::Limits::default(),
            prices: invocation.prices()?,
        })
    }
}
