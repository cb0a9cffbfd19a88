//! Messages of Gemini CLI into messages of the log.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use crate::compose::Composer;
use crate::mapping::Tokens;

/// What a message is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A person.
    User,
    /// A model.
    Model,
    /// Tools, speaking as the user.
    Tools,
    /// Nobody: context that is injected, or a notice that only a person sees.
    Nobody,
}

impl Speaker {
    pub(super) fn of(message: &Object<'_>) -> Self {
        match &*message.text("type").unwrap_or_default() {
            "gemini" => Self::Model,
            "user" if answers(message).next().is_some() => Self::Tools,
            "user" if is_injected(message) => Self::Nobody,
            "user" => Self::User,
            _ => Self::Nobody,
        }
    }
}

/// The outcomes of calls that a message brings.
pub(super) fn answers<'a>(message: &Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let parts = message.field("content").into_iter().flat_map(Raw::items);
    parts.filter_map(|part| part.field("functionResponse")?.object())
}

/// What a call gave, as the model is told of it: the response, and the parts beside it.
pub(super) struct Outcome<'a> {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) response: Option<Raw<'a>>,
    /// What is shown of it, when there is no response.
    pub(super) display: Option<Raw<'a>>,
    pub(super) beside: Vec<Raw<'a>>,
    pub(super) failed: bool,
}

impl<'a> Outcome<'a> {
    fn of(answer: &Object<'a>) -> Self {
        Self {
            id: answer.text("id").unwrap_or_default().into_owned(),
            name: answer.text("name").unwrap_or_default().into_owned(),
            response: answer.field("response"),
            display: None,
            beside: answer.field("parts").into_iter().flat_map(Raw::items).collect(),
            failed: false,
        }
    }

    /// Reads what an answer says that its call gave.
    pub(super) fn of_call(id: &str, name: &str, call: Raw<'a>) -> Self {
        let result = call.field("result");
        let parts = || result.into_iter().flat_map(Raw::items);
        let own = parts().find_map(|part| part.field("functionResponse")?.object());
        let known = own.as_ref().map(Self::of);
        let (response, mut beside) = known.map_or((None, Vec::new()), |known| (known.response, known.beside));
        beside.extend(parts().filter(|part| own.is_some() && part.field("functionResponse").is_none()));
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            response: response.or(result).filter(|response| !response.is_null()),
            display: call.field("resultDisplay").filter(|display| !display.is_null()),
            beside,
            failed: call.field("status").and_then(Raw::text).as_deref() == Some("error"),
        }
    }
}

/// The outcomes that a message brings, each with the parts that follow it, and what is said beside them.
pub(super) fn outcomes<'a>(message: &Object<'a>) -> (Vec<Outcome<'a>>, Vec<Raw<'a>>) {
    let (mut found, mut said): (Vec<Outcome<'a>>, _) = (Vec::new(), Vec::new());
    for part in message.field("content").into_iter().flat_map(Raw::items) {
        let is_text = part.shape() == Shape::Text || part.field("text").is_some();
        match (part.field("functionResponse").and_then(Raw::object), found.last_mut()) {
            (Some(answer), _) => found.push(Outcome::of(&answer)),
            (None, Some(outcome)) if !is_text => outcome.beside.push(part),
            (None, _) => said.push(part),
        }
    }
    (found, said)
}

/// Writes what is said beside outcomes.
pub(super) fn beside(composer: &mut Composer<'_>, said: &[Raw<'_>], time: Option<i64>) {
    composer.object("message", |message| {
        message.text("role", "user");
        message.array("content", |parts| said.iter().for_each(|item| part(parts, *item)));
        if let Some(millis) = time {
            message.number("timestamp", millis);
        }
    });
}

/// Says whether Gemini CLI introduces itself and the project.
fn is_injected(message: &Object<'_>) -> bool {
    let content = message.field("content");
    let first = content.into_iter().flat_map(Raw::items).find_map(|part| part.field("text")?.text());
    let text = first.or_else(|| content.and_then(Raw::text)).unwrap_or_default();
    text.trim_start().starts_with("<session_context>") || text.starts_with("This is the Gemini CLI. We are setting up")
}

/// Writes what a person said.
pub(super) fn user(composer: &mut Composer<'_>, message: &Object<'_>) {
    composer.object("message", |said| {
        said.text("role", "user");
        said.array("content", |parts| content(parts, message.field("content"), false));
        stamp(said, message);
    });
}

/// Writes what a model answered.
pub(super) fn answer(composer: &mut Composer<'_>, message: &Object<'_>) {
    let listed = calls(message).next().is_some();
    composer.object("message", |said| {
        said.text("role", "assistant");
        said.array("content", |parts| {
            message.field("thoughts").into_iter().flat_map(Raw::items).for_each(|item| thought(parts, item));
            content(parts, message.field("content"), listed);
            calls(message).for_each(|item| call(parts, &item));
        });
        said.text("api", "google-generative-ai");
        said.text("provider", "google");
        said.text("model", &message.text("model").unwrap_or_default());
        tokens(message).compose(said);
        said.text("stopReason", if call_ids(message).next().is_some() { "toolUse" } else { "stop" });
        stamp(said, message);
    });
}

/// The calls that an answer makes.
pub(super) fn calls<'a>(message: &Object<'a>) -> impl Iterator<Item = Object<'a>> {
    message.field("toolCalls").into_iter().flat_map(Raw::items).filter_map(Raw::object)
}

