//! Settings and tools of a request to Gemini. `parameters` is Google's own subset of a schema; `parametersJsonSchema` is
//! JSON Schema.

use serde_json::{Map, Value};

use super::{illegal, known, member};
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::tools::{Names, schema_fault};

/// Members of a schema in `parameters`.
const SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// Judges the settings.
pub(super) fn judge(request: &Map<String, Value>) -> Result<(), Illegal> {
    let Some(config) = member(request, "generationConfig") else {
        return Ok(());
    };
    let Some(config) = config.as_object() else {
        return illegal(Rule::Shape, "Invalid value at 'generation_config': expected an object");
    };
    if let Some(limit) = member(config, "maxOutputTokens")
        && limit.as_u64().is_none_or(|limit| limit == 0)
    {
        let message =
            "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n";
        return illegal(Rule::Limit, message);
    }
    if let Some(thinking) = member(config, "thinkingConfig") {
        let Some(thinking) = thinking.as_object() else {
            return illegal(Rule::Shape, "Invalid value at 'generation_config.thinking_config': expected an object");
        };
        known(thinking, &["includeThoughts", "thinkingBudget", "thinkingLevel"], "generation_config.thinking_config")?;
        if member(thinking, "thinkingBudget").is_some() && member(thinking, "thinkingLevel").is_some() {
            return illegal(Rule::Setting, "You can only set only one of thinking budget and thinking level.");
        }
    }
    Ok(())
}

/// Judges the tools.
pub(super) fn tools(request: &Map<String, Value>) -> Result<(), Illegal> {
    let tools = match member(request, "tools") {
        None => return Ok(()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return illegal(Rule::Shape, "Invalid value at 'tools': expected a list"),
    };
    let mut names = Names::default();
    for (index, tool) in tools.iter().enumerate() {
        let declarations = tool.as_object().and_then(|tool| member(tool, "functionDeclarations"));
        let Some(declarations) = declarations.and_then(Value::as_array) else {
            return illegal(
                Rule::Shape,
                format!("Invalid value at 'tools[{index}]': only function_declarations are served"),
            );
        };
        for (number, declaration) in declarations.iter().enumerate() {
            let path = format!("tools[{index}].function_declarations[{number}]");
            let Some(declaration) = declaration.as_object() else {
                return illegal(Rule::Shape, format!("Invalid value at '{path}': expected an object"));
            };
            let name = declaration.get("name").and_then(Value::as_str).unwrap_or_default();
            if !is_name(name) {
                let message = format!(
                    "* GenerateContentRequest.{path}.name: Invalid function name. Must start with a letter or an underscore. \
                     Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum \
                     length of 64.\n"
                );
                return illegal(Rule::ToolName, message);
            }
            if !names.admit(name) {
                return illegal(Rule::ToolTwice, format!("Duplicate function declaration found: {name}"));
            }
            schema(&path, declaration)?;
        }
    }
    Ok(())
}

/// Returns whether a function can be called that.
pub(super) fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

/// Judges how a declaration describes its arguments; a function without arguments need not.
fn schema(path: &str, declaration: &Map<String, Value>) -> Result<(), Illegal> {
    let wrong = |path: &str| {
        illegal(Rule::ToolSchema, format!("* GenerateContentRequest.{path}: schema must be of an OBJECT\n"))
    };
    match (member(declaration, "parameters"), member(declaration, "parametersJsonSchema")) {
        (None, None) => Ok(()),
        (Some(_), Some(_)) => {
            let message = format!("{path}: parameters and parameters_json_schema must not both be set");
            illegal(Rule::ToolSchema, message)
        }
        (None, Some(schema)) if schema_fault(Some(schema)).is_none() => Ok(()),
        (None, Some(_)) => wrong(&format!("{path}.parameters_json_schema")),
        (Some(schema), None) => {
            let path = format!("{path}.parameters");
            let is_object =
                schema.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("object"));
            if is_object { google_schema(path, schema) } else { wrong(&path) }
        }
    }
}

/// Walks through a schema of Google's own kind.
fn google_schema(path: String, schema: &Value) -> Result<(), Illegal> {
    let mut open = vec![(path, schema)];
    while let Some((path, schema)) = open.pop() {
        let Some(object) = schema.as_object() else {
            return illegal(Rule::ToolSchema, format!("Invalid value at '{path}': expected an object"));
        };
        known(object, SCHEMA, &path).map_err(|error| Illegal { rule: Rule::ToolSchema, ..error })?;
        let kind = object.get("type").and_then(Value::as_str);
        if kind.is_none() && !object.contains_key("anyOf") {
            return illegal(Rule::ToolSchema, format!("* GenerateContentRequest.{path}.type: must be specified\n"));
        }
        let is_list = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
        if is_list && !object.contains_key("items") {
            return illegal(Rule::ToolSchema, format!("* GenerateContentRequest.{path}.items: missing field.\n"));
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            open.extend(properties.iter().map(|(name, value)| (format!("{path}.properties[{name}]"), value)));
        }
        open.extend(object.get("items").map(|items| (format!("{path}.items"), items)));
        let choices = object.get("anyOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        open.extend(choices.iter().map(|choice| (format!("{path}.any_of"), choice)));
    }
    Ok(())
}
