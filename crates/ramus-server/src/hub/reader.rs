//! One reader of events: first what the log holds behind the position it names, then what happens.
//!
//! A reader that does not keep up is told so and dropped; it comes back with the position it got to, and misses nothing
//! that is durable.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use ramus_engine::Session;
use ramus_model::SessionId;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver};
use tokio::time::{Instant, Sleep};

use super::channel::entries;
use super::{Frame, Hub, appended, event};
use crate::access::Owner;
use crate::app::App;
use crate::error::ApiError;
use crate::run::Running;

/// How much is handed over at a time.
const CHUNK: usize = 1 << 16;

/// How many entries are spelled out at a time.
const BATCH: usize = 256;

/// A reader of the events of one session.
pub(crate) struct Reader {
    app: Arc<App>,
    hub: Arc<Hub>,
    id: SessionId,
    frames: Receiver<Frame>,
    /// The position of the entry that was handed over last.
    last: u64,
    /// The log, while what it holds is handed over.
    log: Option<Session>,
    /// Whether nothing was taken from the channel since the log was read.
    is_fresh: bool,
    is_over: bool,
    /// The turn whose end is the end.
    until: Option<Arc<Running>>,
    _counted: Counted,
}

/// Counts a stream while it is there.
struct Counted(Arc<App>);

impl Counted {
    fn new(app: &Arc<App>) -> Self {
        app.streams.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(app))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Reader {
    /// Starts behind a position, or at the end of the log.
    pub(crate) async fn start(app: &Arc<App>, id: SessionId, after: Option<u64>) -> Result<Self, ApiError> {
        let frames = app.hub.watch(&id).await?;
        let mut reader = Self {
            app: Arc::clone(app),
            hub: Arc::clone(&app.hub),
            id,
            frames,
            last: after.unwrap_or_default(),
            log: None,
            is_fresh: true,
            is_over: false,
            until: None,
            _counted: Counted::new(app),
        };
        reader.read_log().await?;
        let len = reader.log.as_ref().map_or(0, |session| session.log().len() as u64);
        if after.is_none_or(|after| after > len) {
            // At the end, or behind it: whoever names a position that is not there has another log in mind.
            reader.last = len;
        }
        Ok(reader)
    }

    /// Returns where the reader is.
    pub(crate) fn position(&self) -> u64 {
        self.last
    }

    /// Hands over what there is, piece by piece. `first` is said before anything else.
    pub(crate) fn into_stream(
        self,
        first: Bytes,
    ) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send {
        futures_util::stream::unfold((Some(first), self), |(first, mut reader)| async move {
            let bytes = match first {
                Some(first) => first,
                None => reader.next().await?,
            };
            Some((Ok(bytes), (None, reader)))
        })
    }

    /// Ends with the end of a turn.
    pub(crate) fn until_end_of(mut self, run: &Arc<Running>) -> Self {
        self.until = Some(Arc::clone(run));
        self
    }

    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let wait = tokio::time::sleep(self.app.limits.heartbeat);
        tokio::pin!(wait);
        loop {
            if let Some(bytes) = self.take_logged() {
                return Some(bytes);
            }
            if let Some(bytes) = self.take_told(wait.as_mut()).await? {
                return Some(bytes);
            }
        }
    }

    /// Spells out the next entries of the log; none when all were.
    fn take_logged(&mut self) -> Option<Bytes> {
        let session = self.log.as_ref()?;
        let more = entries(session.log(), self.last, BATCH);
        let Some((last, _, _)) = more.last() else {
            self.log = None;
            return None;
        };
        let mut bytes = BytesMut::new();
        for (seq, entry, parent) in &more {
            bytes.extend_from_slice(&appended(&self.id, *seq, entry, parent.as_ref()).text);
        }
        self.last = *last;
        self.count(more.len());
        Some(bytes.freeze())
    }

