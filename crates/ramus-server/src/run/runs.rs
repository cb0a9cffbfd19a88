//! The turns that run, and how those ended that ran last.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramus_agent::Input;
use ramus_engine::run::{Inbox, Letters, NotTaken, WhenBusy as Said, inbox};
use ramus_model::SessionId;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::desk::Desk;
use super::{Order, WhenBusy};
use crate::access::Owner;
use crate::error::ApiError;
use crate::hub::{Frame, event};

/// How many turns that ended are remembered.
const REMEMBERED: usize = 256;

/// One turn.
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) session: SessionId,
    pub(crate) owner: Owner,
    pub(crate) desk: Desk,
    pub(crate) inbox: Inbox,
    end: watch::Sender<Option<End>>,
}

/// How a turn ended: the shape of its end, or why it could not be run.
pub(crate) type End = Result<Map<String, Value>, ApiError>;

impl Running {
    /// Says something to the model while the turn runs.
    pub(crate) fn say(&self, text: &str, when: WhenBusy) -> Result<(), ApiError> {
        let when = match when {
            WhenBusy::Reject => Said::Reject,
            WhenBusy::Steer => Said::Steer,
            WhenBusy::Queue => Said::FollowUp,
        };
        self.inbox.say(text, when).map_err(|refused| match refused {
            NotTaken::Busy(_) => ApiError::busy("a turn is running in this session"),
            NotTaken::Over(_) => ApiError::conflict("the turn is over").hint("start another one"),
        })
    }

    pub(crate) fn cancel(&self) {
        self.inbox.send(Input::Cancel);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.borrow().is_some()
    }

    pub(super) fn finish(&self, end: End) {
        self.end.send_replace(Some(end));
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) {
        let mut end = self.end.subscribe();
        // The sender is ours, so it is there.
        let _ = end.wait_for(Option::is_some).await;
    }

    /// Returns how it ended, if it has.
    pub(crate) fn end(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    /// Tells the end.
    pub(crate) fn end_frame(&self) -> Frame {
        let mut told = self.to_json();
        told.insert("type".into(), "run.ended".into());
        event("run.ended", None, &told.into()).ending(&self.id)
    }

    /// Describes the turn.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut object = ramus_wire::members(json!({"run": self.id, "session": self.session.as_str()}));
        match &*self.end.borrow() {
            None => {
                object.insert("status".into(), "running".into());
                object.insert("asked".into(), self.desk.asked().into());
            }
            Some(Ok(end)) => {
                object.insert("status".into(), "ended".into());
                object.insert("end".into(), end.clone().into());
            }
            Some(Err(error)) => {
                object.insert("status".into(), "failed".into());
                object.extend(ramus_wire::members(error.to_json()));
            }
        }
        object
    }
}

/// All turns.
pub(crate) struct Runs {
    runs: Mutex<Known>,
    most: usize,
}

#[derive(Default)]
struct Known {
    running: HashMap<SessionId, Arc<Running>>,
    ended: VecDeque<Arc<Running>>,
    /// What requests to start a turn came to that named a key.
    keys: VecDeque<((Owner, SessionId, String), Arc<Running>)>,
}

/// What became of an order.
pub(crate) enum Taken {
    /// A new turn is to be run.
    Started(Arc<Running>, Letters),
    /// A turn runs, and was told.
    Told(Arc<Running>),
}

impl Runs {
    pub(crate) fn new(most: usize) -> Self {
        Self { runs: Mutex::default(), most }
    }

    /// Takes an order for a session. At most one turn runs in a session at a time.
    pub(crate) fn take(
        &self,
        owner: &Owner,
        session: &SessionId,
        order: &Order,
        key: Option<&str>,
    ) -> Result<Taken, ApiError> {
        let mut known = self.known();
        let named = key.map(|key| (owner.clone(), session.clone(), key.to_owned()));
        if let Some((_, run)) = known.keys.iter().find(|(key, _)| Some(key) == named.as_ref()) {
            return Ok(Taken::Told(Arc::clone(run)));
        }
        if let Some(running) = known.running.get(session) {
            let running = Arc::clone(running);
            let prompt = order.prompt.as_deref();
            let nothing =
                || ApiError::busy("a turn is running in this session").hint("watch it, steer it, or cancel it");
            running.say(prompt.ok_or_else(nothing)?, order.when_busy)?;
            known.remember(named, &running);
            return Ok(Taken::Told(running));
        }
        if known.running.len() >= self.most {
            return Err(ApiError::busy("as many turns are running as may").hint("wait for one of them to end"));
        }
        let (inbox, letters) = inbox();
        let run = Arc::new(Running {
            id: uuid::Uuid::now_v7().to_string(),
            session: session.clone(),
            owner: owner.clone(),
            desk: Desk::default(),
            inbox,
            end: watch::channel(None).0,
        });
        known.running.insert(session.clone(), Arc::clone(&run));
        known.remember(named, &run);
        Ok(Taken::Started(run, letters))
    }

    /// Moves a turn to those that ended.
    pub(super) fn ended(&self, run: &Arc<Running>) {
        let mut known = self.known();
        known.running.remove(&run.session);
        known.ended.push_back(Arc::clone(run));
        if known.ended.len() > REMEMBERED {
            known.ended.pop_front();
        }
    }

    /// Finds a turn of a session.
    pub(crate) fn find(&self, owner: &Owner, session: &str, id: &str) -> Result<Arc<Running>, ApiError> {
        let known = self.known();
        let mut all = known.running.values().chain(&known.ended);
        let is_it = |run: &&Arc<Running>| run.id == id && run.session.as_str() == session && run.owner == *owner;
        all.find(is_it).cloned().ok_or_else(|| ApiError::not_found(format!("the session has no turn {id:?}")))
    }

    /// Lists the turns of a session, those that run first.
    pub(crate) fn of_session(&self, owner: &Owner, session: &str) -> Vec<Arc<Running>> {
        let known = self.known();
        let all = known.running.values().chain(known.ended.iter().rev());
        all.filter(|run| run.session.as_str() == session && run.owner == *owner).cloned().collect()
    }

    /// Returns how many run.
    pub(crate) fn count(&self) -> usize {
        self.known().running.len()
    }

    /// Cancels everything and waits for it, but not for ever.
    pub(crate) async fn end_all(&self, patience: Duration) {
        let running: Vec<Arc<Running>> = self.known().running.values().cloned().collect();
        running.iter().for_each(|run| run.cancel());
        let all = futures_util::future::join_all(running.iter().map(|run| run.ended()));
        let _ = tokio::time::timeout(patience, all).await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn remember(&mut self, key: Option<(Owner, SessionId, String)>, run: &Arc<Running>) {
        let Some(key) = key else { return };
        self.keys.push_back((key, Arc::clone(run)));
        if self.keys.len() > REMEMBERED {
            self.keys.pop_front();
        }
    }
}
