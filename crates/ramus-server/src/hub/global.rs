//! One reader of what happens in all sessions of an owner.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::Stream;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::bounded::Receiver;
use super::feed::{Missed, Subscribed, Told, WantsPieces};
use super::reader::{Counted, dropped};
use super::{ASKED, event};
use crate::access::Owner;
use crate::app::App;
use ramus_wire::object_of;

/// Hands over what happens in all sessions of an owner, behind the event that was named if it is still known; answers word by
/// word when `pieces` are wanted.
pub(crate) fn global(
    app: &Arc<App>,
    owner: Owner,
    after: Option<&str>,
    pieces: bool,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + use<> {
    let Subscribed { first, missed, last, frames } = app.hub.feed.subscribe(after);
    let first = vec![Bytes::from_static(b"retry: 1000\n\n"), first];
    // Questions are told once, so who watches everything is told which are open.
    let mut asked: Vec<Bytes> = Vec::new();
    if pieces {
        asked.extend(app.runs.asked(&owner).into_iter().map(|(session, question)| {
            let mut told = object_of(&question);
            told.insert("type".into(), ASKED.into());
            told.insert("session".into(), session.as_str().into());
            event(ASKED, None, &told.into()).text
        }));
    }
    let state = Global {
        first: first.into_iter(),
        missed,
        asked: asked.into_iter(),
        last,
        frames,
        owner,
        app: Arc::clone(app),
        is_over: false,
        pieces: pieces.then(|| WantsPieces::of(&app.hub)),
        _counted: Counted::new(app),
    };
    futures_util::stream::unfold(state, |mut state| async move { state.next().await.map(|bytes| (Ok(bytes), state)) })
}

struct Global {
    first: std::vec::IntoIter<Bytes>,
    /// What happened while nobody read.
    missed: Missed,
    /// The questions that are open.
    asked: std::vec::IntoIter<Bytes>,
    /// The place behind everything that was told, also to others.
    last: Arc<str>,
    frames: Receiver<Told>,
    owner: Owner,
    app: Arc<App>,
    is_over: bool,
    pieces: Option<WantsPieces>,
    _counted: Counted,
}

impl Global {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.next() {
            return Some(first);
        }
        if self.is_over {
            return None;
        }
        match self.app.hub.feed.next_missed(&self.owner, &mut self.missed) {
            Some(Ok(text)) => return Some(text),
            Some(Err(missed)) => return Some(self.drop_out(missed)),
            None => {}
        }
        if let Some(asked) = self.asked.next() {
            return Some(asked);
        }
        let heartbeat = Instant::now() + self.app.limits.heartbeat;
        let stop = self.app.stop.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    self.is_over = true;
                    return Some(event("closing", None, &json!({"type": "closing"})).text);
                }
                () = tokio::time::sleep_until(heartbeat) => {
                    return Some(event("heartbeat", Some(&self.last), &json!({"type": "heartbeat"})).text);
                }
                frame = self.frames.recv() => match frame {
                    Ok(told) => {
                        self.last = Arc::clone(&told.id);
                        if told.is_for(&self.owner) && (!told.is_piece || self.pieces.is_some()) {
                            self.app.metrics.events.fetch_add(1, Ordering::Relaxed);
                            return Some(told.text);
                        }
                    }
                    Err(RecvError::Lagged(missed)) => return Some(self.drop_out(missed)),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    fn drop_out(&mut self, missed: u64) -> Bytes {
        self.is_over = true;
        self.app.metrics.dropped.fetch_add(1, Ordering::Relaxed);
        dropped(missed)
    }
}
