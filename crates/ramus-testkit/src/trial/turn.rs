//! A turn that crashes at every operation of the disk, and the turn after it. Matrix row E2, simulated: the turn is refused
//! once, thinks, makes three calls, is cut off by its length and makes room, so every step of a turn is crashed in.
//!
//! After a crash of the process everything that was written is there; after a power cut only what the disk confirmed. Then
//! the next turn crashes as well, while it cleans up, and the one after that must go on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_agent::{End, Event};
use ramus_engine::Session;
use ramus_engine::run::{Run, inbox};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use ramus_model::request::ToolDefinition;
use ramus_model::usage::ModelName;
use ramus_model::{Kind, Role};
use ramus_provider::{Resolved, Scripted};
use ramus_tools::{Effect, Outcome, Plan, Refusal, Tool};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::home::{CWD, PUBLISHED, engine, furnish};
use crate::sim::SimFs;

/// More operations than a turn has.
const MOST: usize = 2_000;

/// What crashing came to.
#[derive(Clone, Debug, Default)]
pub struct Crashed {
    /// After how many different operations the turn crashed.
    pub crashes: usize,
    /// How many disks were gone on with.
    pub disks: usize,
    /// What was wrong.
    pub violations: Vec<String>,
}

/// Crashes a turn after every operation of the disk, each time on a new one, and goes on.
pub fn crash_turns() -> Crashed {
    let mut crashed = Crashed::default();
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build() else {
        crashed.violations.push("there is no runtime".to_owned());
        return crashed;
    };
    for operations in 0..MOST {
        match crash_after(operations, &runtime, &mut crashed) {
            Ok(true) => return crashed,
            Ok(false) => crashed.crashes += 1,
            Err(wrong) => crashed.violations.push(format!("after operation {operations}: {wrong}")),
        }
        if crashed.violations.len() > 20 {
            break;
        }
    }
    crashed
}

/// Runs a turn that crashes, and those after it. Returns whether it did not crash any more.
fn crash_after(operations: usize, runtime: &Runtime, crashed: &mut Crashed) -> Result<bool, String> {
    let fs = SimFs::default();
    furnish(&fs);
    fs.record();
    let counter = Counter::default();
    fs.crash_after(operations);
    let told = turn(&fs, runtime, WHOLE, &counter);
    let is_over = told.end.is_some();
    if is_over && told.end != Some(End::Finished("stop".into())) {
        return Err(format!("without a crash it ends otherwise: {:?}", told.end));
    }
    let [lost, kept] = fs.history().extremes();
    for (image, is_kept) in [(kept, true), (lost, false)] {
        let fs = image.boot();
        // The turn that cleans up crashes too, each time somewhere else.
        fs.record();
        fs.crash_after(operations % 29);
        let cleaned = turn(&fs, runtime, SHORT, &counter);
        let [_, kept] = fs.history().extremes();
        let fs = kept.boot();
        let last = turn(&fs, runtime, SHORT, &counter);
        crashed.disks += 1;
        if last.end != Some(End::Finished("stop".into())) {
            return Err(format!("the last turn ended otherwise: {:?} {:?}", last.end, last.error));
        }
        let acknowledged: Vec<&Told> = vec![&told, &cleaned, &last];
        check(&fs, &acknowledged, &counter, is_kept).map_err(|wrong| format!("kept {is_kept}: {wrong}"))?;
    }
    Ok(is_over)
}

/// What a turn told before the disk crashed.
#[derive(Debug, Default)]
struct Told {
    entries: Vec<String>,
    marks: Vec<String>,
    end: Option<End>,
    error: Option<String>,
}

fn turn(fs: &SimFs, runtime: &Runtime, script: &str, counter: &Counter) -> Told {
    let engine = engine(fs);
    let mut told = Told::default();
    let mut session = match engine.open(PUBLISHED, CWD) {
        Ok(session) => session,
        Err(error) => return Told { error: Some(error.to_string()), ..told },
    };
    let provider = match Scripted::new(&script.replace("FILLING", &"…".repeat(2_000)), "the trial") {
        Ok(provider) => Arc::new(provider),
        Err(error) => return Told { error: Some(error.to_string()), ..told },
    };
    let model = ModelName { provider: "scripted".into(), model: "trial".into() };
    let mut run = Run::new(Resolved { provider, model }).with_prompt("do it");
    run.tools = vec![Arc::new(counter.clone())];
    let mut watcher = |event: &Event| {
        // Whoever was told something after the crash was told by nobody.
        if fs.failures() > 0 {
            return;
        }
        match event {
            Event::EntryAppended { entry, .. } => told.entries.push(entry.to_string()),
            Event::MessageDelta(text) => told.marks.extend(marks(text)),
            _ => {}
        }
    };
    let result = engine.run(&mut session, run, runtime.handle(), inbox(), &mut watcher);
    match result {
        Ok(result) => told.end = Some(result.end),
        Err(error) => told.error = Some(error.to_string()),
    }
    told
}