    /// Waits for what happens next; nothing when the log must be read first. Ends when the stream does.
    async fn take_told(&mut self, wait: std::pin::Pin<&mut Sleep>) -> Option<Option<Bytes>> {
        let stop = self.hub.stop.clone();
        let frame = tokio::select! {
            () = stop.cancelled() => {
                self.is_over = true;
                return Some(Some(event("closing", None, &json!({"type": "closing"})).text));
            }
            () = wait => {
                return Some(Some(self.heartbeat()));
            }
            frame = self.frames.recv() => frame,
        };
        match frame {
            Ok(frame) => self.gather(frame).await,
            // It fell behind while it read the log; what it missed is there.
            Err(RecvError::Lagged(_)) if self.is_fresh => {
                self.frames = self.frames.resubscribe();
                self.read_log().await.ok()?;
                Some(None)
            }
            Err(RecvError::Lagged(missed)) => Some(Some(self.drop_out(missed))),
            Err(RecvError::Closed) => {
                self.is_over = true;
                None
            }
        }
    }

    /// Puts together what is there already, up to a limit.
    async fn gather(&mut self, first: Frame) -> Option<Option<Bytes>> {
        let mut bytes = BytesMut::new();
        let mut frame = first;
        loop {
            if let Some(seq) = frame.seq
                && seq > self.last + 1
            {
                // A channel tells every entry, so only one that was opened anew leaves some out.
                self.read_log().await.ok()?;
                break;
            }
            self.is_fresh = false;
            if frame.seq.is_none_or(|seq| seq > self.last) || frame.is_last {
                self.last = frame.seq.unwrap_or(self.last);
                bytes.extend_from_slice(&frame.text);
                self.count(1);
            }
            if frame.is_last || self.is_end(&frame) {
                self.is_over = true;
                break;
            }
            if bytes.len() >= CHUNK {
                break;
            }
            frame = match self.frames.try_recv() {
                Ok(next) => next,
                Err(TryRecvError::Lagged(missed)) => {
                    bytes.extend_from_slice(&self.drop_out(missed));
                    break;
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        Some((!bytes.is_empty()).then(|| bytes.freeze()))
    }

    /// Reads the log, to hand over what it holds behind the last position.
    async fn read_log(&mut self) -> Result<(), ApiError> {
        let (engine, id) = (self.app.engine.clone(), self.id.clone());
        self.log = Some(self.app.work.run(move || Ok(engine.open_id(&id)?)).await?);
        self.is_fresh = true;
        Ok(())
    }

    /// Says whether a frame tells the end that the reader waits for.
    fn is_end(&self, frame: &Frame) -> bool {
        self.until.as_ref().is_some_and(|run| frame.ends.as_deref() == Some(&*run.id))
    }

    fn heartbeat(&mut self) -> Bytes {
        // The end is told like everything that is not stored, so it may have been left out.
        if let Some(run) = self.until.as_ref().filter(|run| run.is_over()) {
            self.is_over = true;
            return run.end_frame().text;
        }
        let told = json!({"type": "heartbeat", "session": self.id.as_str(), "seq": self.last});
        event("heartbeat", None, &told).text
    }

    fn drop_out(&mut self, missed: u64) -> Bytes {
        self.is_over = true;
        self.app.metrics.dropped.fetch_add(1, Ordering::Relaxed);
        dropped(missed)
    }

    fn count(&self, events: usize) {
        self.app.metrics.events.fetch_add(events as u64, Ordering::Relaxed);
    }
}

/// Says that a reader was too slow.
fn dropped(missed: u64) -> Bytes {
    let told: Value = json!({
        "type": "dropped",
        "missed": missed,
        "message": "this reader did not keep up; connect again with Last-Event-ID to go on",
    });
    event("dropped", None, &told).text
}

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
    frames: broadcast::Receiver<(Owner, Bytes)>,
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
        let stop = self.app.hub.stop.clone();
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
                    Ok((owner, bytes)) if owner == self.owner => {
                        self.app.metrics.events.fetch_add(1, Ordering::Relaxed);
                        return Some(bytes);
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
