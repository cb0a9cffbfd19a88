//! Items of the conversation, as the OpenAI Responses API spells them, into parts.

use ramus_model::json::{Object, Raw, Shape};

use crate::compose::Composer;

/// The tool that is called without a name.
const LOCAL_SHELL: &str = "local_shell";

/// What an item of a rollout is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A piece of an answer.
    Answer,
    /// Something a person said.
    User,
    /// The outcome of a call.
    Output,
    /// Context that Codex injects, or something that is not said to anyone.
    Beside,
}

impl Item {
    pub(super) fn of(payload: &Object<'_>) -> Self {
        match &*payload.text("type").unwrap_or_default() {
            "message" => match &*payload.text("role").unwrap_or_default() {
                "assistant" => Self::Answer,
                "user" if is_injected(payload) => Self::Beside,
                "user" => Self::User,
                _ => Self::Beside,
            },
            "reasoning"
            | "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "web_search_call"
            | "image_generation_call" => Self::Answer,
            "function_call_output" | "custom_tool_call_output" => Self::Output,
            _ => Self::Beside,
        }
    }
}

/// What a line of a rollout holds. The first versions wrote items bare, without saying when.
pub(super) fn held(line: Raw<'_>) -> Option<Raw<'_>> {
    match line.field("payload") {
        None if line.field("type").is_some() => Some(line),
        payload => payload.filter(|payload| payload.shape() == Shape::Object),
    }
}

/// Says whether Codex put words into the user's mouth: the surroundings, instructions of the project, what was interrupted.
fn is_injected(payload: &Object<'_>) -> bool {
    const FRONTS: [&str; 9] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<permissions instructions>",
        "<skills_instructions>",
        "<collaboration_mode>",
        "<turn_aborted>",
        "<user_shell_command>",
        "<subagent_notification>",
    ];
    let mut texts =
        payload.field("content").into_iter().flat_map(Raw::items).filter_map(|part| part.field("text")?.text());
    let Some(first) = texts.next() else { return false };
    let front = first.trim_start();
    FRONTS.iter().any(|injected| front.starts_with(injected)) && texts.all(|text| text.trim_start().starts_with('<'))
}

/// Writes the content of a message or the outcome of a call.
pub(super) fn content(composer: &mut Composer<'_>, content: Option<Raw<'_>>) {
    composer.array("content", |parts| match content {
        Some(text) if text.shape() == Shape::Text => text_part(parts, text),
        Some(items) => items.items().for_each(|item| part(parts, item)),
        None => {}
    });
}

fn part(parts: &mut Composer<'_>, item: Raw<'_>) {
    let Some(object) = item.object() else { return };
    let text = |name: &str| object.field(name).filter(|value| value.shape() == Shape::Text);
    match (&*object.text("type").unwrap_or_default(), text("text"), text("image_url")) {
        ("input_text" | "output_text" | "text", Some(text), _) => text_part(parts, text),
        ("input_image", _, Some(url)) if parts.picture(url) => {}
        _ => parts.raw("", item),
    }
}

fn text_part(parts: &mut Composer<'_>, text: Raw<'_>) {
    parts.object("", |part| {
        part.text("type", "text");
        part.raw("text", text);
    });
}

/// Writes a piece of an answer as parts.
pub(super) fn answer(parts: &mut Composer<'_>, item: Raw<'_>) {
    let Some(payload) = item.object() else { return };
    match &*payload.text("type").unwrap_or_default() {
        "message" => payload.field("content").into_iter().flat_map(Raw::items).for_each(|item| part(parts, item)),
        "reasoning" => reasoning(parts, item, &payload),
        "function_call" => call(parts, &payload, payload.field("arguments")),
        "custom_tool_call" => call(parts, &payload, None),
        "local_shell_call" => call(parts, &payload, payload.field("action")),
        _ => parts.raw("", item),
    }
}

fn reasoning(parts: &mut Composer<'_>, item: Raw<'_>, payload: &Object<'_>) {
    let texts = |name: &str| -> Vec<Raw<'_>> {
        let items = payload.field(name).into_iter().flat_map(Raw::items);
        items.filter_map(|item| item.field("text").filter(|text| text.shape() == Shape::Text)).collect()
    };
    let mut said = texts("content");
    if said.is_empty() {
        said = texts("summary");
    }
    parts.object("", |part| {
        part.text("type", "thinking");
        match said.as_slice() {
            [one] => part.raw("thinking", *one),
            several => {
                let texts: Vec<_> = several.iter().filter_map(|text| text.text()).collect();
                part.text("thinking", &texts.join("\n\n"));
            }
        }
        // Only the whole item can be sent back.
        let sealed = payload.text("encrypted_content").is_some_and(|content| !content.is_empty());
        if let Ok(item) = std::str::from_utf8(item.bytes())
            && sealed
        {
            part.text("thinkingSignature", item);
        }
    });
}

/// The tool of a call that has no name.
pub(super) fn unnamed(payload: &Object<'_>) -> Option<&'static str> {
    (payload.text("type")? == "local_shell_call").then_some(LOCAL_SHELL)
}

/// Writes a call. Arguments are a text that spells an object, an object, or free text.
fn call(parts: &mut Composer<'_>, payload: &Object<'_>, arguments: Option<Raw<'_>>) {
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", &payload.text("call_id").or_else(|| payload.text("id")).unwrap_or_default());
        part.text("name", &payload.text("name").unwrap_or_else(|| LOCAL_SHELL.into()));
        let spelled = arguments.filter(|text| text.text().and_then(|text| is_object(&text)).is_some());
        match (spelled, arguments.or_else(|| payload.field("input"))) {
            (Some(text), _) => drop(part.spelled("arguments", text)),
            (_, Some(object)) if object.shape() == Shape::Object => part.raw("arguments", object),
            (_, free) => part.object("arguments", |arguments| {
                if let Some(free) = free {
                    arguments.raw("input", free);
                }
            }),
        }
    });
}

fn is_object(text: &str) -> Option<()> {
    Raw::parse(text.as_bytes()).filter(|raw| raw.shape() == Shape::Object).map(drop)
}