/// The ids of the calls that an answer makes, whether it lists them or has them in its content.
pub(super) fn call_ids<'a>(message: &Object<'a>) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    let parts = message.field("content").into_iter().flat_map(Raw::items);
    let said = parts.filter_map(|part| part.field("functionCall")?.field("id")?.text());
    let mut listed = calls(message).filter_map(|call| call.text("id")).peekable();
    let said = if listed.peek().is_some() { None } else { Some(said) };
    listed.chain(said.into_iter().flatten())
}

/// The text of a message, whatever its form. Thoughts are no part of it: a list of messages has them in the content, a line
/// has them beside it.
pub(super) fn text(message: &Object<'_>) -> String {
    let content = message.field("content");
    let one = content.and_then(Raw::text);
    let parts = content.into_iter().flat_map(Raw::items).filter(|part| !is_thought(*part));
    let several = parts.filter_map(|part| part.field("text")?.text());
    one.into_iter().chain(several).collect()
}

/// Writes the outcome of a call.
pub(super) fn result(composer: &mut Composer<'_>, outcome: &Outcome<'_>, time: Option<i64>) {
    let response = outcome.response;
    let error = response.and_then(|response| response.field("error"));
    composer.object("message", |said| {
        said.text("role", "toolResult");
        said.text("toolCallId", &outcome.id);
        said.text("toolName", &outcome.name);
        said.array("content", |parts| {
            let output = response.and_then(|response| response.field("output")).or(error).or(response);
            match output.or(outcome.display) {
                Some(text) if text.shape() == Shape::Text => text_part(parts, text),
                Some(other) => parts.object("", |part| {
                    part.text("type", "text");
                    part.text("text", &String::from_utf8_lossy(other.bytes()));
                }),
                None => {}
            }
            outcome.beside.iter().for_each(|item| part(parts, *item));
        });
        said.flag("isError", outcome.failed || error.is_some());
        if let Some(millis) = time {
            said.number("timestamp", millis);
        }
    });
}

/// Writes content. Calls in it are left out when the message lists them, too.
fn content(parts: &mut Composer<'_>, content: Option<Raw<'_>>, listed: bool) {
    match content {
        Some(text) if text.shape() == Shape::Text && text.bytes().len() > 2 => text_part(parts, text),
        Some(items) => {
            let is_call = |item: &Raw<'_>| item.field("functionCall").is_some();
            items.items().filter(|item| !(listed && is_call(item))).for_each(|item| part(parts, item));
        }
        None => {}
    }
}

fn is_thought(part: Raw<'_>) -> bool {
    part.field("thought").is_some_and(|thought| thought.bytes() == b"true")
}

fn part(parts: &mut Composer<'_>, item: Raw<'_>) {
    if item.shape() == Shape::Text {
        return text_part(parts, item);
    }
    let text = item.field("text").filter(|text| text.shape() == Shape::Text);
    if let Some(text) = text.filter(|_| is_thought(item)) {
        return parts.object("", |part| {
            part.text("type", "thinking");
            part.raw("thinking", text);
        });
    }
    if let Some(function) = item.field("functionCall").and_then(Raw::object) {
        return call(parts, &function);
    }
    let inline = item.field("inlineData");
    let picture = inline.and_then(|inline| Some((inline.field("data")?, inline.field("mimeType")?)));
    match (text, picture) {
        (Some(text), _) => text_part(parts, text),
        (None, Some((data, mime))) if [data, mime].iter().all(|raw| raw.shape() == Shape::Text) => {
            parts.object("", |part| {
                part.text("type", "image");
                part.raw("data", data);
                part.raw("mimeType", mime);
            });
        }
        _ => parts.raw("", item),
    }
}

fn text_part(parts: &mut Composer<'_>, text: Raw<'_>) {
    parts.object("", |part| {
        part.text("type", "text");
        part.raw("text", text);
    });
}

fn thought(parts: &mut Composer<'_>, item: Raw<'_>) {
    let subject = item.field("subject").and_then(Raw::text).filter(|subject| !subject.is_empty());
    let description = item.field("description").filter(|text| text.shape() == Shape::Text);
    parts.object("", |part| {
        part.text("type", "thinking");
        match (subject, description) {
            (None, Some(text)) => part.raw("thinking", text),
            (subject, text) => {
                let text = text.and_then(Raw::text).unwrap_or_default();
                part.text("thinking", &format!("**{}**\n\n{text}", subject.unwrap_or_default()));
            }
        }
    });
}

fn call(parts: &mut Composer<'_>, call: &Object<'_>) {
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", &call.text("id").unwrap_or_default());
        part.text("name", &call.text("name").unwrap_or_default());
        match call.field("args").filter(|args| args.shape() == Shape::Object) {
            Some(args) => part.raw("arguments", args),
            None => part.object("arguments", |_| {}),
        }
    });
}

/// Counts of Gemini: cached tokens are part of the input, thoughts are not part of the output.
fn tokens(message: &Object<'_>) -> Tokens {
    let usage = message.field("tokens").and_then(Raw::object).unwrap_or_default();
    let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    Tokens {
        input: count("input").saturating_sub(count("cached")),
        output: count("output").saturating_add(count("thoughts")),
        cache_read: count("cached"),
        total: count("total"),
        ..Tokens::default()
    }
}

pub(super) fn millis(message: &Object<'_>) -> Option<i64> {
    message.text("timestamp").and_then(|text| time::parse(&text))
}

fn stamp(said: &mut Composer<'_>, message: &Object<'_>) {
    if let Some(millis) = millis(message) {
        said.number("timestamp", millis);
    }
}