/// The marks in a text, each of which is said once.
fn marks(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.starts_with('«')).map(str::to_owned).collect()
}

fn check(fs: &SimFs, told: &[&Told], counter: &Counter, is_kept: bool) -> Result<(), String> {
    let session = engine(fs).open(PUBLISHED, CWD).map_err(|error| error.to_string())?;
    let found = Found::read(&session)?;
    for told in told.iter().take(if is_kept { 3 } else { 1 }) {
        if let Some(lost) = told.entries.iter().find(|entry| session.log().seq_of(entry).is_none()) {
            return Err(format!("entry {lost} was told of and is gone"));
        }
        if let Some(lost) = told.marks.iter().find(|mark| is_kept && !found.marks.contains(mark)) {
            return Err(format!("{lost} was shown and is gone"));
        }
    }
    let mut once = BTreeSet::new();
    if let Some(twice) = found.marks.iter().find(|mark| !once.insert(*mark)) {
        return Err(format!("{twice} is there twice"));
    }
    for (call, results) in &found.calls {
        if *results != 1 {
            return Err(format!("call {call} has {results} results"));
        }
    }
    for (call, count) in counter.counts() {
        if count > 1 {
            return Err(format!("call {call} ran {count} times"));
        }
        if is_kept && !found.started.contains(&call) {
            return Err(format!("call {call} ran, and nobody knows that it started"));
        }
    }
    Ok(())
}

/// What a session holds.
#[derive(Default)]
struct Found {
    marks: Vec<String>,
    calls: BTreeMap<String, usize>,
    started: Vec<String>,
}

impl Found {
    fn read(session: &Session) -> Result<Self, String> {
        let mut found = Self::default();
        for seq in session.log().seqs() {
            let line = session.line(seq).map_err(|error| error.to_string())?;
            let Some((raw, record)) = Raw::parse(&line).zip(session.log().record(seq)) else { continue };
            if record.kind == Kind::Custom {
                let value: Value = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
                found.started.extend(value.pointer("/data/call").and_then(Value::as_str).map(str::to_owned));
            }
            let Some(message) = Message::of_entry(raw) else { continue };
            match (record.role, &message.result) {
                (Role::ToolResult, Some(result)) => *found.calls.entry(result.call.clone()).or_default() += 1,
                (Role::Assistant, _) => message.parts.iter().for_each(|part| found.take(part)),
                _ => {}
            }
        }
        Ok(found)
    }

    fn take(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.marks.extend(marks(text)),
            Part::ToolCall { id, .. } => drop(self.calls.entry(id.clone()).or_default()),
            _ => {}
        }
    }
}

/// A tool that counts how often each call ran.
#[derive(Clone, Default)]
struct Counter(Arc<Mutex<BTreeMap<String, usize>>>);

impl Counter {
    fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Tool for Counter {
    fn definition(&self) -> ToolDefinition {
        let parameters = json!({"type": "object", "properties": {"call": {"type": "string"}}});
        ToolDefinition { name: "count".into(), description: "Counts.".into(), parameters }
    }

    fn plan(&self, arguments: &Value) -> Result<Plan, Refusal> {
        let call = arguments.pointer("/call").and_then(Value::as_str).unwrap_or_default().to_owned();
        let counts = Arc::clone(&self.0);
        Ok(Plan::blocking(Vec::new(), Effect::Changes, move |_| {
            *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
            Outcome::text("counted")
        }))
    }
}

/// A turn with everything in it. Pieces are so long that each is journalled at once.
const WHOLE: &str = r#"
[[answers]]
steps = [{ error = "busy", retry_after_ms = 1 }]
[[answers]]
steps = [
    { thinking = "hm" },
    { text = [" «one» FILLING", " «two» FILLING"] },
    { call = { name = "count", id = "a", arguments = { call = "a" } } },
    { call = { name = "count", id = "b", arguments = { call = "b" } } },
]
[[answers]]
steps = [{ text = " «three» FILLING" }, { finish = "length" }]
[[answers]]
steps = [{ text = " «four» FILLING" }, { call = { name = "count", id = "c", arguments = { call = "c" } } }]
[[answers]]
steps = [{ error = "overflow", needed = 2, available = 1 }]
[[answers]]
steps = [{ text = "What happened before." }]
[[answers]]
steps = [{ text = "What happened so far in this turn." }]
[[answers]]
steps = [{ text = " «five» FILLING" }]
"#;

/// A turn with one answer.
const SHORT: &str = r#"
[[answers]]
steps = [{ text = "Well." }]
"#;
