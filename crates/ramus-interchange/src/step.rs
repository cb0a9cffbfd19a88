//! [`Step`]: an entry of a passage as a writer wants it. Texts are views of the stored bytes, quotes included, so that a
//! writer copies spellings and never makes new ones.

use std::borrow::Cow;

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::message::Usage;
use ramus_model::{Role, time};

/// Why a thought is not written for an agent that would tell it to its model as part of the answer.
pub(crate) const UNSAID: &str =
    "thoughts of another model, which the agent would tell its own as if they had been said";

/// An entry.
pub(crate) struct Step<'a> {
    /// The whole entry.
    pub(crate) raw: Raw<'a>,
    /// Its id.
    pub(crate) id: Cow<'a, str>,
    /// What it hangs from.
    pub(crate) parent: Option<Cow<'a, str>>,
    /// When, as written.
    pub(crate) timestamp: Cow<'a, str>,
    /// What it is.
    pub(crate) what: What<'a>,
}

/// What an entry is, for someone who writes it in another format.
pub(crate) enum What<'a> {
    /// A person speaks.
    User(Vec<Part<'a>>),
    /// A model answers.
    Answer(Answer<'a>),
    /// A tool gave something back.
    Result(Result<'a>),
    /// A summary stands for what came before.
    Compaction { summary: Raw<'a>, first_kept: Option<Cow<'a, str>>, tokens: u64 },
    /// Text that a model is sent as if a person had said it.
    Note(Vec<Part<'a>>),
    /// Instructions.
    System,
    /// A name for the session.
    Title(Raw<'a>),
    /// Another model.
    Model { provider: Cow<'a, str>, model: Cow<'a, str> },
    /// Records of another format and nothing else.
    Records,
    /// Anything else, by its type.
    Other(Cow<'a, str>),
}

/// An answer of a model.
#[derive(Default)]
pub(crate) struct Answer<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) api: Cow<'a, str>,
    pub(crate) provider: Cow<'a, str>,
    pub(crate) model: Cow<'a, str>,
    pub(crate) stop: Cow<'a, str>,
    /// What went wrong, when something did.
    pub(crate) error: Option<Raw<'a>>,
    pub(crate) response: Option<Cow<'a, str>>,
    pub(crate) usage: Usage,
}

/// What a tool gave back.
pub(crate) struct Result<'a> {
    pub(crate) call: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) is_error: bool,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A part of a message.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(Raw<'a>),
    Thinking { text: Raw<'a>, signature: Option<Raw<'a>>, redacted: bool },
    Image { mime: Raw<'a>, data: Raw<'a> },
    Call { id: Raw<'a>, name: Raw<'a>, arguments: Option<Raw<'a>> },
    Unknown,
}

impl<'a> Step<'a> {
    /// Reads the line of an entry.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let raw = Raw::parse(line)?;
        let entry = raw.object()?;
        let what = What::read(&entry).unwrap_or_else(|| What::Other(entry.text("type").unwrap_or_default()));
        Some(Self {
            raw,
            id: entry.text("id")?,
            parent: entry.text("parentId"),
            timestamp: entry.text("timestamp").unwrap_or_default(),
            what,
        })
    }

    /// Returns when the entry was written, in milliseconds since 1970.
    pub(crate) fn millis(&self) -> i64 {
        time::parse(&self.timestamp).unwrap_or_default()
    }

    /// Returns when the entry was written, in the form of the log.
    pub(crate) fn iso(&self) -> String {
        time::format(self.millis())
    }
}

impl<'a> What<'a> {
    /// Reads an entry; none when it lacks what its type needs.
    fn read(entry: &Object<'a>) -> Option<Self> {
        let kind = entry.text("type")?;
        Some(match &*kind {
            "message" => message(&entry.field("message")?.object()?),
            "compaction" => Self::Compaction {
                summary: entry.field("summary").filter(|summary| summary.shape() == Shape::Text)?,
                first_kept: entry.text("firstKeptEntryId"),
                tokens: entry.field("tokensBefore").and_then(Raw::unsigned).unwrap_or_default(),
            },
            "branch_summary" => {
                let summary = entry.field("summary").filter(|summary| !summary.is_blank())?;
                Self::Note(vec![Part::Text(summary)])
            }
            "custom_message" => Self::Note(parts(entry.field("content"))),
            "session_info" => Self::Title(entry.field("name")?),
            "title_change" => Self::Title(entry.field("title")?),
            "model_change" => {
                let model = entry.text("model").unwrap_or_default();
                let (provider, name) = model.split_once('/').unwrap_or(("", &model));
                Self::Model {
                    provider: entry.text("provider").unwrap_or_else(|| Cow::Owned(provider.to_owned())),
                    model: entry.text("modelId").unwrap_or_else(|| Cow::Owned(name.to_owned())),
                }
            }
            "custom" => match entry.text("customType") {
                Some(name) if name == "ramus.origin" => Self::Records,
                Some(name) => Self::Other(name),
                None => Self::Other(kind),
            },
            _ => Self::Other(kind),
        })
    }
}

fn message<'a>(message: &Object<'a>) -> What<'a> {
    let text = |name: &str| message.text(name).unwrap_or_default();
    let role = text("role");
    let content = || parts(message.field("content"));
    match Role::from_wire(role.as_bytes()) {
        Role::User => What::User(content()),
        Role::System => What::System,
        Role::Custom => What::Note(content()),
        Role::BashExecution => {
            let said = [message.field("command"), message.field("output")];
            What::Note(said.into_iter().flatten().map(Part::Text).collect())
        }
        Role::Assistant => What::Answer(Answer {
            parts: content(),
            api: text("api"),
            provider: text("provider"),
            model: text("model"),
            stop: text("stopReason"),
            error: message.field("errorMessage").filter(|error| error.shape() == Shape::Text && !error.is_blank()),
            response: message.text("responseId").filter(|id| !id.is_empty()),
            usage: message.field("usage").and_then(Raw::object).map(|usage| usage_of(&usage)).unwrap_or_default(),
        }),
        Role::ToolResult => What::Result(Result {
            call: message.text("toolCallId").or_else(|| message.text("tool_call_id")).unwrap_or_default(),
            name: message.text("toolName").or_else(|| message.text("name")).unwrap_or_default(),
            is_error: message.field("isError").and_then(Raw::flag).unwrap_or_default(),
            parts: content(),
        }),
        Role::Other => What::Other(role),
    }
}

