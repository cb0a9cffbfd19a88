//! `state`: what holds at the end of a path, and where each choice comes from.

use clap::Args;
use ramus_engine::settings::{Resolved, resolve_model, resolve_provider};
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json, style};

const EXAMPLES: &str = "\
The model is the one the call names, else the last one on the path, else the setting `default_model`. Going back to an \
old branch brings its model back.

Examples:
  ramus state last
  ramus state 0190@start
  ramus state 0190 --role smol";

/// Show model, thinking level, mode and rules, and where they come from
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct State {
    /// The session, and where its path ends; the leaf when no entry is named
    #[arg(value_name = "SESSION[@ENTRY]")]
    target: String,
    /// The role to choose a model for
    #[arg(long, default_value = "default")]
    role: String,
    /// Choose as if a call named this model
    #[arg(long, value_name = "P/M")]
    model: Option<String>,
    /// Choose as if a call named this provider
    #[arg(long, value_name = "P")]
    provider: Option<String>,
}

impl State {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let (id, entry) = remote.target(&self.target)?;
                let request = remote.get(&["sessions", &id, "state"]).maybe("entry", entry).query("role", &self.role);
                remote.answer(request.maybe("model", self.model.as_ref()).maybe("provider", self.provider.as_ref()))?
            }
            None => self.answer(invocation)?,
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        let mut row = |name: &str, value: &str, source: &str| {
            text.padded(style::DIM, name, 10).plain("  ").plain(value);
            if !source.is_empty() {
                text.styled(style::DIM, &format!("  from {source}"));
            }
            text.end();
        };
        for name in ["model", "provider"] {
            match answer.get(name).filter(|resolved| !resolved.is_null()) {
                Some(resolved) => row(name, resolved.word("value"), resolved.word("source")),
                None => row(name, "none", ""),
            }
        }
        let models = answer.get("models").and_then(Value::as_object).into_iter().flatten();
        for (role, model) in models.filter(|(role, _)| **role != self.role) {
            row("", &format!("{role}: {}", model.as_str().unwrap_or_default()), "path");
        }
        row("thinking", answer.word("thinking_level"), "");
        row("mode", answer.word("mode"), "");
        let rules = answer.words("rules");
        row("rules", if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }.as_str(), "");
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }

    fn answer(&self, invocation: &Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let turn = invocation.turn(&self.target)?;
        let state = &turn.context().state;
        let settings = invocation.home.settings();
        let model = resolve_model(self.model.as_deref(), state, &self.role, settings);
        let provider = resolve_provider(self.provider.as_deref(), model.as_ref(), settings);
        Ok(json::members(json!({
            "session": turn.id().as_str(),
            "leaf": turn.leaf().map(|leaf| leaf.to_string()),
            "role": self.role,
            "model": resolved_json(model.as_ref()),
            "provider": resolved_json(provider.as_ref()),
            "models": state.models,
            "thinking_level": state.thinking_level,
            "mode": state.mode,
            "mode_data": state.mode_data,
            "rules": state.rules,
        })))
    }
}

fn resolved_json(resolved: Option<&Resolved>) -> Value {
    resolved.map_or(Value::Null, |resolved| json!({"value": resolved.value, "source": resolved.source.to_string()}))
}
