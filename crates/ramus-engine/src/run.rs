//! `run`: one turn. Drives the state machine of `ramus-agent`: stores what it wants stored, asks the model, runs tools, and
//! reports back. Appends happen on the caller's thread, everything that waits on a runtime beside it.
//!
//! The invariant is the state machine's: nothing is asked or run before what leads to it is durable.

mod act;
mod apart;
mod artifact;
mod ask;
mod book;
mod child;
mod files;
mod inbox;
mod note;
mod past;
mod recover;
mod spill;
mod store;
mod summarise;
mod system;
mod tell;
mod title;
mod watch;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ramus_agent::{Effect, End, Event, Input, Limits, Turn};
use ramus_model::EntryId;
use ramus_model::budget::{Keep, Triggers};
use ramus_model::message::Usage;
use ramus_model::permission::{Approval, Permissions};
use ramus_model::request::{Request, Thinking};
use ramus_model::usage::{ModelName, Prices, Tokens};
use ramus_provider::{Facts, Resolved};
use ramus_tools::Tool;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::journal::Journalling;
use crate::operation::Doing;
use crate::session::Session;
pub use act::{Answer, Asker};
pub use apart::{Apart, Equip};
pub use book::keeps_book;
pub(crate) use book::told;
pub use child::{Delegate, Task};
pub use files::TurnFiles;
use inbox::Message;
pub use inbox::{GoesOn, Inbox, Letters, NotTaken, WhenBusy, inbox, watching};
pub use past::PastTurn;
pub(crate) use recover::answered;
pub(crate) use store::{DURATION, result_message};
pub use summarise::Summariser;
pub use system::system_prompt;
pub use title::TITLE_INSTRUCTIONS;

/// What a turn is run with.
#[derive(Clone)]
pub struct Run {
    /// What the turn is called; none for a name of its own. A turn that is named can be found by its name: see
    /// [`Session::turn_called`].
    pub name: Option<String>,
    /// What a person says; none to let the model answer what the path ends with.
    pub prompt: Option<String>,
    /// Pictures that belong to the prompt.
    pub pictures: Vec<crate::Picture>,
    /// Files that belong to the prompt.
    pub attachments: Vec<crate::Attachment>,
    /// Who answers.
    pub model: Resolved,
    /// What is known about the model.
    pub facts: Facts,
    /// Instructions that precede everything.
    pub system: String,
    /// What the model can call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What it may do.
    pub permissions: Permissions,
    /// What a person said yes to before.
    pub approvals: Vec<Approval>,
    /// Who is asked.
    pub asker: Arc<dyn Asker>,
    /// The most tokens of an answer; none lets the window decide.
    pub max_tokens: Option<u64>,
    /// How much the model may think.
    pub thinking: Thinking,
    /// How much the turn may do.
    pub limits: Limits,
    /// When the older part of the path is summarised.
    pub triggers: Triggers,
    /// What models cost.
    pub prices: Prices,
    /// Whether snapshots are taken around calls that may change files.
    pub snapshots: bool,
}

impl Run {
    /// A turn with this model, and nothing else: no prompt, no tools, nobody to ask.
    pub fn new(model: Resolved) -> Self {
        Self {
            name: None,
            prompt: None,
            pictures: Vec::new(),
            attachments: Vec::new(),
            model,
            facts: Facts::default(),
            system: String::new(),
            tools: Vec::new(),
            permissions: Permissions::default(),
            approvals: Vec::new(),
            asker: Arc::new(tell::Nobody),
            max_tokens: None,
            thinking: Thinking::Off,
            limits: Limits::default(),
            triggers: Triggers::default(),
            prices: Prices::default(),
            snapshots: true,
        }
    }

    /// Says something first.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnResult {
    /// The last entry it wrote.
    pub entry: Option<EntryId>,
    /// How it ended.
    pub end: End,
    /// What all its answers used.
    pub usage: Tokens,
    /// What that cost, in millionths of a US dollar; none when nobody knows.
    pub cost_micros: Option<u64>,
    /// What a person said while it ran and the model was not told, because it was over before.
    pub unheard: Vec<String>,
    /// What its tools made, as they describe it, newest first.
    pub artifacts: Vec<serde_json::Value>,
    /// What it changed in files.
    pub files: TurnFiles,
}

