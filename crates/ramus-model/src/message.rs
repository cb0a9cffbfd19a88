//! Messages: roles and content parts, decoded from the stored bytes when someone wants to look at them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::json::{Node, Object, Raw, Shape, Tape};
use crate::kind::Role;
use crate::time;

/// A message, decoded as far as showing and counting need. Unknown members stay in the stored bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The role as written.
    pub role_name: String,
    /// The content.
    pub parts: Vec<Part>,
    /// When, in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// For an assistant: who answered and what it cost.
    pub answer: Option<Answer>,
    /// For a tool result: the call it answers.
    pub result: Option<ToolResult>,
}

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// What a model thought.
    Thinking(String),
    /// A picture: its media type and the base64 text or blob reference.
    Image {
        /// The media type.
        mime: String,
        /// The data as written.
        data: String,
    },
    /// A request to run a tool.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as spelled.
        arguments: String,
    },
    /// Something this version does not know: its type and its bytes.
    Unknown(String, String),
}

/// What an assistant message says about the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Why the answer ended.
    pub stop_reason: Option<String>,
    /// What the provider calls the response. Several messages of one response are the same answer, at different times
    /// while it streamed in.
    pub response: Option<String>,
    /// The tokens.
    pub usage: Option<Usage>,
}

/// What counting needs of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glance {
    /// When the entry was written, in milliseconds since 1970.
    pub written: Option<i64>,
    /// When the message says it was written.
    pub timestamp: Option<i64>,
    /// For an assistant: who answered and what it cost.
    pub answer: Option<Answer>,
}

/// Tokens and cost of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// The provider's own total, or 0.
    pub total: u64,
    /// The cost in millionths of a US dollar; none when there are tokens and the log does not say what they cost.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Returns all tokens: the provider's total, or the sum of the parts.
    pub fn tokens(&self) -> u64 {
        if self.total > 0 { self.total } else { self.prompt().saturating_add(self.output) }
    }

    /// Returns the tokens of the prompt, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

/// Which call a tool result answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub call: String,
    /// The tool.
    pub name: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl Message {
    /// Decodes the `message` of a message entry.
    pub fn read(raw: Raw<'_>) -> Self {
        match Tape::read(raw.bytes()) {
            Some(tape) => Self::of(tape.root()),
            None => Self::empty(),
        }
    }

    /// A message that says nothing.
    pub(crate) fn empty() -> Self {
        let (role_name, parts) = (String::new(), Vec::new());
        Self { role: Role::from_wire(b""), role_name, parts, timestamp: None, answer: None, result: None }
    }

    /// Decodes the `message` of a message entry.
    pub(crate) fn of(message: Node<'_, '_>) -> Self {
        let object = message.object().unwrap_or_default();
        let role_name = object.text("role").unwrap_or_default().into_owned();
        let role = Role::from_wire(role_name.as_bytes());
        Self {
            role,
            parts: parts(message, &object, role),
            timestamp: timestamp(&object),
            answer: (role == Role::Assistant).then(|| Answer::read(&object)),
            result: (role == Role::ToolResult).then(|| ToolResult::read(&object)),
            role_name,
        }
    }

    /// Reads what counting needs of a message entry, without its content; none for entries of other kinds.
    pub fn glance(entry: Raw<'_>) -> Option<Glance> {
        let entry = entry.object()?;
        let message = entry.field("message").filter(|raw| raw.shape() == Shape::Object)?.object()?;
        let is_answer = message.text("role").is_some_and(|role| Role::from_wire(role.as_bytes()) == Role::Assistant);
        Some(Glance {
            written: entry.text("timestamp").and_then(|text| time::parse(&text)),
            timestamp: timestamp(&message),
            answer: is_answer.then(|| Answer::read(&message)),
        })
    }

    /// Decodes a whole entry of any kind that shows as a message: messages, custom messages, summaries.
    pub fn of_entry(entry: Raw<'_>) -> Option<Self> {
        Self::at(Tape::read(entry.bytes())?.root())
    }

    /// Decodes a stored line, with when it says it was written, in one pass.
    pub fn of_line(line: &[u8]) -> Option<(Self, String)> {
        let tape = Tape::read(line)?;
        let written = tape.root().field("timestamp").and_then(|written| written.raw().text());
        Some((Self::at(tape.root())?, written.unwrap_or_default().into_owned()))
    }

    fn at(root: Node<'_, '_>) -> Option<Self> {
        if let Some(message) = root.field("message").filter(|message| message.shape() == Shape::Object) {
            return Some(Self::of(message));
        }
        let entry = root.object()?;
        let (role_name, parts) = match &*entry.text("type")? {
            "custom_message" => ("custom", content(root.field("content"))),
            "branch_summary" => ("branchSummary", summary(&entry)),
            "compaction" => ("compactionSummary", summary(&entry)),
            _ => return None,
        };
        let role = Role::from_wire(role_name.as_bytes());
        let role_name = role_name.to_owned();
        Some(Self { role, role_name, parts, timestamp: None, answer: None, result: None })
    }

    /// Returns the text of the message: its text parts, one per line.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Iterates over the tool calls.
    pub fn calls(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. }))
    }
}

