//! The turns that run, and how those ended that ran last.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramus_agent::{Event, Input};
use ramus_engine::run::{Inbox, Letters, NotTaken, WhenBusy as Said, inbox};
use ramus_model::SessionId;
use ramus_wire::run::{AskedQuestion, RunStage, SpokenAnswer};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::desk::Desk;
use super::spoken::Spoken;
use super::{Order, WhenBusy};
use crate::access::Owner;
use crate::error::{ApiError, Kind};
use crate::hub::{Frame, event};

/// How many turns that ended are remembered.
const REMEMBERED: usize = 256;

/// How much of the digests of a key and of an order is in the name of a turn, in bytes.
const KEY: usize = 16;
const ORDER: usize = 8;

/// One turn.
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) session: SessionId,
    pub(crate) owner: Owner,
    pub(crate) desk: Desk,
    pub(crate) inbox: Inbox,
    /// What it is called in the log, when it was ordered with a key: so a later server finds it.
    pub(super) name: Option<String>,
    /// What was said to it that the model does not have yet.
    waiting: Mutex<Vec<String>>,
    /// The answer that is coming in.
    spoken: Mutex<Spoken>,
    /// Whether another turn may run in its session.
    is_free: watch::Sender<bool>,
    end: watch::Sender<Option<End>>,
}

/// How a turn ended: the shape of its end, or why it could not be run.
pub(crate) type End = Result<Map<String, Value>, ApiError>;

impl Running {
    fn new(owner: &Owner, session: &SessionId, name: Option<String>) -> (Arc<Self>, Letters) {
        let (inbox, letters) = inbox();
        let run = Self {
            id: name.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string()),
            session: session.clone(),
            owner: owner.clone(),
            desk: Desk::default(),
            inbox,
            name,
            waiting: Mutex::default(),
            spoken: Mutex::default(),
            is_free: watch::channel(false).0,
            end: watch::channel(None).0,
        };
        (Arc::new(run), letters)
    }

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
            NotTaken::Full(_) => ApiError::busy(refused.to_string()).hint("wait until the model has heard some of it"),
            NotTaken::TooLong(_) => ApiError::new(Kind::TooLarge, refused.to_string()).hint("send a file"),
        })
    }

    /// Takes out what was said and the model does not have yet. Whether it was is told with the queue.
    pub(crate) fn take_out(&self, text: String) -> Result<(), ApiError> {
        if self.is_closed() {
            return Err(ApiError::conflict("the turn is over"));
        }
        self.inbox.send(Input::TakeOut(text));
        Ok(())
    }

    /// Takes note of what the turn says about its queue, and of what the model says.
    pub(super) fn notice(&self, event: &Event) {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner).hear(event);
        if let Event::QueueChanged { texts, .. } = event {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone_from(texts);
        }
    }

    pub(crate) fn cancel(&self) {
        self.inbox.send(Input::Cancel);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.borrow().is_some()
    }

    pub(super) fn finish(&self, end: End) {
        self.is_free.send_replace(true);
        self.end.send_replace(Some(end));
    }

    /// Waits until another turn may run in its session.
    pub(crate) async fn freed(&self) {
        let mut is_free = self.is_free.subscribe();
        // The sender is ours, so it is there.
        let _ = is_free.wait_for(|is_free| *is_free).await;
    }

    /// Says whether it hears nothing any more.
    fn is_closed(&self) -> bool {
        matches!(self.inbox.say("", Said::Reject), Err(NotTaken::Over(_)))
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

    /// Describes the turn with what the model has said of its answer: pieces are told once, and whoever comes later asks.
    pub(crate) fn to_json_whole(&self) -> Map<String, Value> {
        self.described(|| Some(self.spoken.lock().unwrap_or_else(PoisonError::into_inner).told()))
    }

    /// Describes the turn.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        self.described(|| None)
    }

    fn described(&self, answer: impl FnOnce() -> Option<SpokenAnswer>) -> Map<String, Value> {
        let told = |stage| ramus_wire::run::turn(&self.id, &self.session, stage);
        match &*self.end.borrow() {
            None => {
                let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone();
                told(RunStage::Running { asked: self.desk.asked(), waiting, answer: answer() })
            }
            Some(Ok(end)) => told(RunStage::Ended { end }),
            Some(Err(error)) => told(RunStage::Failed { error: error.trouble() }),
        }
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
    /// Those whose session may run another one while they look for a title.
    titling: Vec<Arc<Running>>,
    ended: VecDeque<Arc<Running>>,
    /// What requests to start a turn came to that named a key.
    keys: VecDeque<(Key, Arc<Running>)>,
}