impl TurnResult {
    /// Returns why it ended, in one word.
    pub fn finish_reason(&self) -> &str {
        match &self.end {
            End::Finished(reason) => reason,
            End::Cancelled => "cancelled",
            End::Failed(_) => "error",
        }
    }
}

/// A turn that runs.
struct Running<'r> {
    engine: &'r Engine,
    session: &'r mut Session,
    run: Run,
    /// What it is called.
    name: String,
    /// The operation that it is.
    doing: Doing,
    runtime: Handle,
    inbox: Inbox,
    watcher: &'r mut dyn FnMut(&Event),
    journal: Journalling,
    timing: note::Timing,
    request: Option<Request>,
    /// What stays when room is made for it.
    keep: Option<Keep>,
    asking: Option<tokio::task::JoinHandle<()>>,
    calls: act::Calls,
    compaction: Option<crate::verb::compact::Prepared>,
    spent: Vec<Usage>,
    cost: Option<u64>,
    last: Option<EntryId>,
    artifacts: Vec<serde_json::Value>,
    changes: files::Changes,
}

impl Engine {
    /// Runs a turn to its end. `inbox` is where it can be cancelled and talked to; `watcher` is told what happens.
    ///
    /// A session that another process runs is refused. What a turn left whose process is gone is kept first; nothing of it
    /// is run again.
    pub fn run(
        &self,
        session: &mut Session,
        run: Run,
        runtime: &Handle,
        post: (Inbox, Letters),
        watcher: &mut dyn FnMut(&Event),
    ) -> Result<TurnResult, EngineError> {
        let result = self.run_turn(session, run, runtime, post, watcher);
        if let Err(error) = &result {
            self.bus.fail(session.id(), &error.to_string());
        }
        result
    }

    fn run_turn(
        &self,
        session: &mut Session,
        mut run: Run,
        runtime: &Handle,
        (inbox, letters): (Inbox, Letters),
        watcher: &mut dyn FnMut(&Event),
    ) -> Result<TurnResult, EngineError> {
        self.make_writable(session)?;
        let _lease = self.store.lease(session.location(), self.now())?;
        session.refresh()?;
        if let Err(error) = self.end_travel(session) {
            session.notices.push(format!("a restore that was interrupted could not be ended: {error}"));
        }
        let unnamed = || crate::verb::create::new_entry_id(|id| session.log().seq_of(id).is_some()).to_string();
        let name = run.name.take().unwrap_or_else(unnamed);
        let (prompt, limits) = (run.prompt.take(), run.limits);
        run.asker = tell::asker(run.asker, inbox.clone());
        let mut running = Running {
            engine: self,
            session,
            run,
            name: name.clone(),
            doing: Doing::called(Running::OPERATION, self, &name),
            runtime: runtime.clone(),
            inbox,
            watcher,
            journal: Journalling::none(),
            timing: note::Timing::default(),
            request: None,
            keep: None,
            asking: None,
            calls: act::Calls::default(),
            compaction: None,
            spent: Vec::new(),
            cost: Some(0),
            last: None,
            artifacts: Vec::new(),
            changes: files::Changes::default(),
        };
        running.read_what_was_kept();
        running.close_what_was_interrupted()?;
        running.start_journal();
        running.tell_start();
        let (mut turn, effects) = Turn::start(&name, prompt, limits);
        let mut effects: VecDeque<Effect> = effects.into();
        let end = loop {
            match running.perform_all(&mut turn, &mut effects)? {
                Some(end) => break end,
                None => effects.extend(running.listen(&mut turn, &letters)?),
            }
        };
        let mut unheard = turn.unheard();
        unheard.extend(letters.close());
        running.finish(end, unheard)
    }
}

/// What an effect came to.
enum Next {
    /// It will be reported.
    Nothing,
    /// It is done.
    Happened(Input),
    /// The turn is over.
    Ended(End),
}

