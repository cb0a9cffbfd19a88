//! Telling what happens: one channel per session that somebody watches, and one feed for everything.
//!
//! What happens is what the engine's event streams say: what is durable comes from the log, each entry once and in its
//! order; what is not comes between. A channel asks one stream on behalf of everybody who watches a session.

mod bounded;
mod channel;
mod feed;
mod frame;
mod global;
mod reader;
mod survey;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramus_engine::Engine;
use ramus_model::SessionId;
use tokio_util::sync::CancellationToken;

use crate::error::{ApiError, Kind};
use crate::run::Running;
use crate::work::Work;
use bounded::{Receiver, Room, Sender};
use channel::Channel;
pub(crate) use feed::Feed;
use feed::Letter;
pub(crate) use frame::{After, Epoch, Frame, Place, event};
pub(crate) use global::global;
pub(crate) use reader::Reader;

/// What an event is called that asks whoever watches.
const ASKED: &str = "permission.asked";

/// What tells.
pub(crate) struct Hub {
    channels: Mutex<HashMap<SessionId, Channel>>,
    pub(crate) feed: Feed,
    engine: Engine,
    work: Work,
    events: usize,
    /// What waits for readers.
    room: Room,
    stop: CancellationToken,
}

impl Hub {
    pub(crate) fn new(engine: Engine, work: Work, events: usize, stop: CancellationToken) -> Arc<Self> {
        let room = Room::default();
        let feed = Feed::new(events, &room);
        Arc::new(Self { channels: Mutex::default(), feed, engine, work, events, room, stop })
    }

    /// Tells that a turn is over, behind everything that it wrote and said.
    pub(crate) fn ended(&self, run: &Running) {
        if let Some(channel) = self.channels().get(&run.session) {
            channel.tell_behind(run.end_frame());
        }
        let mut told = run.to_json();
        told.insert("type".into(), "run.ended".into());
        self.feed.post(Letter { owner: run.owner.clone(), name: "run.ended", told: told.into() });
    }

    /// Watches a session: returns what will be told from now on.
    async fn watch(self: &Arc<Self>, session: &SessionId) -> Result<Receiver<Frame>, ApiError> {
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
    fn close_unwatched(&self, session: &SessionId, frames: &Sender<Frame>) -> bool {
        let mut channels = self.channels();
        let is_unwatched = frames.receiver_count() == 0;
        if is_unwatched && channels.get(session).is_some_and(|channel| channel.is_of(frames)) {
            channels.remove(session);
        }
        is_unwatched
    }

    /// Closes a channel. One that was opened in its place meanwhile stays.
    fn close(&self, session: &SessionId, frames: &Sender<Frame>) {
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
