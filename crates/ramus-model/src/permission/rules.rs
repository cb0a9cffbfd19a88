//! Rules as JSON: a list of rules as sessions store them, or the short form that people write. What is not exactly one of
//! them is an error, because a rule that is silently dropped may be the one that denies.

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Action, Rule};

/// Why rules could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// A rule of a list is not a rule.
    #[error("rule {index} is not {{permission, pattern, action}}: {reason}")]
    NotARule {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An action has another name.
    #[error("`{permission}` is {found}, which is not allow, ask or deny")]
    NotAnAction {
        /// The permission it was given for.
        permission: String,
        /// What stands there.
        found: String,
    },
    /// It is neither a list nor a table.
    #[error("permissions are a list of rules or a table, not {0}")]
    NotRules(String),
}

/// Reads rules. A list holds `{permission, pattern, action}`; in a table, `bash = "ask"` is short for a rule with the pattern
/// `*`, and a table in its place holds actions by pattern. Order counts and is kept.
pub fn rules_from_json(value: &Value) -> Result<Vec<Rule>, RuleError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => list.iter().enumerate().map(|(index, rule)| rule_from(index, rule)).collect(),
        Value::Object(table) => table_from(table),
        other => Err(RuleError::NotRules(other.to_string())),
    }
}

/// Writes rules as a list.
pub fn rules_to_json(rules: &[Rule]) -> Value {
    let rule = |rule: &Rule| serde_json::json!({"permission": rule.permission, "pattern": rule.pattern, "action": rule.action.to_string()});
    Value::Array(rules.iter().map(rule).collect())
}

fn rule_from(index: usize, value: &Value) -> Result<Rule, RuleError> {
    serde_json::from_value(value.clone()).map_err(|error| RuleError::NotARule { index, reason: error.to_string() })
}

fn table_from(table: &Map<String, Value>) -> Result<Vec<Rule>, RuleError> {
    let mut rules = Vec::new();
    for (permission, value) in table {
        match value {
            Value::Object(patterns) => {
                for (pattern, action) in patterns {
                    rules.push(Rule::new(permission, pattern, action_from(permission, action)?));
                }
            }
            action => rules.push(Rule::new(permission, "*", action_from(permission, action)?)),
        }
    }
    Ok(rules)
}

fn action_from(permission: &str, value: &Value) -> Result<Action, RuleError> {
    serde_json::from_value(value.clone())
        .map_err(|_| RuleError::NotAnAction { permission: permission.to_owned(), found: value.to_string() })
}