impl Part {
    /// Returns the id of a call; none for what is not a call.
    pub fn call_id(&self) -> Option<&str> {
        if let Self::ToolCall { id, .. } = self { Some(id) } else { None }
    }

    pub(crate) fn of(node: Node<'_, '_>) -> Self {
        let part = node.object().unwrap_or_default();
        let owned = |name| part.text(name).unwrap_or_default().into_owned();
        match &*part.text("type").unwrap_or_default() {
            "text" => Self::Text(owned("text")),
            "thinking" => Self::Thinking(owned("thinking")),
            "image" => Self::Image { mime: owned("mimeType"), data: owned("data") },
            "toolCall" => {
                Self::ToolCall { id: owned("id"), name: owned("name"), arguments: spelled(&part, "arguments") }
            }
            // The form other programs use for the same thing.
            "tool_use" => Self::ToolCall { id: owned("id"), name: owned("name"), arguments: spelled(&part, "input") },
            other => Self::Unknown(other.to_owned(), String::from_utf8_lossy(node.raw().bytes()).into_owned()),
        }
    }

    /// Returns the part as JSON for a view.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Thinking(text) => json!({"type": "thinking", "text": text}),
            Self::Image { mime, data } => json!({"type": "image", "mime": mime, "data": data}),
            Self::ToolCall { id, name, arguments } => {
                json!({"type": "tool_request", "call_id": id, "name": name, "arguments": lenient(arguments)})
            }
            Self::Unknown(kind, bytes) => json!({"type": kind, "raw": lenient(bytes)}),
        }
    }
}

impl Answer {
    fn read(message: &Object<'_>) -> Self {
        let maybe = |name| message.text(name).map(Cow::into_owned);
        Self {
            provider: maybe("provider"),
            model: maybe("model"),
            stop_reason: maybe("stopReason"),
            response: maybe("responseId").filter(|id| !id.is_empty()),
            usage: message.field("usage").and_then(Raw::object).map(|usage| Usage::read(&usage)),
        }
    }
}

impl Usage {
    fn read(usage: &Object<'_>) -> Self {
        let count = |name| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
        let cost = usage.field("cost").and_then(|cost| cost.field("total")).and_then(Raw::float);
        let mut usage = Self {
            input: count("input"),
            output: count("output"),
            cache_read: count("cacheRead"),
            cache_write: count("cacheWrite"),
            total: count("totalTokens"),
            cost_micros: cost.map(|cost| (cost * 1e6).round() as u64).filter(|micros| *micros > 0),
        };
        // Programs that know no price write 0. Only what used nothing cost nothing.
        if usage.cost_micros.is_none() && usage.tokens() == 0 {
            usage.cost_micros = Some(0);
        }
        usage
    }
}

impl ToolResult {
    pub(crate) fn read(message: &Object<'_>) -> Self {
        let either = |a, b| message.text(a).or_else(|| message.text(b)).unwrap_or_default().into_owned();
        Self {
            call: either("toolCallId", "tool_call_id"),
            name: either("toolName", "name"),
            is_error: message.field("isError").and_then(Raw::flag).unwrap_or_default(),
        }
    }
}

/// The content of a message: an array of parts, one string, or nothing.
fn parts(message: Node<'_, '_>, object: &Object<'_>, role: Role) -> Vec<Part> {
    let text = |name| object.text(name).unwrap_or_default();
    match role {
        Role::BashExecution => vec![Part::Text(format!("$ {}\n{}", text("command"), text("output")))],
        _ => content(message.field("content")),
    }
}

fn timestamp(message: &Object<'_>) -> Option<i64> {
    message.field("timestamp").and_then(Raw::float).map(|millis| millis as i64)
}

fn content(content: Option<Node<'_, '_>>) -> Vec<Part> {
    match content {
        Some(node) if node.shape() == Shape::Text => {
            vec![Part::Text(node.raw().text().unwrap_or_default().into_owned())]
        }
        Some(node) => node.items().map(Part::of).collect(),
        None => Vec::new(),
    }
}

fn summary(entry: &Object<'_>) -> Vec<Part> {
    vec![Part::Text(entry.text("summary").unwrap_or_default().into_owned())]
}

fn spelled(part: &Object<'_>, name: &str) -> String {
    part.field(name).map_or_else(|| "{}".to_owned(), |raw| String::from_utf8_lossy(raw.bytes()).into_owned())
}

/// Reads JSON for a view; what no JSON tree can hold is shown as its text.
fn lenient(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
