//! What a chat is answered: the reply, what tools did and made, and how session and workspace are now.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_engine::{Session, View};
use ramus_model::Role;
use ramus_model::message::Part;
use ramus_wire::okc::{ChatCall, ChatMeta, ChatReply, Nodes, WebPreview};
use serde_json::{Map, Value};

use super::Client;
use super::assets;
use super::boot::{RECENT, SNAPSHOTS};
use crate::access::Owner;
use crate::app::App;
use crate::error::{ApiError, Kind};
use crate::run::Running;

/// How much of a message is in the label of its snapshot, in characters.
const LABEL: usize = 60;

/// A turn that somebody waits for.
pub(super) struct Awaited {
    pub(super) app: Arc<App>,
    pub(super) owner: Owner,
    pub(super) client: Client,
    pub(super) run: Arc<Running>,
    pub(super) prompt: String,
    pub(super) started: Instant,
}

impl Awaited {
    /// Waits for the end of the turn, keeps the files as they are then, and says what came of it.
    pub(super) async fn reply(self) -> Result<Map<String, Value>, ApiError> {
        self.run.ended().await;
        let Self { app, owner, client, run, prompt, started } = self;
        let unended = || ApiError::new(Kind::Broken, "the turn did not say how it ended");
        let end = run.end().ok_or_else(unended)??;
        let latency = started.elapsed();
        let (whose, name) = (owner.clone(), client.clone());
        app.work_alone(&whose, &name, move |app| {
            let mut session = app.session(&owner, run.session.as_str())?;
            let unkept = keep_files(app, &mut session, &end, &prompt)?;
            let workspace_state = app.workspace_state(&mut session, SNAPSHOTS)?;
            let around = Around { run: &run.id, latency, workspace_state, snapshot_error: unkept };
            compose(&session, &client, &end, around)
        })
        .await
    }
}

/// Takes a snapshot of a workspace behind a turn, unless the turn did; says why there is none.
fn keep_files(
    app: &App,
    session: &mut Session,
    end: &Map<String, Value>,
    prompt: &str,
) -> Result<Option<String>, ApiError> {
    let is_kept = end.get("snapshot").is_some_and(|snapshot| !snapshot.is_null());
    if is_kept || !app.engine.has_workspace(session) {
        return Ok(None);
    }
    let line = prompt.trim().lines().next().unwrap_or_default();
    let label: String = line.chars().take(LABEL).collect();
    // What was said and answered is stored; that files could not be kept is no reason to say otherwise.
    let kept = app.engine.snapshot(session, Some(&format!("After: {label}")));
    app.finish(session)?;
    Ok(kept.err().map(|error| error.to_string()))
}

/// What is told beside what was said.
struct Around<'a> {
    run: &'a str,
    latency: Duration,
    workspace_state: Map<String, Value>,
    snapshot_error: Option<String>,
}

fn compose(
    session: &Session,
    client: &Client,
    end: &Map<String, Value>,
    around: Around<'_>,
) -> Result<Map<String, Value>, ApiError> {
    let mut views = session.messages(session.log().leaf(), None, None)?.messages;
    let asked = views.iter().rposition(|view| view.message.role == Role::User).map_or(0, |at| at + 1);
    let said: Vec<View> = views.drain(asked.min(views.len())..).collect();
    let calls = calls(&said);
    let failed = end.get("error").and_then(Value::as_str);
    let answer = said.iter().rev().find(|view| view.message.role == Role::Assistant);
    let reply = match failed {
        Some(reason) => format!("An error occurred: {reason}"),
        None => answer.map(|view| view.message.text()).unwrap_or_default(),
    };
    let made = end.get("artifacts").and_then(Value::as_array).cloned().unwrap_or_default();
    let artifacts: Vec<Value> = made.into_iter().map(|one| assets::addressed(one, client)).collect();
    let preview = artifacts.iter().find(|one| one.get("type").is_some_and(|kind| kind == "web"));
    // What was not allowed, or went wrong, made none.
    let mut done = calls.iter().rev().filter(|call| call.success == Some(true));
    let slides = done.find_map(|call| call.tool_input.get("slides").filter(|list| list.is_array()));
    let usage = end.get("usage").unwrap_or(&Value::Null);
    let tokens = |name: &str| format!("{} tokens", usage.get(name).and_then(Value::as_u64).unwrap_or_default());
    Ok(ramus_wire::object_of(&ChatReply {
        reply,
        error: failed,
        meta: ChatMeta {
            model: answer.and_then(|view| view.message.answer.as_ref()).and_then(|answer| answer.model.as_deref()),
            timestamp: answer.map(|view| ChatMeta::clock(&view.timestamp)),
            tokens_in: tokens("input"),
            tokens_out: tokens("output"),
            summary: summary(&calls),
            finish_reason: end.get("finish_reason"),
            usage,
            cost_micros: end.get("cost_micros"),
            latency: format!("{:.2} s", around.latency.as_secs_f64()),
        },
        web_preview: preview.map(|one| WebPreview {
            url: one.get("url"),
            title: one.get("name"),
            deployment_id: one.get("slug"),
        }),
        ppt_slides: slides.cloned().unwrap_or_else(|| Value::Array(Vec::new())),
        artifacts: &artifacts,
        tool_calls: &calls,
        vm_history: Nodes::of(session)?.recent(RECENT)?,
        run: around.run,
        workspace_state: around.workspace_state,
        snapshot_error: around.snapshot_error,
    }))
}

/// What was called since somebody said something, each with what came of it.
fn calls(said: &[View]) -> Vec<ChatCall> {
    let results = said.iter().filter_map(|view| Some((view.message.result.as_ref()?, view)));
    let results: HashMap<&str, (String, bool)> =
        results.map(|(result, view)| (result.call.as_str(), (view.message.text(), result.is_error))).collect();
    let parts = said.iter().flat_map(|view| view.message.calls());
    let mut calls = Vec::new();
    for part in parts {
        let Part::ToolCall { id, name, arguments } = part else { continue };
        let input = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.as_str().into());
        let (output, is_error) = results.get(id.as_str()).cloned().unzip();
        calls.push(ChatCall {
            step: calls.len() + 1,
            tool_name: name.clone(),
            tool_input: input,
            tool_output: output,
            success: is_error.map(|is_error| !is_error),
            source: "registry",
            invocation_id: id.clone(),
        });
    }
    calls
}

/// One line about what was done.
fn summary(calls: &[ChatCall]) -> String {
    let Some(last) = calls.last() else { return String::new() };
    match last.tool_output.as_deref().unwrap_or_default().trim().lines().next() {
        Some(line) => line.to_owned(),
        None => format!("Executed tool: {}", last.tool_name),
    }
}