fn usage_of(usage: &Object<'_>) -> Usage {
    let count = |name| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    let cost = usage.field("cost").and_then(|cost| cost.field("total")).and_then(Raw::float);
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        total: count("totalTokens"),
        cost_micros: cost.map(|cost| (cost * 1e6).round() as u64),
    }
}

/// The content of a message: parts, one text, or nothing.
pub(crate) fn parts(content: Option<Raw<'_>>) -> Vec<Part<'_>> {
    match content {
        Some(raw) if raw.shape() == Shape::Text => vec![Part::Text(raw)],
        Some(raw) => raw.items().map(part).collect(),
        None => Vec::new(),
    }
}

fn part(raw: Raw<'_>) -> Part<'_> {
    let Some(object) = raw.object() else { return Part::Unknown };
    let text = |name: &str| object.field(name).filter(|value| value.shape() == Shape::Text);
    let found = match &*object.text("type").unwrap_or_default() {
        "text" => text("text").map(Part::Text),
        "thinking" => text("thinking").map(|thinking| Part::Thinking {
            text: thinking,
            signature: text("thinkingSignature"),
            redacted: object.field("redacted").and_then(Raw::flag).unwrap_or_default(),
        }),
        "image" => text("mimeType").zip(text("data")).map(|(mime, data)| Part::Image { mime, data }),
        "toolCall" => call(text("id"), text("name"), object.field("arguments")),
        "tool_use" => call(text("id"), text("name"), object.field("input")),
        _ => None,
    };
    found.unwrap_or(Part::Unknown)
}

fn call<'a>(id: Option<Raw<'a>>, name: Option<Raw<'a>>, arguments: Option<Raw<'a>>) -> Option<Part<'a>> {
    Some(Part::Call { id: id?, name: name?, arguments: arguments.filter(|raw| raw.shape() == Shape::Object) })
}

/// The texts among parts, as one decoded text.
pub(crate) fn plain(parts: &[Part<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| if let Part::Text(text) = part { text.text() } else { None });
    texts.collect::<Vec<_>>().join("\n")
}
