//! The state along a path: models by role, thinking level, mode, injected rules. The last writer on the path wins.

use std::collections::BTreeMap;

use serde_json::Value;

use super::body;
use crate::id::Seq;
use crate::json::Raw;
use crate::kind::Kind;
use crate::log::{Lines, Log};

/// What holds at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The model of each role, as `provider/name`.
    pub models: BTreeMap<String, String>,
    /// The thinking level.
    pub thinking_level: String,
    /// The mode.
    pub mode: String,
    /// What came with the mode.
    pub mode_data: Option<Value>,
    /// The rules that were injected, each once, in order.
    pub rules: Vec<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            models: BTreeMap::new(),
            thinking_level: "off".to_owned(),
            mode: "none".to_owned(),
            mode_data: None,
            rules: Vec::new(),
        }
    }
}

/// Derives the state from the entries of `path` that can change it, which are `changes` in order.
pub(super) fn derive<L: Lines + ?Sized>(
    log: &Log,
    path: &[Seq],
    changes: &[Seq],
    lines: &L,
) -> Result<State, L::Error> {
    let mut state = State::default();
    for &seq in changes {
        let Some(record) = log.record(seq) else { continue };
        let line = body(log, seq, lines)?;
        let Some(raw) = Raw::parse(&line) else { continue };
        match record.kind {
            Kind::Message => {
                if let Some(model) = raw.field("message").and_then(answering_model) {
                    state.models.insert("default".to_owned(), model);
                } else if let Some(model) = earlier_answer(log, path, seq, lines)? {
                    state.models.insert("default".to_owned(), model);
                }
            }
            Kind::ModelChange => change_model(&mut state, raw),
            Kind::ThinkingLevelChange => {
                let level = raw.field("thinkingLevel").and_then(Raw::text);
                state.thinking_level = level.map_or_else(|| "off".to_owned(), |level| level.into_owned());
            }
            Kind::ModeChange => {
                let mode = raw.field("mode").and_then(Raw::text);
                state.mode = mode.map_or_else(|| "none".to_owned(), |mode| mode.into_owned());
                state.mode_data = raw.field("data").and_then(|data| serde_json::from_slice(data.bytes()).ok());
            }
            Kind::TtsrInjection => {
                for rule in raw.field("injectedRules").into_iter().flat_map(Raw::items).filter_map(Raw::text) {
                    if !state.rules.iter().any(|known| *known == rule) {
                        state.rules.push(rule.into_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(state)
}

/// The model an assistant message names.
fn answering_model(message: Raw<'_>) -> Option<String> {
    let provider = message.field("provider").and_then(Raw::text)?;
    let model = message.field("model").and_then(Raw::text)?;
    Some(format!("{provider}/{model}"))
}

/// An assistant message that names no model leaves the one before it, back to the last change, in force.
fn earlier_answer<L: Lines + ?Sized>(log: &Log, path: &[Seq], seq: Seq, lines: &L) -> Result<Option<String>, L::Error> {
    let before = path.iter().rev().skip_while(|other| **other != seq).skip(1);
    for &other in before {
        let Some(record) = log.record(other) else { continue };
        if record.kind == Kind::ModelChange {
            break;
        }
        if record.kind == Kind::Message && record.role == crate::kind::Role::Assistant {
            let line = body(log, other, lines)?;
            let message = Raw::parse(&line).and_then(|raw| raw.field("message"));
            if let Some(model) = message.and_then(answering_model) {
                return Ok(Some(model));
            }
        }
    }
    Ok(None)
}

/// Takes in a `model_change` of either dialect: `model`, or `provider` and `modelId`.
fn change_model(state: &mut State, raw: Raw<'_>) {
    let text = |name| raw.field(name).and_then(Raw::text).filter(|text| !text.is_empty());
    let model = match (text("model"), text("provider"), text("modelId")) {
        (Some(model), ..) => model.into_owned(),
        (None, Some(provider), Some(model)) => format!("{provider}/{model}"),
        _ => return,
    };
    let role = text("role").map_or_else(|| "default".to_owned(), |role| role.into_owned());
    state.models.insert(role, model);
}
