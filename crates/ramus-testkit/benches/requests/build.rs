//! A request of 200,000 tokens from a session that is open: context, repair, what is kept outside of lines, tokens, and the
//! bytes that go out, in each format.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ramus_engine::{Cursor, Engine, NewSession, Session};
use ramus_model::blob::Restore;
use ramus_model::context::provider;
use ramus_model::request::{Request, Thinking};
use ramus_model::usage::ModelName;
use ramus_model::{Body, Draft, tokens};
use ramus_provider::Facts;
use ramus_provider::wire::{Api, Dialect};
use ramus_store::{JsonlStore, Layout};
use serde_json::{Value, json};

use crate::{best, milliseconds};

const TOKENS: u64 = 200_000;

pub(super) fn measure(directory: &Path) -> io::Result<()> {
    let home = directory.join("build");
    let engine = Engine::new(Arc::new(JsonlStore::new(&home, Layout::Pi)), "bench");
    let mut session =
        engine.create(NewSession { cwd: "/".into(), ..NewSession::default() }).map_err(io::Error::other)?;
    engine.append(&mut session, &drafts(), &Cursor::Leaf).map_err(io::Error::other)?;
    for api in [Api::Completions, Api::Responses, Api::Anthropic, Api::Gemini] {
        let (time, bytes) = best(60, || request(&session, api).map_err(io::Error::other))?;
        let name = api.name();
        println!("{}", json!({"op": format!("build_{name}"), "min_ms": milliseconds(time), "bytes": bytes}));
    }
    Ok(())
}

/// What the engine does before a model is asked.
fn request(session: &Session, api: Api) -> Result<usize, ramus_engine::EngineError> {
    let context = session.context(session.log().leaf())?;
    let messages = provider::messages(session.log(), &context, &session.restored_lines(Restore::Everything))?;
    let counter = &tokens::Heuristic;
    let tokens = tokens::count_outgoing(session.log(), &context, &session.lines(), &messages, 0, counter)?;
    assert!(tokens >= TOKENS, "only {tokens} tokens");
    let request = Request {
        model: model(),
        system: "You are a coding agent.".into(),
        messages,
        tools: Vec::new(),
        max_tokens: Some(8_000),
        thinking: Thinking::Off,
        cache_key: None,
    };
    Ok(black_box(api.encode(&request, &Facts::default(), Dialect::Original)).len())
}

fn model() -> ModelName {
    ModelName { provider: "anthropic".into(), model: "claude-opus-5".into() }
}

/// Turns as agents have them: a thought, a call, a file of four kilobytes.
fn drafts() -> Vec<Draft> {
    let code = "    let value = map.get(\"key\").ok_or_else(|| Error::missing(path))?;\n".repeat(60);
    let message = |message: Value| Draft::new(Body::new("message", [("message", message)]));
    let mut drafts = vec![message(json!({"role": "user", "content": "Go on."}))];
    let turns = TOKENS * 4 / code.len() as u64 + 1;
    for turn in 0..turns {
        let id = format!("toolu_{turn}");
        let thought = json!({"type": "thinking", "thinking": "I should look at that file. ".repeat(8),
            "thinkingSignature": "c2Vh".repeat(60)});
        let call =
            json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": format!("src/{turn}.rs")}});
        let content = json!([thought, {"type": "text", "text": "I look."}, call]);
        let ModelName { provider, model } = model();
        drafts.push(message(json!({"role": "assistant", "content": content, "provider": provider, "model": model,
            "stopReason": "toolUse"})));
        drafts.push(message(json!({"role": "toolResult", "toolCallId": id, "toolName": "read",
            "content": [{"type": "text", "text": code}], "isError": false})));
    }
    drafts
}