impl Running<'_> {
    /// What its entries say that they were written by.
    const OPERATION: &'static str = "run";

    /// Does what the turn wants done, until it waits for something or is over.
    fn perform_all(&mut self, turn: &mut Turn, effects: &mut VecDeque<Effect>) -> Result<Option<End>, EngineError> {
        while let Some(effect) = effects.pop_front() {
            match self.perform(effect)? {
                Next::Nothing => {}
                Next::Happened(input) => effects.extend(turn.step(input)),
                Next::Ended(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    /// Waits for what happens next, and returns what the turn wants done about it.
    fn listen(&mut self, turn: &mut Turn, letters: &Letters) -> Result<Vec<Effect>, EngineError> {
        let input = match letters.next(self.deadline(turn.busy())) {
            Message::Input(input) => input,
            Message::Summary(summary) => self.take_summary(summary)?,
            Message::Tell(event) => {
                self.tell(event);
                return Ok(Vec::new());
            }
            Message::Ran(call, took) => {
                self.timing.ran(call, took);
                return Ok(Vec::new());
            }
            Message::Approved(approval) => {
                self.approve(approval)?;
                return Ok(Vec::new());
            }
            Message::Time => {
                self.notice_time();
                return Ok(Vec::new());
            }
        };
        self.timing.hear(&input);
        Ok(turn.step(input))
    }

    fn perform(&mut self, effect: Effect) -> Result<Next, EngineError> {
        Ok(match effect {
            Effect::Store(ticket, what) => {
                let seq = self.store(what)?;
                Next::Happened(Input::Stored { ticket, seq })
            }
            Effect::Prepare { degrade } => Next::Happened(Input::Prepared(self.prepare(degrade))),
            Effect::Ask { said } => {
                self.ask(&said);
                Next::Nothing
            }
            Effect::Journal(delta) => {
                self.journal(delta);
                Next::Nothing
            }
            Effect::StopAsking => {
                self.stop_asking();
                Next::Nothing
            }
            Effect::Compact => self.compact()?,
            Effect::Judge(at, call) => self.judge(at, &call),
            Effect::Run(at, call) => {
                self.start(at, &call.id);
                self.timing.start(at, call.id);
                Next::Nothing
            }
            Effect::StopCall(at) => {
                self.stop(at);
                Next::Nothing
            }
            Effect::Wait(timer, delay) => {
                let inbox = self.inbox.clone();
                // Clients that failed at the same moment must not come back at the same moment.
                let spread = f64::from(*uuid::Uuid::new_v4().as_bytes().first().unwrap_or(&0)) / 1024.0;
                self.runtime.spawn(async move {
                    tokio::time::sleep(delay.mul_f64(1.0 + spread)).await;
                    inbox.send(Input::Elapsed(timer));
                });
                Next::Nothing
            }
            Effect::Tell(event) => {
                self.tell(event);
                Next::Nothing
            }
            Effect::End(end) => Next::Ended(end),
        })
    }

    fn finish(mut self, end: End, unheard: Vec<String>) -> Result<TurnResult, EngineError> {
        let mut usage = Tokens::default();
        self.spent.iter().for_each(|spent| usage.add(Tokens::from(spent)));
        let artifacts = std::mem::take(&mut self.artifacts);
        let entry = self.last.clone();
        let (files, members) = self.sum_up_files()?;
        let result = TurnResult { entry, end, usage, cost_micros: self.cost, unheard, artifacts, files };
        let diff = told_diff(&members);
        let seq = self.store_end(&result, members)?;
        self.engine.flush(self.session)?;
        self.end_journal();
        if !diff.is_empty() {
            self.tell(Event::SessionDiff { diff, seq });
        }
        self.tell_end(&result, seq);
        Ok(result)
    }

    /// The name of the model that is asked.
    fn model(&self) -> &ModelName {
        &self.run.model.model
    }
}

impl Drop for Running<'_> {
    /// A turn that could not go on leaves nothing running.
    fn drop(&mut self) {
        self.stop_asking();
        for at in self.timing.underway() {
            self.stop(at);
        }
    }
}

/// The files that the entry of a turn tells of.
fn told_diff(members: &[(&'static str, Value)]) -> Vec<Value> {
    let diff = members.iter().find(|(name, _)| *name == "diff").and_then(|(_, diff)| diff.as_array());
    diff.cloned().unwrap_or_default()
}

/// Tools by their name.
fn by_name(tools: &[Arc<dyn Tool>]) -> HashMap<String, Arc<dyn Tool>> {
    tools.iter().map(|tool| (tool.definition().name, Arc::clone(tool))).collect()
}
