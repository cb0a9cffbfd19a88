//! Messages of goose into messages of the log.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use crate::compose::Composer;
use crate::mapping::Tokens;

/// A message.
pub(super) struct Message<'a> {
    pub(super) object: Object<'a>,
    metadata: Object<'a>,
    pub(super) content: Vec<Raw<'a>>,
}

impl<'a> Message<'a> {
    pub(super) fn read(raw: Raw<'a>) -> Option<Self> {
        let object = raw.object()?;
        object.field("role")?;
        let metadata = object.field("metadata").and_then(Raw::object).unwrap_or_default();
        let content = object.field("content").into_iter().flat_map(Raw::items).collect();
        Some(Self { object, metadata, content })
    }

    fn is(&self, name: &str, unless: bool) -> bool {
        self.metadata.field(name).and_then(Raw::flag).unwrap_or(unless)
    }

    /// Says whether a person sees it.
    pub(super) fn is_shown(&self) -> bool {
        self.is("userVisible", true)
    }

    /// Says whether a model is sent it.
    pub(super) fn is_sent(&self) -> bool {
        self.is("agentVisible", true)
    }

    /// Says whether goose put it there to describe the surroundings.
    pub(super) fn is_surroundings(&self) -> bool {
        self.is("turnContext", false)
    }

    pub(super) fn is_answer(&self) -> bool {
        self.object.text("role").as_deref() == Some("assistant")
    }

    /// Iterates over the outcomes of calls.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = Object<'a>> {
        self.content
            .iter()
            .filter_map(|item| item.object())
            .filter(|item| item.text("type").as_deref() == Some("toolResponse"))
    }

    pub(super) fn text(&self) -> String {
        self.content.iter().filter_map(|item| item.field("text")?.text()).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn millis(&self) -> Option<i64> {
        self.object.field("created").and_then(Raw::float).map(|seconds| (seconds * 1000.0) as i64)
    }

    pub(super) fn time(&self) -> Option<String> {
        self.millis().map(time::format)
    }

    /// Writes the message, without the outcomes of calls.
    pub(super) fn compose(&self, composer: &mut Composer<'_>, model: &(String, String)) {
        composer.object("message", |message| {
            message.text("role", if self.is_answer() { "assistant" } else { "user" });
            message.array("content", |parts| self.content.iter().for_each(|item| part(parts, *item)));
            if self.is_answer() {
                self.describe(message, model);
            }
            if let Some(millis) = self.millis() {
                message.number("timestamp", millis);
            }
        });
    }

    fn describe(&self, message: &mut Composer<'_>, model: &(String, String)) {
        let inference = self.metadata.field("inference").and_then(Raw::object).unwrap_or_default();
        let named =
            |name: &str, other: &str| inference.text(name).map_or_else(|| other.to_owned(), |text| text.into_owned());
        message.text("api", "goose");
        message.text("provider", &named("provider", &model.0));
        message.text("model", &named("requestedModel", &model.1));
        let usage = self.metadata.field("usage").and_then(Raw::object).unwrap_or_default();
        let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
        let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
        let tokens = Tokens {
            input: count("inputTokens").saturating_sub(cache_read).saturating_sub(cache_write),
            output: count("outputTokens"),
            cache_read,
            cache_write,
            total: count("totalTokens"),
            cost: usage.field("cost").and_then(Raw::float),
        };
        tokens.compose(message);
        let calls = self.content.iter().any(|item| item.field("toolCall").is_some());
        message.text("stopReason", if calls { "toolUse" } else { "stop" });
    }
}

/// Writes the outcome of a call.
pub(super) fn outcome(composer: &mut Composer<'_>, item: &Object<'_>, name: &str, millis: Option<i64>) {
    let result = item.field("toolResult").and_then(Raw::object).unwrap_or_default();
    let value = result.field("value").and_then(Raw::object).unwrap_or_default();
    let refused = result.text("status").is_some_and(|status| status == "error");
    composer.object("message", |message| {
        message.text("role", "toolResult");
        message.text("toolCallId", &item.text("id").unwrap_or_default());
        message.text("toolName", name);
        message.array("content", |parts| {
            value.field("content").into_iter().flat_map(Raw::items).for_each(|item| part(parts, item));
            if let Some(error) = result.field("error").filter(|error| error.shape() == Shape::Text) {
                text_part(parts, error);
            }
        });
        message.flag("isError", refused || value.field("isError").and_then(Raw::flag).unwrap_or_default());
        if let Some(millis) = millis {
            message.number("timestamp", millis);
        }
    });
}

fn part(parts: &mut Composer<'_>, item: Raw<'_>) {
    let Some(object) = item.object() else { return };
    let text = |name: &str| object.field(name).filter(|value| value.shape() == Shape::Text);
    match &*object.text("type").unwrap_or_default() {
        "text" => text("text").into_iter().for_each(|text| text_part(parts, text)),
        "thinking" => thought(parts, text("thinking"), text("signature"), false),
        "redactedThinking" => thought(parts, None, text("data"), true),
        "toolRequest" => call(parts, &object),
        "toolResponse" => {}
        "image" => match (text("data"), text("mimeType")) {
            (Some(data), Some(mime)) => parts.object("", |part| {
                part.text("type", "image");
                part.raw("data", data);
                part.raw("mimeType", mime);
            }),
            _ => parts.raw("", item),
        },
        _ => parts.raw("", item),
    }
}

fn text_part(parts: &mut Composer<'_>, text: Raw<'_>) {
    parts.object("", |part| {
        part.text("type", "text");
        part.raw("text", text);
    });
}

fn thought(parts: &mut Composer<'_>, text: Option<Raw<'_>>, signature: Option<Raw<'_>>, redacted: bool) {
    parts.object("", |part| {
        part.text("type", "thinking");
        match text {
            Some(text) => part.raw("thinking", text),
            None => part.text("thinking", ""),
        }
        if redacted {
            part.flag("redacted", true);
        }
        if let Some(signature) = signature {
            part.raw("thinkingSignature", signature);
        }
    });
}

fn call(parts: &mut Composer<'_>, item: &Object<'_>) {
    let value = item.field("toolCall").and_then(|call| call.field("value")?.object()).unwrap_or_default();
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", &item.text("id").unwrap_or_default());
        part.text("name", &value.text("name").unwrap_or_default());
        match value.field("arguments").filter(|arguments| arguments.shape() == Shape::Object) {
            Some(arguments) => part.raw("arguments", arguments),
            None => part.object("arguments", |_| {}),
        }
    });
}
