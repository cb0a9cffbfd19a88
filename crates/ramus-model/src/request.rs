//! What a model is asked: one request, in no provider's words. It can be asked as it is: its messages are repaired.

use serde_json::Value;

use crate::context::provider::Outgoing;
use crate::usage::ModelName;

/// One request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Which model is asked.
    pub model: ModelName,
    /// Instructions that precede everything; empty when there are none.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Outgoing>,
    /// The tools that the model may call.
    pub tools: Vec<ToolDefinition>,
    /// The most tokens of the answer; none leaves it to the provider.
    pub max_tokens: Option<u64>,
    /// How much the model may think first.
    pub thinking: Thinking,
    /// What requests that share a beginning have in common, for providers that keep caches by name.
    pub cache_key: Option<String>,
}

/// A tool as a model is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// A JSON Schema of its arguments: always an object.
    pub parameters: Value,
}

/// How much a model may think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thinking {
    /// Not at all.
    #[default]
    Off,
    /// As little as the model can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
    /// As much as the model can.
    Max,
}

impl Thinking {
    /// Finds a level by its name in the log or the settings.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "off" | "none" => Self::Off,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "max" | "xhigh" => Self::Max,
            _ => return None,
        })
    }

    /// Returns its name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "xhigh",
        }
    }
}