/// What makes two orders the same, and what the first of them was.
#[derive(Clone)]
pub(super) struct Key {
    owner: Owner,
    session: SessionId,
    key: String,
    order: [u8; 32],
}

impl Key {
    pub(super) fn new(owner: &Owner, session: &SessionId, key: &str, order: &Order) -> Self {
        Self { owner: owner.clone(), session: session.clone(), key: key.to_owned(), order: order.digest() }
    }

    /// How the names of turns begin that were ordered with this key, whatever was ordered.
    pub(super) fn beginning(&self) -> String {
        let digest =
            Sha256::new().chain_update(self.session.as_str()).chain_update([0]).chain_update(&self.key).finalize();
        format!("{}-", hex::encode(digest.get(..KEY).unwrap_or_default()))
    }

    /// What the turn is called that this order comes to.
    pub(super) fn turn(&self) -> String {
        format!("{}{}", self.beginning(), hex::encode(self.order.get(..ORDER).unwrap_or_default()))
    }
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
        let named = key.map(|key| Key::new(owner, session, key, order));
        let mut known = self.known();
        if let Some(run) = named.as_ref().and_then(|named| known.find_key(named)).transpose()? {
            return Ok(Taken::Told(run));
        }
        if let Some(running) = known.running.get(session) {
            let running = Arc::clone(running);
            tell(&running, order)?;
            known.remember(named, &running);
            return Ok(Taken::Told(running));
        }
        if known.running.len() >= self.most {
            return Err(ApiError::busy("as many turns are running as may").hint("wait for one of them to end"));
        }
        let name = named.as_ref().map(Key::turn);
        let (run, letters) = Running::new(owner, session, name);
        known.running.insert(session.clone(), Arc::clone(&run));
        known.remember(named, &run);
        Ok(Taken::Started(run, letters))
    }

    /// Says whether a turn of a session runs that would be told what is ordered now.
    pub(crate) fn is_running(&self, session: &SessionId) -> bool {
        self.known().running.contains_key(session)
    }

    /// Remembers a turn that an earlier server ran, and how it ended.
    pub(super) fn recall(&self, key: Key, end: End) -> Arc<Running> {
        let (run, _) = Running::new(&key.owner, &key.session, Some(key.turn()));
        run.finish(end);
        let mut known = self.known();
        // Somebody else may have asked at the same time.
        if let Some(Ok(run)) = known.find_key(&key) {
            return run;
        }
        known.end(&run);
        known.remember(Some(key), &run);
        run
    }

    /// Says whether an order with this key was taken.
    pub(crate) fn is_known(&self, owner: &Owner, session: &str, key: Option<&str>) -> bool {
        let Some(key) = key else { return false };
        let is_it = |(known, _): &(Key, Arc<Running>)| {
            known.key == key && known.session.as_str() == session && known.owner == *owner
        };
        self.known().keys.iter().any(is_it)
    }

    /// Waits for a turn of a session that is about to end and hears nothing any more.
    pub(crate) async fn freed(&self, session: &SessionId) {
        let ending = self.known().running.get(session).filter(|run| run.is_closed()).cloned();
        if let Some(ending) = ending {
            ending.freed().await;
        }
    }

    /// Lets another turn run in the session of one that only looks for a title. Says whether it shall: another one may be
    /// looking already.
    pub(super) fn free(&self, run: &Arc<Running>) -> bool {
        let mut known = self.known();
        if known.titling.iter().any(|other| other.session == run.session) {
            return false;
        }
        known.let_go(run);
        known.titling.push(Arc::clone(run));
        run.is_free.send_replace(true);
        true
    }

    /// Moves a turn to those that ended.
    pub(super) fn ended(&self, run: &Arc<Running>) {
        let mut known = self.known();
        known.let_go(run);
        known.end(run);
    }

    /// Finds a turn of a session.
    pub(crate) fn find(&self, owner: &Owner, session: &str, id: &str) -> Result<Arc<Running>, ApiError> {
        let known = self.known();
        let mut all = known.running.values().chain(&known.titling).chain(&known.ended);
        let is_it = |run: &&Arc<Running>| run.id == id && run.session.as_str() == session && run.owner == *owner;
        all.find(is_it).cloned().ok_or_else(|| ApiError::not_found(format!("the session has no turn {id:?}")))
    }

    /// Lists the turns of a session, those that run first.
    pub(crate) fn of_session(&self, owner: &Owner, session: &str) -> Vec<Arc<Running>> {
        let known = self.known();
        let all = known.running.values().chain(&known.titling).chain(known.ended.iter().rev());
        all.filter(|run| run.session.as_str() == session && run.owner == *owner).cloned().collect()
    }

    /// Returns what the turns of an owner ask, with the session.
    pub(crate) fn asked(&self, owner: &Owner) -> Vec<(SessionId, AskedQuestion)> {
        let running: Vec<Arc<Running>> =
            self.known().running.values().filter(|run| run.owner == *owner).cloned().collect();
        let asked = |run: &Arc<Running>| {
            let session = run.session.clone();
            run.desk.asked().into_iter().map(move |asked| (session.clone(), asked))
        };
        running.iter().flat_map(asked).collect()
    }

    /// Returns how many run.
    pub(crate) fn count(&self) -> usize {
        self.known().running.len()
    }

    /// Cancels everything and waits for it, but not for ever.
    pub(crate) async fn end_all(&self, patience: Duration) {
        let running: Vec<Arc<Running>> = {
            let known = self.known();
            known.running.values().chain(&known.titling).cloned().collect()
        };
        running.iter().for_each(|run| run.cancel());
        let all = futures_util::future::join_all(running.iter().map(|run| run.ended()));
        let _ = tokio::time::timeout(patience, all).await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a turn that runs what an order says, if that is all that it says.
fn tell(running: &Running, order: &Order) -> Result<(), ApiError> {
    let busy = || ApiError::busy("a turn is running in this session").hint("watch it, steer it, or cancel it");
    let prompt = order.prompt.as_deref().ok_or_else(busy)?;
    if order.when_busy == WhenBusy::Reject {
        return Err(busy());
    }
    let beside = order.beside_words();
    if !beside.is_empty() {
        let message = format!("a turn is running in this session and cannot take this along: {}", beside.join(", "));
        return Err(ApiError::busy(message).hint("wait for its end, or send the prompt alone"));
    }
    running.say(prompt, order.when_busy)
}

impl Known {
    /// Finds the turn that an order with this key came to.
    fn find_key(&self, named: &Key) -> Option<Result<Arc<Running>, ApiError>> {
        let is_it = |(known, _): &&(Key, Arc<Running>)| {
            known.key == named.key && known.session == named.session && known.owner == named.owner
        };
        let (known, run) = self.keys.iter().find(is_it)?;
        let other = || ApiError::conflict("another order was sent with this idempotency key");
        Some(if known.order == named.order { Ok(Arc::clone(run)) } else { Err(other()) })
    }

    /// Forgets that a turn runs. Its session may run another one already.
    fn let_go(&mut self, run: &Arc<Running>) {
        if self.running.get(&run.session).is_some_and(|running| Arc::ptr_eq(running, run)) {
            self.running.remove(&run.session);
        }
        self.titling.retain(|known| !Arc::ptr_eq(known, run));
    }

    fn end(&mut self, run: &Arc<Running>) {
        self.ended.push_back(Arc::clone(run));
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }

    fn remember(&mut self, key: Option<Key>, run: &Arc<Running>) {
        let Some(key) = key else { return };
        self.keys.push_back((key, Arc::clone(run)));
        if self.keys.len() > REMEMBERED {
            self.keys.pop_front();
        }
    }
}
