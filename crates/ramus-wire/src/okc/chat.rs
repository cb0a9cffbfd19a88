//! What a chat is answered.

use ramus_model::time;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{HistoryNode, WorkspaceState};
use crate::usage::TokenCounts;

/// The answer, what tools did and made, and how session and workspace are now.
#[derive(Serialize, ToSchema)]
pub struct ChatReply<'c> {
    /// What the model says, or what went wrong.
    pub reply: String,
    /// Why the turn failed; null when it did not.
    #[schema(required)]
    pub error: Option<&'c str>,
    /// What is known of the turn.
    pub meta: ChatMeta<'c>,
    /// The newest page that was made.
    #[schema(required)]
    pub web_preview: Option<WebPreview<'c>>,
    /// The newest slides that were made, as the tool was given them.
    #[schema(value_type = Vec<Value>)]
    pub ppt_slides: Value,
    /// What was made, as the tools describe it, newest first.
    pub artifacts: &'c [Value],
    /// What was called.
    pub tool_calls: &'c [ChatCall],
    /// The last nodes of the history, oldest first.
    #[schema(value_type = Vec<HistoryNode>)]
    pub vm_history: Vec<Map<String, Value>>,
    /// The turn.
    pub run: &'c str,
    /// The workspace.
    #[schema(value_type = WorkspaceState)]
    pub workspace_state: Map<String, Value>,
    /// Why the files could not be kept; null when they were, or need not be.
    #[schema(required)]
    pub snapshot_error: Option<String>,
}

/// What is known of a turn.
#[derive(Serialize, ToSchema)]
pub struct ChatMeta<'c> {
    /// Who answered.
    #[schema(required)]
    pub model: Option<&'c str>,
    /// The time of day of the answer.
    #[schema(required)]
    pub timestamp: Option<String>,
    /// How many tokens were sent, in words.
    #[serde(rename = "tokensIn")]
    pub tokens_in: String,
    /// How many tokens came back, in words.
    #[serde(rename = "tokensOut")]
    pub tokens_out: String,
    /// One line about what was done.
    pub summary: String,
    /// Why the turn ended, in one word.
    #[schema(value_type = Option<String>, required)]
    pub finish_reason: Option<&'c Value>,
    /// What the turn used.
    #[schema(value_type = Option<TokenCounts>, required)]
    pub usage: &'c Value,
    /// In millionths of a US dollar; null when nobody knows.
    #[schema(value_type = Option<u64>, required)]
    pub cost_micros: Option<&'c Value>,
    /// How long it took, in words.
    pub latency: String,
}

impl ChatMeta<'_> {
    /// The time of day of a timestamp.
    pub fn clock(timestamp: &str) -> String {
        let whole = time::parse(timestamp).map(time::format).unwrap_or_default();
        whole.get(11..19).unwrap_or_default().to_owned()
    }
}

/// A page that was made.
#[derive(Serialize, ToSchema)]
pub struct WebPreview<'c> {
    /// Its address.
    #[schema(value_type = Option<String>, required)]
    pub url: Option<&'c Value>,
    /// What it is called.
    #[schema(value_type = Option<String>, required)]
    pub title: Option<&'c Value>,
    /// The same, as a part of addresses.
    #[schema(value_type = Option<String>, required)]
    pub deployment_id: Option<&'c Value>,
}

/// A call of a tool, and what came of it.
#[derive(Serialize, ToSchema)]
pub struct ChatCall {
    /// Its number, from 1.
    pub step: usize,
    /// The tool.
    pub tool_name: String,
    /// What it was given; the text itself when that is no JSON.
    pub tool_input: Value,
    /// What it said; null when it did not come to that.
    #[schema(required)]
    pub tool_output: Option<String>,
    /// Whether it went well; null when it did not come to that.
    #[schema(required)]
    pub success: Option<bool>,
    /// Always `registry`.
    pub source: &'static str,
    /// What the call is named.
    pub invocation_id: String,
}
