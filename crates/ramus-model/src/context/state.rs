//! The state along a path: models by role, thinking level, mode, injected rules. The last writer on the path wins.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body;
use crate::id::Seq;
use crate::json::Raw;
use crate::kind::{Kind, Role};
use crate::log::{Lines, Log};

/// What holds at the end of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Derives the state from what held before and the entries of a path that can change it, which are `changes` in order.
///
/// Of a run of answers `changes` names only the last; when that one names no model, `path` has the ones before it.
pub(super) fn derive<L: Lines + ?Sized>(
    log: &Log,
    before: State,
    changes: &[Seq],
    path: &[Seq],
    lines: &L,
) -> Result<State, L::Error> {
    let mut state = before;
    let mut known: HashSet<String> = state.rules.iter().cloned().collect();
    // Where on the path the run of answers before a change began: what lies before it was looked at already.
    let mut run_start = 0;
    for &seq in changes {
        let Some(record) = log.record(seq) else { continue };
        if record.kind == Kind::Message {
            let end =
                run_start + path.get(run_start..).unwrap_or_default().iter().take_while(|other| **other != seq).count();
            if let Some(model) = last_model(log, path.get(run_start..=end).unwrap_or_default(), lines)? {
                state.models.insert("default".to_owned(), model);
            }
            run_start = end + 1;
            continue;
        }
        let line = body(log, seq, lines)?;
        let Some(raw) = Raw::parse(&line) else { continue };
        match record.kind {
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
                    if known.insert(rule.to_string()) {
                        state.rules.push(rule.into_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(state)
}

/// The model that the last answer which names one names, in a stretch of a path.
fn last_model<L: Lines + ?Sized>(log: &Log, stretch: &[Seq], lines: &L) -> Result<Option<String>, L::Error> {
    for &seq in stretch.iter().rev() {
        if log.record(seq).is_none_or(|record| record.role != Role::Assistant) {
            continue;
        }
        let line = body(log, seq, lines)?;
        let message = Raw::parse(&line).and_then(|raw| raw.field("message"));
        if let Some(model) = message.and_then(answering_model) {
            return Ok(Some(model));
        }
    }
    Ok(None)
}

/// The model an assistant message names. Agents that do not record who answered leave it empty.
fn answering_model(message: Raw<'_>) -> Option<String> {
    let text = |name| message.field(name).and_then(Raw::text).filter(|text| !text.is_empty());
    let model = text("model")?;
    Some(match text("provider") {
        Some(provider) => format!("{provider}/{model}"),
        None => model.into_owned(),
    })
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
