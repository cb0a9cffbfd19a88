//! `task`: a child session does part of the work. It has messages and a list of tasks of its own, runs beside its siblings,
//! and comes back with one result.
//!
//! The invariant: a child never may more than its parent, and ends when its parent does.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use ramus_agent::{End, Event, Input};
use ramus_model::permission::{Permissions, Question, covers};
use ramus_model::request::ToolDefinition;
use ramus_model::{Seq, SessionId};
use ramus_tools::{Cancel, Effect, Outcome, Plan, Refusal, Tool};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::apart::{Apart, Brought, Copy};
use super::{Inbox, Letters, Run, TurnResult, inbox};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::create::NewSession;

/// How deep children may have children unless it is said: not at all.
const DEEPEST: usize = 1;

/// How long the title of a child is at most, in characters.
const TITLE: usize = 60;

/// Whom work can be given to: how such a child differs from its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegate {
    /// What it is called.
    pub name: String,
    /// What it is good for, as the model is told.
    pub description: String,
    /// What it is told about itself; empty to tell it what its parent is told.
    pub prompt: String,
    /// The tools it has; none for all that its parent has.
    pub tools: Option<Vec<String>>,
    /// What it may do, as far as its parent may too; none for all that its parent may.
    pub permissions: Option<Permissions>,
}

/// Gives work to child sessions.
#[derive(Clone)]
pub struct Task {
    engine: Engine,
    parent: SessionId,
    cwd: String,
    run: Run,
    delegates: Arc<Vec<Delegate>>,
    /// Where the parent hears of its children.
    inbox: Inbox,
    depth: usize,
    /// How deep children may be.
    deepest: usize,
    /// Where children can work apart, if they can.
    apart: Option<Apart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    agent: String,
    prompt: String,
    description: String,
    /// Whether it works in a copy of the directory.
    #[serde(default)]
    apart: bool,
}

impl Task {
    /// Makes the tool for a turn of `session` that is run with `run`; `inbox` is where that turn hears what happens.
    pub fn new(engine: &Engine, session: &Session, run: &Run, inbox: &Inbox, delegates: Vec<Delegate>) -> Self {
        let mut run = run.clone();
        run.prompt = None;
        run.pictures = Vec::new();
        run.attachments = Vec::new();
        Self {
            engine: engine.clone(),
            parent: session.id().clone(),
            cwd: session.cwd().to_owned(),
            run,
            delegates: Arc::new(delegates),
            inbox: inbox.clone(),
            depth: 1,
            deepest: DEEPEST,
            apart: None,
        }
    }

    /// Sets how deep children may have children; 1 for not at all.
    #[must_use]
    pub fn with_depth(mut self, deepest: usize) -> Self {
        self.deepest = deepest;
        self
    }

    /// Lets children work apart, in copies of the directory.
    #[must_use]
    pub fn with_copies(mut self, apart: Apart) -> Self {
        self.apart = Some(apart);
        self
    }

