//! From a stored line to a document: which members of an entry are text.

use std::borrow::Cow;

use super::document::Document;
use super::facets::Speaker;
use crate::json::{Lexer, Object, Raw, Shape};
use crate::kind::{Kind, Role};
use crate::time;

/// Reads an entry. Says whether it is of a kind that is searched.
pub(super) fn entry(entry: &Object<'_>, document: &mut Document) -> bool {
    let kind = Kind::from_wire(entry.text("type").unwrap_or_default().as_bytes());
    let stamp = entry.text("timestamp").and_then(|text| time::parse(&text));
    match kind {
        Kind::Message => {
            let Some(message) = entry.field("message").and_then(Raw::object) else { return false };
            let sent = || message.field("timestamp").and_then(Raw::float).map(|millis| millis as i64);
            document.millis = stamp.or_else(sent);
            read_message(&message, document);
            return true;
        }
        Kind::CustomMessage => {
            document.facets.speaker = Speaker::Custom;
            content(entry.field("content"), document);
        }
        Kind::Compaction => {
            document.facets.speaker = Speaker::CompactionSummary;
            add(entry.field("summary"), document);
            add(entry.field("shortSummary"), document);
        }
        Kind::BranchSummary => {
            document.facets.speaker = Speaker::BranchSummary;
            add(entry.field("summary"), document);
        }
        Kind::Label => {
            document.facets.speaker = Speaker::Label;
            add(entry.field("label"), document);
        }
        _ => return false,
    }
    document.millis = stamp;
    true
}

fn read_message(message: &Object<'_>, document: &mut Document) {
    let role = Role::from_wire(message.text("role").unwrap_or_default().as_bytes());
    document.facets.speaker = Speaker::of_role(role);
    let flag = |name: &str| message.field(name).and_then(Raw::flag).unwrap_or_default();
    match role {
        Role::BashExecution => {
            let command = message.text("command").unwrap_or_default();
            document.add(&command);
            document.add_command(&command);
            add(message.field("output"), document);
            document.facets.tools.push("bash".to_owned());
            document.facets.error = message.field("exitCode").and_then(Raw::float).is_some_and(|code| code != 0.0);
        }
        Role::ToolResult => {
            let name = message.text("toolName").or_else(|| message.text("name"));
            document.facets.tools.extend(name.filter(|name| !name.is_empty()).map(Cow::into_owned));
            document.facets.error = flag("isError");
            content(message.field("content"), document);
        }
        Role::Assistant => {
            document.facets.model = model(message);
            content(message.field("content"), document);
            let failed = message.text("errorMessage").filter(|text| !text.is_empty());
            document.facets.error = failed.is_some() || message.text("stopReason").is_some_and(|why| why == "error");
            document.add(&failed.unwrap_or_default());
            document.facets.tools.sort_unstable();
            document.facets.tools.dedup();
        }
        Role::System | Role::User | Role::Custom | Role::Other => content(message.field("content"), document),
    }
}

fn model(message: &Object<'_>) -> Option<String> {
    let model = message.text("model").filter(|model| !model.is_empty())?;
    Some(match message.text("provider").filter(|provider| !provider.is_empty()) {
        Some(provider) => format!("{provider}/{model}"),
        None => model.into_owned(),
    })
}

/// The content of a message: one string, or an array of parts.
fn content(raw: Option<Raw<'_>>, document: &mut Document) {
    let Some(raw) = raw else { return };
    if raw.shape() == Shape::Text {
        return document.add(&raw.text().unwrap_or_default());
    }
    for part in raw.items().filter_map(Raw::object) {
        read_part(&part, document);
    }
}

fn read_part(part: &Object<'_>, document: &mut Document) {
    match &*part.text("type").unwrap_or_default() {
        "text" => add(part.field("text"), document),
        "thinking" => add(part.field("thinking"), document),
        "image" => {}
        "toolCall" => call(part, "arguments", document),
        // The form other programs use for the same thing.
        "tool_use" => call(part, "input", document),
        _ => {
            add(part.field("text"), document);
            add(part.field("content"), document);
            for inner in part.field("content").into_iter().flat_map(Raw::items) {
                add(inner.field("text"), document);
            }
        }
    }
}

