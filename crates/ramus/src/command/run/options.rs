//! Options of every command that runs turns: who answers, and what it may do.

use std::path::PathBuf;

use clap::Args;
use ramus_client::Order;

use super::equipment::{Choices, Script};

/// What a turn is run with.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// The agent that answers: build, plan, or one of the settings [default: the one the session had last]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model, as PROVIDER/NAME
    #[arg(long, short, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// The provider, for a model that is named without one
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Allow, ask for or deny something: NAME=ACTION or NAME:PATTERN=ACTION, where NAME is bash, edit, … or all
    #[arg(long, value_name = "RULE")]
    permission: Vec<String>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// How much the model may think: off, minimal, low, medium, high or max
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<String>,
}

impl Options {
    /// Returns what a server is told, without a script. `asks` says whether someone here answers what the turn asks.
    pub(crate) fn order(&self, asks: bool) -> Order {
        let model = match (&self.model, &self.provider) {
            (Some(model), Some(provider)) if !model.contains('/') => Some(format!("{provider}/{model}")),
            (model, _) => model.clone(),
        };
        Order {
            model,
            agent: self.agent.clone(),
            permission: self.permission.clone(),
            max_tokens: self.max_tokens,
            thinking: self.thinking.clone(),
            ask: Some(asks),
            ..Order::default()
        }
    }

    /// Returns what was chosen.
    pub(crate) fn choices(&self) -> Choices<'_> {
        Choices {
            agent: self.agent.as_deref(),
            model: self.model.as_deref(),
            provider: self.provider.as_deref(),
            script: self.script.as_deref().map(Script::File),
            permission: &self.permission,
            max_tokens: self.max_tokens,
            thinking: self.thinking.as_deref(),
        }
    }
}
