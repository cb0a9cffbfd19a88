//! What is played through the gateway: the answers of the model at its end, and what the session must hold afterwards.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use ramus_testkit::model_server::judge::PIXEL;
use ramus_testkit::model_server::{Fault, Finish, Plan, Reply, Then};
use serde_json::{Value, json};

use crate::conformance::ramus::Ramus;

/// One scene.
pub(super) struct Scene {
    pub(super) name: &'static str,
    /// What the model answers.
    pub(super) plan: fn() -> Plan,
    /// Makes the session in which the turn is run; none for a new one.
    pub(super) prepare: fn(&Ramus) -> Result<Option<String>>,
    /// How the turn ends.
    pub(super) finish: &'static str,
    /// Judges what the session holds then, and says what is worth knowing.
    pub(super) judge: fn(&Value) -> Result<String>,
}

const TEXT: &str = "Gr\u{fc}\u{df}e \u{1f980}, \"quoted\"\n\ttabbed";

pub(super) const SCENES: [Scene; 6] = [
    Scene { name: "text", plan: text, prepare: nothing, finish: "stop", judge: |context| says(context, TEXT) },
    Scene { name: "parallel calls", plan: calls, prepare: nothing, finish: "stop", judge: results },
    Scene { name: "thinking", plan: thinking, prepare: nothing, finish: "stop", judge: |context| says(context, TEXT) },
    Scene { name: "image", plan: text, prepare: picture, finish: "stop", judge: |context| says(context, TEXT) },
    Scene { name: "length", plan: length, prepare: nothing, finish: "stop", judge: |context| says(context, TEXT) },
    Scene { name: "error", plan: refusal, prepare: nothing, finish: "error", judge: |_| Ok("told as an error".into()) },
];

/// Text in pieces that split nothing a reader would see.
fn text() -> Plan {
    Plan::of([Reply::default().say(["Gr\u{fc}", "\u{df}e ", "\u{1f980}, ", "\"quoted\"\n\ttabbed"])]).then(Then::Echo)
}

/// Two tools: litellm calls a call of Gemini's format after its tool, so two calls of one tool would have one id.
fn calls() -> Plan {
    let asks =
        Reply::default().say(["I look."]).call("read", json!({"path": "first.txt"})).call("list", json!({"path": "."}));
    Plan::of([asks, Reply::text("Both read.")]).then(Then::Echo)
}

fn thinking() -> Plan {
    Plan::of([Reply::default().think(["First ", "think."]).say([TEXT])]).then(Then::Echo)
}

fn length() -> Plan {
    let (first, rest) = TEXT.split_at(TEXT.find(',').unwrap_or_default());
    Plan::of([Reply::text(first).with_finish(Finish::Length), Reply::text(rest)]).then(Then::Echo)
}

fn refusal() -> Plan {
    let refused = || Reply::broken(Fault::Status { code: 401, retry_after: None });
    Plan::of((0..8).map(|_| refused()))
}

fn nothing(_: &Ramus) -> Result<Option<String>> {
    Ok(None)
}

/// A session in which a person has shown a picture.
fn picture(ramus: &Ramus) -> Result<Option<String>> {
    let made = ramus.json(["new", "--cwd", &ramus.folder().join("project").display().to_string()])?;
    let session = made.pointer("/session/id").and_then(Value::as_str).context("no session")?.to_owned();
    let content = json!([{"type": "text", "text": "Look:"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}]);
    let file = ramus.folder().join("picture.jsonl");
    fs::write(&file, json!({"type": "message", "message": {"role": "user", "content": content}}).to_string() + "\n")?;
    ramus.json_lines(["append", &session, &file.display().to_string()])?;
    Ok(Some(session))
}

fn messages(context: &Value) -> &[Value] {
    context.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn texts(message: &Value) -> String {
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// The last answer, to the letter.
fn says(context: &Value, expected: &str) -> Result<String> {
    let answer = messages(context).iter().rfind(|message| role(message) == "assistant").context("no answer")?;
    let said = texts(answer);
    ensure!(said == expected, "it says {said:?}, not {expected:?}");
    let parts = answer.get("content").and_then(Value::as_array).into_iter().flatten();
    let thoughts = parts.filter(|part| part.get("type").and_then(Value::as_str) == Some("thinking")).count();
    Ok(if thoughts > 0 { "text exact, with its thought".into() } else { "text exact".into() })
}

/// Both calls with what is there, then the last word.
fn results(context: &Value) -> Result<String> {
    let results: Vec<String> =
        messages(context).iter().filter(|message| role(message) == "toolResult").map(texts).collect();
    ensure!(results.len() == 2, "{} results: {results:?}", results.len());
    // They are stored as they come in.
    for held in ["one ring", "second.txt"] {
        ensure!(results.iter().any(|result| result.contains(held)), "no result says {held:?}: {results:?}");
    }
    says(context, "Both read.").map(|said| format!("2 results, {said}"))
}
