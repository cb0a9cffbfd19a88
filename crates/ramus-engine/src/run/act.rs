//! Judging and running calls. A person is asked one question at a time, and what was answered for longer than one call is
//! stored before the call it was about may start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use ramus_agent::{Input, Outcome, Verdict};
use ramus_model::delta::Called;
use ramus_model::permission::{Action, Approval, Because, Question, decide};
use ramus_tools::{Cancel, Effect, Plan};
use serde_json::Value;
use tokio::sync::Mutex;

use super::inbox::Message;
use super::{Next, Running, by_name};
use crate::error::EngineError;

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No, and perhaps why.
    No(Option<String>),
    /// Nobody could be asked, in words for the model.
    Unasked(String),
    /// Yes, this time.
    Yes,
    /// Yes, and keep that.
    Always(Approval),
}

/// Someone who can be asked.
pub trait Asker: Send + Sync {
    /// Asks whether a call may run. A call may be asked about more than once; `id` is of no other question. Dropping the future
    /// withdraws the question.
    fn ask(&self, id: &str, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer>;
}

/// Calls that are judged or run.
#[derive(Default)]
pub(super) struct Calls {
    plans: HashMap<usize, Plan>,
    cancels: HashMap<usize, Cancel>,
    /// What calls do, by their ids.
    effects: HashMap<String, Effect>,
    /// Calls that change something run one after the other.
    one_at_a_time: Arc<Mutex<()>>,
    /// Held by whoever asks. What a person said yes to meanwhile may answer the next question too.
    given: Arc<Mutex<Vec<Approval>>>,
}

impl Calls {
    /// Says whether a call that was judged may change anything.
    pub(super) fn effect_of(&self, call: &str) -> Option<Effect> {
        self.effects.get(call).copied()
    }
}

impl Running<'_> {
    /// Decides whether a call may run, asking if need be.
    pub(super) fn judge(&mut self, at: usize, call: &Called) -> Next {
        let denied = |reason: String| Next::Happened(Input::Judged { call: at, verdict: Verdict::Denied(reason) });
        let Some(tool) = by_name(&self.run.tools).remove(&call.name) else {
            return denied(format!("[Error: there is no tool called {:?}]", call.name));
        };
        let arguments = Value::Object(call.arguments.clone().unwrap_or_default());
        let plan = match tool.plan(&arguments) {
            Ok(plan) => plan,
            Err(refusal) => return denied(format!("[Error: {refusal}]")),
        };
        let verdict = if plan.effect == Effect::Looks { Verdict::Harmless } else { Verdict::Allowed };
        let mut open = Vec::new();
        for question in &plan.questions {
            let decision = decide(&self.run.permissions, &self.run.approvals, question);
            match decision.action {
                Action::Allow => {}
                Action::Ask => open.push((question.clone(), decision.because)),
                Action::Deny => return denied(format!("[Denied: {}]", decision.because)),
            }
        }
        self.calls.effects.insert(call.id.clone(), plan.effect);
        self.calls.plans.insert(at, plan);
        self.calls.cancels.insert(at, Cancel::new());
        if open.is_empty() {
            return Next::Happened(Input::Judged { call: at, verdict });
        }
        self.put_questions(at, call, open, verdict);
        Next::Nothing
    }

    fn put_questions(&mut self, at: usize, call: &Called, open: Vec<(Question, Because)>, verdict: Verdict) {
        let cancel = self.calls.cancels.get(&at).cloned().unwrap_or_default();
        let (asker, permissions) = (Arc::clone(&self.run.asker), self.run.permissions.clone());
        let given = Arc::clone(&self.calls.given);
        let (inbox, call) = (self.inbox.clone(), call.clone());
        self.runtime.spawn(async move {
            let answers = async {
                let mut given = given.lock_owned().await;
                for (question, because) in open {
                    if decide(&permissions, &given, &question).action == Action::Allow {
                        continue;
                    }
                    let id = uuid::Uuid::now_v7().to_string();
                    match asker.ask(&id, &call, &question, &because).await {
                        Answer::Yes => {}
                        Answer::Always(approval) => {
                            given.push(approval.clone());
                            inbox.post(Message::Approved(approval));
                        }
                        Answer::Unasked(reason) => return Verdict::Denied(format!("[Denied: {reason}]")),
                        Answer::No(reason) => {
                            return Verdict::Denied(match reason {
                                Some(reason) => format!("[Denied by the user: {reason}]"),
                                None => "[Denied by the user]".to_owned(),
                            });
                        }
                    }
                }
                verdict
            };
            let verdict = tokio::select! {
                verdict = answers => verdict,
                () = cancel.cancelled() => Verdict::Denied("[Cancelled by the user before it started]".to_owned()),
            };
            inbox.send(Input::Judged { call: at, verdict });
        });
    }

    /// Stores what a person said yes to, and goes by it from now on.
    pub(super) fn approve(&mut self, approval: Approval) -> Result<(), EngineError> {
        if approval.is_stored() {
            self.engine.approve(self.session, &approval, &mut self.doing)?;
            self.run.approvals.push(approval);
        }
        Ok(())
    }

    /// Runs a call that was judged.
    pub(super) fn start(&mut self, at: usize, call: &str) {
        let inbox = self.inbox.clone();
        let Some(plan) = self.calls.plans.remove(&at) else {
            return inbox.send(Input::Done { call: at, outcome: Outcome::failed("[Error: the call was not planned]") });
        };
        let cancel = self.calls.cancels.get(&at).cloned().unwrap_or_default();
        let turn = Arc::clone(&self.calls.one_at_a_time);
        let store = self.session.has_blobs().then(|| Arc::clone(&self.engine.store));
        let watched = self.watched(plan.effect, call);
        self.runtime.spawn(async move {
            let _held = if plan.effect == Effect::Changes { Some(turn.lock_owned().await) } else { None };
            if let Some(watched) = &watched {
                watched.begin().await;
            }
            let since = Instant::now();
            let done = match &watched {
                Some(watched) => watched.beating(plan.run(cancel)).await,
                None => plan.run(cancel).await,
            };
            inbox.post(Message::Ran(at, since.elapsed()));
            if let Some(watched) = watched {
                watched.end(done.reach.clone()).await;
            }
            let outcome = super::spill::kept(store, done).await;
            inbox.send(Input::Done { call: at, outcome });
        });
    }

    /// Stops a call, or withdraws a question.
    pub(super) fn stop(&mut self, at: usize) {
        if let Some(cancel) = self.calls.cancels.get(&at) {
            cancel.cancel();
        }
    }
}
