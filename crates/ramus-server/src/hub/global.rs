//! One reader of what happens in all sessions of an owner.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::Stream;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::event;
use super::feed::Told;
use super::reader::{Counted, dropped};
use crate::access::Owner;
use crate::app::App;

/// Hands over what happens in all sessions of an owner, behind the event that was named if it is still known.
pub(crate) fn global(
    app: &Arc<App>,
    owner: Owner,
    after: Option<&str>,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + use<> {
    let (mut first, frames) = app.hub.feed.subscribe(&owner, after);
    first.insert(0, Bytes::from_static(b"retry: 1000\n\n"));
    let state = Global {
        first: first.into_iter(),
        frames,
        owner,
        app: Arc::clone(app),
        is_over: false,
        _counted: Counted::new(app),
    };
    futures_util::stream::unfold(state, |mut state| async move { state.next().await.map(|bytes| (Ok(bytes), state)) })
}

struct Global {
    first: std::vec::IntoIter<Bytes>,
    frames: broadcast::Receiver<Told>,
    owner: Owner,
    app: Arc<App>,
    is_over: bool,
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
        let heartbeat = Instant::now() + self.app.limits.heartbeat;
        let stop = self.app.stop.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    self.is_over = true;
                    return Some(event("closing", None, &json!({"type": "closing"})).text);
                }
                () = tokio::time::sleep_until(heartbeat) => {
                    return Some(event("heartbeat", None, &json!({"type": "heartbeat"})).text);
                }
                frame = self.frames.recv() => match frame {
                    Ok(told) if told.is_for(&self.owner) => {
                        self.app.metrics.events.fetch_add(1, Ordering::Relaxed);
                        return Some(told.text);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(missed)) => {
                        self.is_over = true;
                        self.app.metrics.dropped.fetch_add(1, Ordering::Relaxed);
                        return Some(dropped(missed));
                    }
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }
}
