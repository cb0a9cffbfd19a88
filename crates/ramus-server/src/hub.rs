//! Telling what happens: one channel per session that somebody watches, and one for everything.
//!
//! What is durable is told in the order of the log, each entry once: only the channel's own task hands entries out, and it
//! reads the log where it was not told. What is not durable passes through the same task, so both come in one order.

mod channel;
mod feed;
mod frame;
mod reader;
mod survey;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramus_engine::{Engine, Written};
use ramus_model::{EntryId, SessionId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::access::Owner;
use crate::error::{ApiError, Kind};
use crate::run::Running;
use crate::work::Work;
use channel::{Channel, Letter};
pub(crate) use feed::Feed;
pub(crate) use frame::{Frame, event};
pub(crate) use reader::{Reader, global};

/// What tells.
pub(crate) struct Hub {
    channels: Mutex<HashMap<SessionId, Channel>>,
    pub(crate) feed: Feed,
    engine: Engine,
    work: Work,
    events: usize,
    stop: CancellationToken,
}

impl Hub {
    pub(crate) fn new(engine: Engine, work: Work, events: usize, stop: CancellationToken) -> Arc<Self> {
        let feed = Feed::new(events);
        Arc::new(Self { channels: Mutex::default(), feed, engine, work, events, stop })
    }

    /// Tells what happens in a turn.
    pub(crate) fn tell(&self, session: &SessionId, owner: &Owner, name: &str, told: &Value, entry: Option<Written>) {
        let letter = match entry {
            Some(written) => Letter::Appended(vec![written]),
            None => Letter::Tell(event(name, None, told)),
        };
        self.post(session, letter);
        // What comes in pieces would drive everything else out.
        if !name.ends_with(".delta") {
            self.feed.publish(owner, name, told);
        }
    }

    /// Tells that a turn is over.
    pub(crate) fn ended(&self, run: &Running) {
        self.post(&run.session, Letter::Tell(run.end_frame()));
        let mut told = run.to_json();
        told.insert("type".into(), "run.ended".into());
        self.feed.publish(&run.owner, "run.ended", &told.into());
    }

    /// Tells that entries were appended.
    pub(crate) fn appended(&self, session: &SessionId, written: &[Written]) {
        self.post(session, Letter::Appended(written.to_vec()));
    }

    /// Says that a session may have changed.
    pub(crate) fn changed(&self, session: &SessionId) {
        self.post(session, Letter::Look);
    }

    fn post(&self, session: &SessionId, letter: Letter) {
        if let Some(channel) = self.channels().get(session) {
            channel.post(letter);
        }
    }

    /// Watches a session: returns what will be told from now on.
    async fn watch(self: &Arc<Self>, session: &SessionId) -> Result<tokio::sync::broadcast::Receiver<Frame>, ApiError> {
        let (frames, mut ready) = {
            let mut channels = self.channels();
            let channel = channels.entry(session.clone()).or_insert_with(|| Channel::start(self, session));
            (channel.subscribe(), channel.ready())
        };
        // What the log held before the channel looked is not told by it, so nobody reads the log before it did.
        let is_ready = ready.wait_for(|ready| *ready).await.is_ok();
        let gone = || ApiError::new(Kind::Late, "the server is ending");
        if is_ready { Ok(frames) } else { Err(gone()) }
    }

    /// Closes a channel if nobody watches it; says whether it did. Under the lock, so nobody comes in between.
    fn close_unwatched(&self, session: &SessionId, frames: &tokio::sync::broadcast::Sender<Frame>) -> bool {
        let mut channels = self.channels();
        let is_unwatched = frames.receiver_count() == 0;
        if is_unwatched && channels.get(session).is_some_and(|channel| channel.is_of(frames)) {
            channels.remove(session);
        }
        is_unwatched
    }

    /// Closes a channel. One that was opened in its place meanwhile stays.
    fn close(&self, session: &SessionId, frames: &tokio::sync::broadcast::Sender<Frame>) {
        let mut channels = self.channels();
        if channels.get(session).is_some_and(|channel| channel.is_of(frames)) {
            channels.remove(session);
        }
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<SessionId, Channel>> {
        // Nobody leaves it half changed.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes an appended entry.
fn appended(session: &SessionId, seq: u64, entry: &EntryId, parent: Option<&EntryId>) -> Frame {
    let told = serde_json::json!({
        "type": "entry.appended",
        "session": session.as_str(),
        "entry": entry.as_str(),
        "parent": parent.map(EntryId::as_str),
        "seq": seq,
    });
    event("entry.appended", Some(seq), &told)
}