    /// What a child is run with, and the tool with which it can have children of its own.
    fn equip(&self, delegate: &Delegate, prompt: String, child: &Session, inbox: &Inbox) -> Run {
        let mut run = self.run.clone();
        (run.name, run.prompt) = (None, Some(prompt));
        if !delegate.prompt.is_empty() {
            run.system = format!("{}\n\n{}", delegate.prompt, run.system);
        }
        let is_allowed =
            |name: &str| delegate.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| covers(tool, name)));
        run.tools.retain(|tool| is_allowed(&tool.definition().name));
        if let Some(own) = delegate.permissions.clone() {
            run.permissions = own.child_of(&self.run.permissions);
        }
        if self.depth < self.deepest && is_allowed("task") {
            let deeper = Self {
                parent: child.id().clone(),
                cwd: child.cwd().to_owned(),
                run: run.clone(),
                inbox: inbox.clone(),
                depth: self.depth + 1,
                ..self.clone()
            };
            run.tools.push(Arc::new(deeper));
        }
        run
    }

    /// Runs a child to its end, on a thread where it may block.
    fn spawn(
        &self,
        delegate: &Delegate,
        asked: Arguments,
        (own, letters): (Inbox, Letters),
        runtime: &Handle,
    ) -> Result<Finished, EngineError> {
        let title: String = asked.description.chars().filter(|c| !c.is_control()).take(TITLE).collect();
        let mut child = self.engine.create(NewSession {
            cwd: self.cwd.clone(),
            title: Some(title).filter(|title| !title.trim().is_empty()),
            parent: Some(self.parent.clone()),
            ..NewSession::default()
        })?;
        let id = child.id().to_string();
        let started = Event::ChildStarted {
            child: id.clone(),
            agent: delegate.name.clone(),
            description: asked.description.clone(),
        };
        self.inbox.tell(started);
        let mut copy = match self.apart.as_ref().filter(|_| asked.apart) {
            Some(apart) => Some(self.engine.copy_for(&mut child, &apart.storage)?),
            None => None,
        };
        let run = match &copy {
            Some(copy) => self.in_copy(copy, &child)?.equip(delegate, asked.prompt, &child, &own),
            None => self.equip(delegate, asked.prompt, &child, &own),
        };
        let mut watcher = |event: &Event| {
            self.inbox.tell(Event::ChildEvent { child: id.clone(), event: Box::new(event.clone()) });
        };
        // What a model asks another is no prompt of a person.
        let result = self.engine.without_history().run(&mut child, run, runtime, (own, letters), &mut watcher);
        let is_good = matches!(&result, Ok(TurnResult { end: End::Finished(_), .. }));
        let mut brought = None;
        if let Some(mut copy) = copy.take() {
            let (back, root) = (is_good.then(|| self.engine.bring_back(&mut copy, &child)), copy.root.clone());
            // What could not be brought back is left where it is.
            let is_kept = back.as_ref().is_some_and(|back| !matches!(back, Ok(Brought { is_applied: true, .. })));
            if !is_kept {
                self.engine.drop_copy(copy, &mut child)?;
            }
            brought = back.transpose()?.map(|brought| (brought, root));
        }
        let finish_reason = result.as_ref().map_or("error", TurnResult::finish_reason).to_owned();
        self.inbox.tell(Event::ChildFinished { child: id.clone(), finish_reason });
        let result = result?;
        let seq = result.entry.as_ref().and_then(|entry| child.log().seq_of(entry.as_str()));
        let text = seq.map(|seq: Seq| child.message(seq)).transpose()?.flatten().map(|message| message.text());
        let is_apart = asked.apart && self.apart.is_some();
        Ok(Finished { child: id, text: text.unwrap_or_default(), result, is_apart, brought })
    }

    /// The same, for a child that works in a copy: with tools of its own there, and none that reach beyond it.
    fn in_copy(&self, copy: &Copy, child: &Session) -> Result<Self, EngineError> {
        let equip = self.apart.as_ref().map(|apart| Arc::clone(&apart.equip));
        let equip = equip.ok_or_else(|| EngineError::Invalid("children cannot work apart here".into()))?;
        let mut tools = equip(&copy.root, child.id().as_str()).map_err(EngineError::Invalid)?;
        let has = |name: &str| self.run.tools.iter().any(|tool| tool.definition().name == name);
        tools.retain(|tool| has(&tool.definition().name));
        let mut run = self.run.clone();
        run.tools = tools;
        run.system = run.system.replace(&self.cwd, &copy.root.display().to_string());
        Ok(Self { run, ..self.clone() })
    }
}

/// A child that came to its end.
struct Finished {
    child: String,
    text: String,
    result: TurnResult,
    /// Whether it worked in a copy.
    is_apart: bool,
    /// What became of what it changed there, and where that is; none when it was dropped.
    brought: Option<(Brought, PathBuf)>,
}

