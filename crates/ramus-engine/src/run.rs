//! `run`: one turn. Drives the state machine of `ramus-agent`: stores what it wants stored, asks the model, runs tools, and
//! reports back. Appends happen on the caller's thread, everything that waits on a runtime beside it.
//!
//! The invariant is the state machine's: nothing is asked or run before what leads to it is durable.

mod act;
mod ask;
mod recover;
mod store;
mod summarise;
mod system;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use ramus_agent::{Effect, End, Event, Input, Limits, Turn};
use ramus_model::EntryId;
use ramus_model::message::Usage;
use ramus_model::permission::{Approval, Permissions};
use ramus_model::request::{Request, Thinking};
use ramus_model::usage::{ModelName, Prices, Tokens};
use ramus_provider::{Facts, Resolved};
use ramus_tools::Tool;
use tokio::runtime::Handle;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
pub use act::{Answer, Asker};
pub use summarise::Summariser;
pub use system::system_prompt;

/// What a turn is run with.
#[derive(Clone)]
pub struct Run {
    /// What a person says; none to let the model answer what the path ends with.
    pub prompt: Option<String>,
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
    /// What models cost.
    pub prices: Prices,
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

/// Where whoever drives a turn, and everything it started, says what happened.
#[derive(Clone)]
pub struct Inbox(Sender<Message>);

impl Inbox {
    /// Says that something happened. After the end nobody listens.
    pub fn send(&self, input: Input) {
        let _ = self.0.send(Message::Input(input));
    }
}

/// What comes in.
enum Message {
    Input(Input),
    /// A summary, or why there is none.
    Summary(Result<String, String>),
    /// A person said yes for longer than one call.
    Approved(Approval),
}

/// Makes an inbox for a turn.
pub fn inbox() -> (Inbox, Letters) {
    let (sender, receiver) = channel();
    (Inbox(sender), Letters(receiver))
}

/// What came in.
pub struct Letters(Receiver<Message>);

/// A turn that runs.
struct Running<'r> {
    engine: &'r Engine,
    session: &'r mut Session,
    run: Run,
    runtime: Handle,
    inbox: Inbox,
    watcher: &'r mut dyn FnMut(&Event),
    request: Option<Request>,
    asking: Option<tokio::task::JoinHandle<()>>,
    calls: act::Calls,
    compaction: Option<crate::verb::compact::Prepared>,
    spent: Vec<Usage>,
    cost: Option<u64>,
    last: Option<EntryId>,
}

impl Engine {
    /// Runs a turn to its end. `inbox` is where it can be cancelled and steered; `watcher` is told what happens.
    pub fn run(
        &self,
        session: &mut Session,
        run: Run,
        runtime: &Handle,
        (inbox, letters): (Inbox, Letters),
        watcher: &mut dyn FnMut(&Event),
    ) -> Result<TurnResult, EngineError> {
        self.make_writable(session)?;
        let _lease = self.store.lease(session.location(), self.now())?;
        let (name, limits) = (crate::verb::create::new_entry_id(|id| session.log().seq_of(id).is_some()), run.limits);
        let mut running = Running {
            engine: self,
            session,
            runtime: runtime.clone(),
            inbox,
            watcher,
            request: None,
            asking: None,
            calls: act::Calls::default(),
            compaction: None,
            spent: Vec::new(),
            cost: Some(0),
            last: None,
            run,
        };
        running.close_what_was_interrupted()?;
        let prompt = running.run.prompt.take();
        let (mut turn, effects) = Turn::start(name.as_str(), prompt, limits);
        let mut effects: VecDeque<Effect> = effects.into();
        loop {
            while let Some(effect) = effects.pop_front() {
                match running.perform(effect)? {
                    Next::Nothing => {}
                    Next::Happened(input) => effects.extend(turn.step(input)),
                    Next::Ended(end) => return running.finish(end),
                }
            }
            let letter = letters.0.recv();
            let input = match letter {
                Ok(Message::Input(input)) => input,
                Ok(Message::Summary(summary)) => running.take_summary(summary)?,
                Ok(Message::Approved(approval)) => {
                    running.approve(approval)?;
                    continue;
                }
                // Our own sender lives as long as the turn.
                Err(_) => Input::Cancel,
            };
            effects.extend(turn.step(input));
        }
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
    fn perform(&mut self, effect: Effect) -> Result<Next, EngineError> {
        Ok(match effect {
            Effect::Store(ticket, what) => {
                self.store(what)?;
                Next::Happened(Input::Stored(ticket))
            }
            Effect::Prepare { degrade } => Next::Happened(Input::Prepared(self.prepare(degrade))),
            Effect::Ask { said } => {
                self.ask(&said);
                Next::Nothing
            }
            Effect::StopAsking => {
                self.stop_asking();
                Next::Nothing
            }
            Effect::Compact => self.compact()?,
            Effect::Judge(at, call) => self.judge(at, &call),
            Effect::Run(at, _) => {
                self.start(at);
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
                (self.watcher)(&event);
                Next::Nothing
            }
            Effect::End(end) => Next::Ended(end),
        })
    }

    fn finish(mut self, end: End) -> Result<TurnResult, EngineError> {
        self.stop_asking();
        let mut usage = Tokens::default();
        self.spent.iter().for_each(|spent| usage.add(Tokens::from(spent)));
        let result = TurnResult { entry: None, end, usage, cost_micros: self.cost };
        self.store_end(&result)?;
        self.engine.flush(self.session)?;
        Ok(TurnResult { entry: self.last.clone(), ..result })
    }

    /// The name of the model that is asked.
    fn model(&self) -> &ModelName {
        &self.run.model.model
    }
}

/// Tools by their name.
fn by_name(tools: &[Arc<dyn Tool>]) -> HashMap<String, Arc<dyn Tool>> {
    tools.iter().map(|tool| (tool.definition().name, Arc::clone(tool))).collect()
}
