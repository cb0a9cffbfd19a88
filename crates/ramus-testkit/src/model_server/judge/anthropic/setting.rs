//! Settings and tools of a request to Anthropic.

use serde_json::{Map, Value};

use super::illegal;
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::is_plain;
use crate::model_server::judge::tools::{Fault, Names, schema_fault};

/// The fewest tokens that a model can be given to think.
const FEWEST_TO_THINK: u64 = 1024;

/// Whether the model is to think, and who decides how much.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It is not.
    Off,
    /// It is, and its thoughts are part of every step.
    On,
    /// It thinks when it wants to.
    Adaptive,
}

/// Judges the settings, and returns whether the model is to think.
pub(super) fn judge(request: &Map<String, Value>) -> Result<Thinking, Illegal> {
    let limit = match request.get("max_tokens") {
        None => return illegal(Rule::Limit, "max_tokens: Field required"),
        Some(limit) => limit.as_u64().unwrap_or_default(),
    };
    if limit == 0 {
        return illegal(Rule::Limit, "max_tokens: Input should be greater than or equal to 1");
    }
    if request.get("stream").is_some_and(|stream| !stream.is_boolean()) {
        return illegal(Rule::Shape, "stream: Input should be a valid boolean");
    }
    if request.contains_key("tool_choice") && request.get("tools").is_none() {
        return illegal(Rule::Setting, "tool_choice: may only be specified while providing tools");
    }
    let thinking = thinking(request, limit)?;
    if thinking == Thinking::Off {
        return Ok(thinking);
    }
    if request.get("temperature").is_some_and(|temperature| temperature.as_f64() != Some(1.0)) {
        let message = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.";
        return illegal(Rule::Setting, message);
    }
    let choice = request.get("tool_choice").and_then(|choice| choice.get("type")).and_then(Value::as_str);
    if matches!(choice, Some("any" | "tool")) {
        return illegal(Rule::Setting, "Thinking may not be enabled when tool_choice forces tool use.");
    }
    Ok(thinking)
}

fn thinking(request: &Map<String, Value>, limit: u64) -> Result<Thinking, Illegal> {
    let Some(thinking) = request.get("thinking") else {
        return Ok(Thinking::Off);
    };
    match thinking.get("type").and_then(Value::as_str) {
        Some("disabled") => Ok(Thinking::Off),
        Some("adaptive") => Ok(Thinking::Adaptive),
        Some("enabled") => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
            if budget < FEWEST_TO_THINK {
                let message = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
                return illegal(Rule::Setting, message);
            }
            if budget >= limit {
                return illegal(Rule::Setting, "`max_tokens` must be greater than `thinking.budget_tokens`.");
            }
            Ok(Thinking::On)
        }
        _ => illegal(Rule::Setting, "thinking.type: Input should be 'enabled', 'disabled' or 'adaptive'"),
    }
}

/// Judges the tools.
pub(super) fn tools(request: &Map<String, Value>) -> Result<(), Illegal> {
    let tools = match request.get("tools") {
        None => return Ok(()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return illegal(Rule::Shape, "tools: Input should be a valid list"),
    };
    let mut names = Names::default();
    for (index, tool) in tools.iter().enumerate() {
        let path = format!("tools.{index}.custom");
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if !is_plain(name, 64) {
            let message = format!("{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'");
            return illegal(Rule::ToolName, message);
        }
        if !names.admit(name) {
            return illegal(Rule::ToolTwice, "tools: Tool names must be unique.");
        }
        let schema = format!("{path}.input_schema");
        let message = match schema_fault(tool.get("input_schema")) {
            None => continue,
            Some(Fault::NotObject) => format!("{schema}.type: Input should be 'object'"),
            Some(Fault::Combined) => {
                format!("{schema}: input_schema does not support oneOf, allOf, or anyOf at the top level")
            }
            Some(Fault::List(path)) => {
                format!("{schema}: JSON schema is invalid: {path} is an array without items")
            }
        };
        return illegal(Rule::ToolSchema, message);
    }
    Ok(())
}
