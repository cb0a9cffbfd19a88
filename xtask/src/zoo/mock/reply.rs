//! What the model answers. It follows from the request alone: which prompt came last, what came back since, which tools
//! there are.

use ramus_testkit::model_server::{Format, Part, Reply, tag};
use serde_json::{Value, json};

use super::super::history::{self, Item};

/// A prompt that makes an agent do something, and what the model says before and after.
pub(in crate::zoo) struct Turn {
    pub(in crate::zoo) prompt: &'static str,
    before: &'static str,
    commands: &'static [&'static str],
    pub(in crate::zoo) after: &'static str,
}

/// What every agent goes through: a call, two calls at once of which one fails, and words.
pub(in crate::zoo) const TURNS: [Turn; 3] = [
    Turn {
        prompt: "Please make a file.",
        before: "I will make the file.",
        commands: &["printf 'one\\n' > one.txt && ls"],
        after: "Made one.txt.",
    },
    Turn {
        prompt: "Now read two files: \u{4e2d}\u{6587} & <b>\"quoted\" \\ text</b>.",
        before: "Reading both.",
        commands: &["cat one.txt", "cat missing.txt"],
        after: "One of them is missing. \u{2713}",
    },
    Turn {
        prompt: "Thanks.\n\nWhat did you do?",
        before: "",
        commands: &[],
        after: "I made a file\nand read it: \u{1f41b} \u{e9}.",
    },
];

/// What an agent is asked that resumes.
pub(in crate::zoo) const RESUMED: Turn =
    Turn { prompt: "And what comes next?", before: "", commands: &[], after: "That is all." };

/// What the model thinks before it calls.
pub(in crate::zoo) const THOUGHT: &str = "A command will do.";

/// Tools that run a command, by the names that agents give them, and the argument that takes it.
const SHELLS: [(&str, &str); 6] = [
    ("exec_command", "cmd"),
    ("Bash", "command"),
    ("bash", "command"),
    ("shell", "command"),
    ("run_shell_command", "command"),
    ("developer__shell", "command"),
];

/// Decides what is answered.
pub(super) fn decide(format: Format, body: &Value) -> Reply {
    let items = history::items(format, body);
    let turns = || TURNS.iter().chain([&RESUMED]);
    let place = items.iter().enumerate().rev().find_map(|(at, item)| match item {
        Item::User(text) => turns().find(|turn| text.contains(turn.prompt)).map(|turn| (at, turn)),
        _ => None,
    });
    let Some((at, turn)) = place else { return Reply::text("A conversation") };
    let came_back = items.iter().skip(at).any(|item| matches!(item, Item::Result { .. }));
    let shell = shell(body);
    match shell {
        Some((name, argument)) if !came_back && !turn.commands.is_empty() => {
            let reply = Reply::default().think([THOUGHT]).say([turn.before]);
            turn.commands
                .iter()
                .fold(reply, |reply, command| reply.call(name, json!({argument: command, "description": "As asked"})))
        }
        _ => Reply::text(turn.after),
    }
}

/// The tool that runs commands; none when the request is not the agent's own but about it.
fn shell(body: &Value) -> Option<(&'static str, &'static str)> {
    let tools = body.get("tools")?.as_array()?;
    let declared = tools.iter().flat_map(|tool| match tool.get("functionDeclarations").and_then(Value::as_array) {
        Some(functions) => functions.iter().collect(),
        None => vec![tool.get("function").unwrap_or(tool)],
    });
    let names: Vec<&str> = declared.filter_map(|tool| tool.get("name")?.as_str()).collect();
    SHELLS.into_iter().find(|(name, _)| names.contains(name))
}

/// An answer that was not asked for as a stream: only what an agent asks aside is.
pub(super) fn whole(format: Format, model: &str, number: usize, body: &Value, reply: &Reply) -> Value {
    let text: String = reply.parts.iter().filter_map(spoken).collect();
    let id = tag(number);
    match format {
        Format::Anthropic => json!({
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }),
        Format::Chat => json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }),
        Format::Responses => json!({
            "id": format!("resp_{id}"), "object": "response", "created_at": 1, "model": model, "status": "completed",
            "output": [{"id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        }),
        Format::Gemini => json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": gemini_text(body, text)}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
            "modelVersion": model, "responseId": id,
        }),
    }
}

fn spoken(part: &Part) -> Option<String> {
    match part {
        Part::Text(texts) => Some(texts.concat()),
        _ => None,
    }
}

/// Gemini CLI asks itself who speaks next and which model to take, and wants JSON.
fn gemini_text(body: &Value, text: String) -> String {
    let kind = body.pointer("/generationConfig/responseMimeType").and_then(Value::as_str);
    match kind {
        Some("application/json") => json!({
            "reasoning": "asked", "next_speaker": "user", "model_choice": "pro", "complexity_reasoning": "none",
            "complexity_score": 50, "summary": "A conversation", "title": "A conversation",
        })
        .to_string(),
        _ => text,
    }
}
