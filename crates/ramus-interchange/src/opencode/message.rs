//! Messages and parts of opencode into messages of the log.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use crate::compose::Composer;
use crate::mapping::Tokens;

/// A message with its parts.
pub(super) struct Message<'a> {
    pub(super) info: Object<'a>,
    pub(super) parts: Vec<Object<'a>>,
    raw_parts: Vec<Raw<'a>>,
}

impl<'a> Message<'a> {
    pub(super) fn read(raw: Raw<'a>) -> Option<Self> {
        let object = raw.object()?;
        let info = object.field("info")?.object()?;
        let raw_parts: Vec<_> = object.field("parts").into_iter().flat_map(Raw::items).collect();
        let parts = raw_parts.iter().map(|part| part.object().unwrap_or_default()).collect();
        Some(Self { info, parts, raw_parts })
    }

    pub(super) fn role(&self) -> String {
        self.info.text("role").unwrap_or_default().into_owned()
    }

    /// Returns when it was written, in the form of the log.
    pub(super) fn time(&self) -> Option<String> {
        self.millis().map(time::format)
    }

    pub(super) fn millis(&self) -> Option<i64> {
        self.info.field("time")?.field("created")?.float().map(|millis| millis as i64)
    }

    pub(super) fn of_type<'m>(&'m self, kind: &'static str) -> impl Iterator<Item = &'m Object<'a>> {
        self.parts.iter().filter(move |part| part.text("type").as_deref() == Some(kind))
    }

    /// Returns the text of the message.
    pub(super) fn text(&self) -> String {
        self.of_type("text").filter_map(|part| part.text("text")).collect::<Vec<_>>().join("\n")
    }

    /// Writes what a person said.
    pub(super) fn user(&self, composer: &mut Composer<'_>) {
        composer.object("message", |message| {
            message.text("role", "user");
            message.array("content", |parts| {
                for (part, raw) in self.parts.iter().zip(&self.raw_parts) {
                    said(parts, part, *raw);
                }
            });
            if let Some(millis) = self.millis() {
                message.number("timestamp", millis);
            }
        });
    }

    /// Writes what a model answered, without the outcome of its calls.
    pub(super) fn answer(&self, composer: &mut Composer<'_>) {
        let text = |name: &str| self.info.text(name).unwrap_or_default();
        let calls = self.of_type("tool").next().is_some();
        composer.object("message", |message| {
            message.text("role", "assistant");
            message.array("content", |parts| {
                for (part, raw) in self.parts.iter().zip(&self.raw_parts) {
                    match &*part.text("type").unwrap_or_default() {
                        "reasoning" => thought(parts, part),
                        "tool" => call(parts, part),
                        // What opencode notes about its own doing is in the record.
                        "step-start" | "step-finish" | "patch" | "snapshot" | "retry" => {}
                        _ => said(parts, part, *raw),
                    }
                }
            });
            message.text("api", "opencode");
            message.text("provider", &text("providerID"));
            message.text("model", &text("modelID"));
            self.tokens().compose(message);
            let error = self.info.field("error").and_then(Raw::object);
            message.text("stopReason", stop_reason(&text("finish"), calls, error.as_ref()));
            if let Some(why) = error.and_then(|error| error.field("data")?.field("message")?.text()) {
                message.text("errorMessage", &why);
            }
            if let Some(millis) = self.millis() {
                message.number("timestamp", millis);
            }
        });
    }

    fn tokens(&self) -> Tokens {
        let tokens = self.info.field("tokens").and_then(Raw::object).unwrap_or_default();
        let count = |name: &str| tokens.field(name).and_then(Raw::unsigned).unwrap_or_default();
        let cache =
            |name: &str| tokens.field("cache").and_then(|cache| cache.field(name)?.unsigned()).unwrap_or_default();
        Tokens {
            input: count("input"),
            output: count("output").saturating_add(count("reasoning")),
            cache_read: cache("read"),
            cache_write: cache("write"),
            total: count("total"),
            cost: self.info.field("cost").and_then(Raw::float),
        }
    }
}

/// Writes the outcome of a call, and says whether there is one.
pub(super) fn result(composer: &mut Composer<'_>, part: &Object<'_>) -> bool {
    let Some(state) = part.field("state").and_then(Raw::object) else { return false };
    let status = state.text("status").unwrap_or_default();
    let (said, failed) = match &*status {
        "completed" => (state.field("output"), false),
        "error" => (state.field("error"), true),
        _ => return false,
    };
    composer.object("message", |message| {
        message.text("role", "toolResult");
        message.text("toolCallId", &part.text("callID").unwrap_or_default());
        message.text("toolName", &part.text("tool").unwrap_or_default());
        message.array("content", |parts| {
            if let Some(text) = said.filter(|text| text.shape() == Shape::Text) {
                text_part(parts, text);
            }
            let files = state.field("attachments").into_iter().flat_map(Raw::items);
            for file in files {
                if let Some(url) = file.field("url") {
                    parts.picture(url);
                }
            }
        });
        message.flag("isError", failed);
        let ended = state.field("time").and_then(|time| time.field("end")?.float());
        if let Some(millis) = ended {
            message.number("timestamp", millis as i64);
        }
    });
    true
}

fn said(parts: &mut Composer<'_>, part: &Object<'_>, raw: Raw<'_>) {
    let ignored = part.field("ignored").and_then(Raw::flag).unwrap_or_default();
    let text = |name: &str| part.field(name).filter(|text| text.shape() == Shape::Text);
    match (&*part.text("type").unwrap_or_default(), text("text"), text("url")) {
        ("text", Some(text), _) if !ignored => text_part(parts, text),
        ("text", _, _) => {}
        ("file", _, Some(url)) if parts.picture(url) => {}
        _ => parts.raw("", raw),
    }
}

fn text_part(parts: &mut Composer<'_>, text: Raw<'_>) {
    parts.object("", |part| {
        part.text("type", "text");
        part.raw("text", text);
    });
}

fn thought(parts: &mut Composer<'_>, part: &Object<'_>) {
    let Some(text) = part.field("text").filter(|text| text.shape() == Shape::Text) else { return };
    parts.object("", |thought| {
        thought.text("type", "thinking");
        thought.raw("thinking", text);
    });
}

fn call(parts: &mut Composer<'_>, part: &Object<'_>) {
    parts.object("", |call| {
        call.text("type", "toolCall");
        call.text("id", &part.text("callID").unwrap_or_default());
        call.text("name", &part.text("tool").unwrap_or_default());
        let input = part.field("state").and_then(|state| state.field("input"));
        match input.filter(|input| input.shape() == Shape::Object) {
            Some(input) => call.raw("arguments", input),
            None => call.object("arguments", |_| {}),
        }
    });
}

fn stop_reason(finish: &str, calls: bool, error: Option<&Object<'_>>) -> &'static str {
    match (error.and_then(|error| error.text("name")).as_deref(), finish) {
        (Some("MessageAbortedError"), _) => "aborted",
        (Some(_), _) => "error",
        (None, "length") => "length",
        (None, "tool-calls") => "toolUse",
        (None, _) if calls => "toolUse",
        (None, _) => "stop",
    }
}