impl Finished {
    fn outcome(self, name: &str) -> Outcome {
        let said = self.text.trim();
        let (mut text, is_error) = match &self.result.end {
            End::Finished(_) => (format!("@{name}: {said}"), false),
            End::Cancelled => (format!("@{name}: {said}\n[Cancelled; what it did so far may have taken effect]"), true),
            End::Failed(reason) => (format!("@{name}: {said}\n[Failed: {reason}]"), true),
        };
        match &self.brought {
            Some((brought, root)) => text.push_str(&brought.told(root)),
            None if self.is_apart => text.push_str("\n[What it changed was dropped]"),
            None => {}
        }
        let usage = self.result.usage;
        let details = json!({
            "changes": self.brought.as_ref().map(|(brought, _)| brought.to_json()),
            "session": self.child, "agent": name, "finish_reason": self.result.finish_reason(),
            "usage": {
                "input": usage.input, "output": usage.output,
                "cache_read": usage.cache_read, "cache_write": usage.cache_write,
            },
            "cost_micros": self.result.cost_micros,
        });
        let is_cancelled = self.result.end == End::Cancelled;
        Outcome { is_error, is_cancelled, ..Outcome::text(text) }.with_details(details)
    }
}

impl Tool for Task {
    fn definition(&self) -> ToolDefinition {
        let names: Vec<&str> = self.delegates.iter().map(|delegate| delegate.name.as_str()).collect();
        let mut description =
            "Gives part of the work to an agent with a session of its own, which knows only what the prompt \
            says and comes back with one answer. Several can work side by side. The agents:"
                .to_owned();
        for delegate in self.delegates.iter() {
            description.push_str(&format!("\n- {}: {}", delegate.name, delegate.description));
        }
        let mut properties = json!({
            "agent": {"type": "string", "enum": names},
            "prompt": {"type": "string", "description": "What to do and what to report, with everything needed for it"},
            "description": {"type": "string", "description": "The work in a few words"},
        });
        if let (Some(properties), true) = (properties.as_object_mut(), self.apart.is_some()) {
            let about = "Work in a copy of the directory, without what ignore files leave out. What it changes is applied \
                when it succeeds, and dropped when it fails";
            properties.insert("apart".to_owned(), json!({"type": "boolean", "description": about}));
        }
        let parameters = json!({
            "type": "object",
            "properties": properties,
            "required": ["agent", "prompt", "description"],
            "additionalProperties": false,
        });
        ToolDefinition { name: "task".to_owned(), description, parameters }
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let asked = Arguments::deserialize(value).map_err(|error| Refusal::Arguments(error.to_string()))?;
        if asked.apart && self.apart.is_none() {
            return Err(Refusal::Arguments("children cannot work apart here".to_owned()));
        }
        let known = self.delegates.iter().find(|delegate| delegate.name == asked.agent).cloned();
        let delegate = known.ok_or_else(|| Refusal::Arguments(format!("there is no agent {:?}", asked.agent)))?;
        let question = Question {
            permission: "task".to_owned(),
            exact: value.to_string(),
            subjects: vec![delegate.name.clone()],
            ..Question::default()
        };
        let this = self.clone();
        Ok(Plan::waiting(vec![question], Effect::Delegates, move |cancel: Cancel| {
            async move {
                if cancel.is_cancelled() {
                    return Outcome::cancelled();
                }
                let post = inbox();
                let stop = post.0.clone();
                let (runtime, name) = (Handle::current(), delegate.name.clone());
                let within = runtime.clone();
                let mut work = runtime.spawn_blocking(move || this.spawn(&delegate, asked, post, &within));
                let done = tokio::select! {
                    done = &mut work => done,
                    () = cancel.cancelled() => {
                        stop.send(Input::Cancel);
                        work.await
                    }
                };
                match done {
                    Ok(Ok(finished)) => finished.outcome(&name),
                    Ok(Err(error)) => Outcome::failed(format!("@{name} could not work: {error}")),
                    Err(error) => Outcome::failed(format!("@{name} broke: {error}")),
                }
            }
            .boxed()
        }))
    }
}