fn call(part: &Object<'_>, arguments: &str, document: &mut Document) {
    let name = part.text("name").unwrap_or_default();
    document.add(&name);
    if !name.is_empty() {
        document.facets.tools.push(name.into_owned());
    }
    let Some(arguments) = part.field(arguments) else { return };
    strings(arguments, |key, text| {
        document.add(&text);
        document.add_paths(&key, &text);
    });
}

fn add(raw: Option<Raw<'_>>, document: &mut Document) {
    if let Some(text) = raw.and_then(Raw::text) {
        document.add(&text);
    }
}

/// Hands out every string in a value, with the name of the member it is in. No recursion: what was lexed once is only
/// strings and what lies between them.
fn strings<'a>(raw: Raw<'a>, mut take: impl FnMut(Cow<'a, str>, Cow<'a, str>)) {
    let bytes = raw.bytes();
    let mut key = Cow::Borrowed("");
    let mut position = 0;
    while let Some(quote) = bytes.get(position..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let mut lexer = Lexer::new(bytes, position + quote);
        let Some(text) = lexer.string().and_then(|text| Raw::lexed(text).text()) else { return };
        if lexer.eat(b':') {
            key = text;
        } else {
            take(key.clone(), text);
        }
        position = lexer.pos();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(String, Document)> {
        let mut document = Document::default();
        document.read(line.as_bytes()).then(|| (document.text().replace('\n', "|"), document))
    }

    #[test]
    fn every_kind_that_has_text_is_read() {
        for (line, text) in [
            (r#"{"type":"message","message":{"role":"user","content":"a \"b\"\u00e9"}}"#, "a \"b\"é"),
            (
                r#"{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"},{"type":"image","data":"AAAA"},{"type":"toolCall","name":"edit","arguments":{"path":"a.rs","edits":[{"old":"x","n":3},{"old":"y"}]}}],"errorMessage":"overloaded"}}"#,
                "hm|yes|edit|a.rs|x|y|overloaded",
            ),
            (
                r#"{"type":"message","message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"out"}]}}"#,
                "out",
            ),
            (r#"{"type":"message","message":{"role":"bashExecution","command":"ls src/","output":"a"}}"#, "ls src/|a"),
            (r#"{"type":"custom_message","content":[{"type":"text","text":"note"}]}"#, "note"),
            (r#"{"type":"compaction","summary":"long","shortSummary":"short"}"#, "long|short"),
            (r#"{"type":"branch_summary","summary":"left"}"#, "left"),
            (r#"{"type":"label","targetId":"x","label":"plan"}"#, "plan"),
        ] {
            assert_eq!(read(line).map(|(text, _)| text).as_deref(), Some(text), "{line}");
        }
        for none in
            ["", "[]", r#"{"type":"custom","data":{"text":"x"}}"#, r#"{"type":"message"}"#, r#"{"type":"label"}"#]
        {
            assert!(read(none).is_none(), "{none}");
        }
    }

    #[test]
    fn what_is_known_besides_words_is_read() {
        let (_, call) = read(
            r#"{"type":"message","timestamp":"2026-02-16T10:20:30.000Z","message":{"role":"assistant","provider":"p","model":"m","stopReason":"error","content":[{"type":"toolCall","name":"read","arguments":{"path":"src/a.rs"}},{"type":"toolCall","name":"bash","arguments":{"command":"cat b.txt"}},{"type":"toolCall","name":"read","arguments":{}}]}}"#,
        )
        .unwrap();
        assert_eq!(call.facets.tools, ["bash", "read"]);
        assert_eq!(call.facets.model.as_deref(), Some("p/m"));
        assert!(call.facets.error);
        assert_eq!(call.paths(), ["src/a.rs", "b.txt"]);
        assert_eq!(call.millis, time::parse("2026-02-16T10:20:30.000Z"));
        assert_eq!(crate::search::Facets::from_text(&call.facets.to_text()), Some(call.facets));
        let (_, failed) =
            read(r#"{"type":"message","message":{"role":"bashExecution","command":"x","exitCode":1}}"#).unwrap();
        assert!(failed.facets.error && failed.facets.tools == ["bash"]);
    }
}
