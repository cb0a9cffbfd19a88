//! One reader of events: first what the log holds behind the place it names, then what happens.
//!
//! A reader that does not keep up is told so and dropped; it comes back with the place it got to, and misses nothing that
//! is durable.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use ramus_engine::{EngineError, ErrorKind, Session};
use ramus_model::SessionId;
use ramus_wire::object_of;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Instant, Sleep};

use super::bounded::Receiver;
use super::{ASKED, After, Epoch, Frame, Hub, Place, event};
use crate::app::App;
use crate::error::{ApiError, Kind};
use crate::run::Running;

/// How much is handed over at a time.
const CHUNK: usize = 1 << 16;

/// How many entries are looked at at a time.
const BATCH: usize = 256;

/// A reader of the events of one session.
pub(crate) struct Reader {
    app: Arc<App>,
    hub: Arc<Hub>,
    id: SessionId,
    frames: Receiver<Frame>,
    /// Which log is read.
    epoch: Epoch,
    /// What was handed over.
    place: Place,
    /// Whether the place that was named is none in this log.
    is_lost: bool,
    /// The log, while what it holds is handed over.
    log: Option<Session>,
    /// Whether nothing was taken from the channel since the log was read.
    is_fresh: bool,
    is_over: bool,
    /// When something was said last, and what wakes the reader when it is time to say that it is there.
    said: Instant,
    silence: Pin<Box<Sleep>>,
    /// The turn whose end is the end.
    until: Option<Arc<Running>>,
    /// Whether the turn had begun before the reader came.
    is_late: bool,
    /// The questions that the reader was asked.
    asked: HashSet<String>,
    _counted: Counted,
}

/// Counts a stream while it is there.
pub(super) struct Counted(Arc<App>);

impl Counted {
    pub(super) fn new(app: &Arc<App>) -> Self {
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
    /// Starts behind a place, or at the end of the log, of a session that was opened to see whose it is.
    pub(crate) async fn start(app: &Arc<App>, mut session: Session, after: Option<After>) -> Result<Self, ApiError> {
        let id = session.id().clone();
        let frames = app.hub.watch(&id).await?;
        // What was written until somebody listened is in the log.
        let session = app
            .work(move |app| {
                app.engine.read_on(&mut session)?;
                Ok(session)
            })
            .await?;
        let len = session.log().len() as u64;
        let epoch = Epoch::of(&session);
        // At the end: whoever names a place that is not there has another log in mind.
        let named = after.as_ref().and_then(|after| after.within(&epoch, len));
        let place = named.unwrap_or(Place { seq: len, part: 0 });
        Ok(Self {
            app: Arc::clone(app),
            hub: Arc::clone(&app.hub),
            id,
            frames,
            log: Some(session).filter(|_| place.seq < len),
            epoch,
            place,
            is_lost: after.is_some() && named.is_none(),
            is_fresh: true,
            is_over: false,
            said: Instant::now(),
            silence: Box::pin(tokio::time::sleep(app.limits.heartbeat)),
            until: None,
            is_late: false,
            asked: HashSet::new(),
            _counted: Counted::new(app),
        })
    }

    /// Returns how many entries were handed over.
    pub(crate) fn position(&self) -> u64 {
        self.place.seq
    }

    /// Returns the id of what was handed over last. Who goes on in the middle of an entry has named it already.
    pub(crate) fn id(&self) -> Option<String> {
        Some(self.place).filter(|place| place.part == 0).map(|place| self.epoch.id(place))
    }

    /// Says whether the place that was named is none in this log, so that what was missed cannot be told.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
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

    /// Ends with the end of a turn, which may have begun before.
    pub(crate) fn until_end_of(mut self, run: &Arc<Running>, is_late: bool) -> Self {
        self.until = Some(Arc::clone(run));
        self.is_late = is_late;
        self
    }

    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        if std::mem::take(&mut self.is_late)
            && let Some(bytes) = self.ask_again()
        {
            return Some(bytes);
        }
        loop {
            let logged = self.take_logged().await?;
            let bytes = match logged {
                Some(bytes) => Some(bytes),
                None => self.take_told().await?,
            };
            if bytes.is_some() {
                self.said = Instant::now();
                return bytes;
            }
        }
    }

    /// Spells out the next entries of the log; nothing when all were. Ends when the log cannot be read on.
    async fn take_logged(&mut self) -> Option<Option<Bytes>> {
        while let Some(session) = self.log.take() {
            let place = self.place;
            let spelled = self.app.work.run(move || Ok(spell(session, place)?)).await.ok()?;
            self.place = spelled.place;
            self.log = Some(spelled.session).filter(|_| !spelled.is_all);
            self.count(spelled.events);
            if !spelled.bytes.is_empty() {
                return Some(Some(spelled.bytes));
            }
        }
        Some(None)
    }

    /// Waits for what happens next; nothing when the log must be read first. Ends when the stream does.
    async fn take_told(&mut self) -> Option<Option<Bytes>> {
        let frame = tokio::select! {
            biased;
            frame = self.frames.recv() => frame,
            () = self.silence.as_mut() => return Some(self.break_silence()),
        };
        match frame {
            Ok(frame) => self.gather(frame).await,
            // It fell behind while it read the log; what it missed is there.
            Err(RecvError::Lagged(_)) if self.is_fresh => {
                self.frames = self.frames.resubscribe();
                self.read_log().await.ok()
            }
            Err(RecvError::Lagged(missed)) => Some(Some(self.drop_out(missed))),
            // The channel ends with the server, after everything that it told.
            Err(RecvError::Closed) => {
                self.is_over = true;
                let is_closing = self.hub.stop.is_cancelled();
                is_closing.then(|| Some(event("closing", None, &json!({"type": "closing"})).text))
            }
        }
    }

    /// Puts together what is there already, up to a limit. One frame alone goes out as it is, the same bytes for everybody.
    async fn gather(&mut self, first: Frame) -> Option<Option<Bytes>> {
        let (mut alone, mut together) = (Bytes::new(), BytesMut::new());
        let mut frame = first;
        loop {
            let is_past = self.is_past(&frame);
            if let Some(seq) = frame.seq
                && seq > self.place.seq + 1
                && !frame.is_last
                && !is_past
            {
                // Entries that tell nothing lie between, or the channel was opened anew: the log knows.
                match self.read_log().await {
                    Ok(reset) => {
                        reset.into_iter().for_each(|reset| add(&mut alone, &mut together, reset));
                        break;
                    }
                    // It is gone, which the channel tells; what it told before goes out as it is.
                    Err(error) if error.kind() == Kind::Engine(ErrorKind::NotFound) => {}
                    Err(_) => return None,
                }
            }
            self.is_fresh = false;
            let is_end = (frame.is_last && !is_past) || self.is_end(&frame);
            let is_known = frame.asks.as_ref().is_some_and(|question| !self.asked.insert(question.clone()));
            if !is_known && !is_past && (frame.seq.is_none_or(|seq| seq > self.place.seq) || frame.is_last) {
                self.place = frame.seq.map_or(self.place, |seq| Place { seq, part: 0 });
                add(&mut alone, &mut together, frame.text);
                self.count(1);
            }
            if is_end {
                self.is_over = true;
                break;
            }
            if together.len() >= CHUNK {
                break;
            }
            frame = match self.frames.try_recv() {
                Ok(next) => next,
                Err(TryRecvError::Lagged(missed)) => {
                    let dropped = self.drop_out(missed);
                    add(&mut alone, &mut together, dropped);
                    break;
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        let bytes = if together.is_empty() { alone } else { together.freeze() };
        Some((!bytes.is_empty()).then_some(bytes))
    }

    /// Asks what the turn that the reader waits for asks, and the reader was not asked: it came later, or questions, which are
    /// not stored, were left out.
    fn ask_again(&mut self) -> Option<Bytes> {
        let run = self.until.as_ref().filter(|run| !run.is_over())?;
        let mut text = BytesMut::new();
        for question in run.desk.asked() {
            if self.asked.insert(question.question.clone()) {
                let mut told = object_of(&question);
                told.insert("type".into(), ASKED.into());
                told.insert("session".into(), self.id.as_str().into());
                text.extend_from_slice(&event(ASKED, None, &told.into()).text);
            }
        }
        (!text.is_empty()).then(|| text.freeze())
    }

    /// Reads the log, to hand over what it holds behind the last place. When it is another one, says so, which is the end.
    async fn read_log(&mut self) -> Result<Option<Bytes>, ApiError> {
        let (engine, id) = (self.app.engine.clone(), self.id.clone());
        let session = self.app.work.run(move || Ok(engine.open_id(&id)?)).await?;
        let epoch = Epoch::of(&session);
        if epoch != self.epoch {
            self.is_over = true;
            return Ok(Some(reset(&self.id, &epoch, session.log().len() as u64).text));
        }
        self.log = Some(session);
        self.is_fresh = true;
        Ok(None)
    }

    /// Says whether a frame tells of a log that was gone before the reader started, or that it is gone.
    fn is_past(&self, frame: &Frame) -> bool {
        let Some(epoch) = &frame.epoch else { return false };
        let is_reached = frame.seq.is_some_and(|len| self.place.seq <= len);
        if frame.is_last { *epoch == self.epoch && is_reached } else { *epoch != self.epoch }
    }

    /// Says whether a frame tells the end that the reader waits for.
    fn is_end(&self, frame: &Frame) -> bool {
        self.until.as_ref().is_some_and(|run| frame.ends.as_deref() == Some(&*run.id))
    }

    /// Shows that the stream is there, unless something was said since the wait began: it is not begun anew for every event.
    fn break_silence(&mut self) -> Option<Bytes> {
        let now = Instant::now();
        let due = self.said + self.app.limits.heartbeat;
        let is_due = due <= now;
        self.silence.as_mut().reset(if is_due { now + self.app.limits.heartbeat } else { due });
        is_due.then(|| self.heartbeat())
    }

    fn heartbeat(&mut self) -> Bytes {
        // The end is told like everything that is not stored, so it may have been left out.
        if let Some(run) = self.until.as_ref().filter(|run| run.is_over()) {
            self.is_over = true;
            return run.end_frame().text;
        }
        // So are questions.
        if let Some(questions) = self.ask_again() {
            return questions;
        }
        let told = json!({"type": "heartbeat", "session": self.id.as_str(), "seq": self.place.seq});
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

/// Adds to what goes out. Only what goes out with something else is copied.
fn add(alone: &mut Bytes, together: &mut BytesMut, text: Bytes) {
    if alone.is_empty() && together.is_empty() {
        *alone = text;
        return;
    }
    together.extend_from_slice(&std::mem::take(alone));
    together.extend_from_slice(&text);
}

/// What was spelled out of a log.
struct Spelled {
    session: Session,
    bytes: Bytes,
    place: Place,
    events: usize,
    is_all: bool,
}

/// Spells out what the entries behind a place tell, up to a limit.
fn spell(session: Session, mut place: Place) -> Result<Spelled, EngineError> {
    let behind = usize::try_from(place.seq).unwrap_or(usize::MAX);
    let (mut bytes, mut events, mut is_all) = (BytesMut::new(), 0, true);
    let epoch = Epoch::of(&session);
    for (at, seq) in session.log().seqs().skip(behind).enumerate() {
        if at >= BATCH || bytes.len() >= CHUNK {
            is_all = false;
            break;
        }
        let told = session.events_of(seq)?;
        let number = u64::from(seq.number());
        if !told.is_empty() {
            bytes.extend_from_slice(&Frame::of_entry(&epoch, number, &told, place.part).text);
            events += told.len().saturating_sub(place.part);
        }
        place = Place { seq: number, part: 0 };
    }
    Ok(Spelled { session, bytes: bytes.freeze(), place, events, is_all })
}

/// Says that the log is another one, which holds so many entries: places that were told mean nothing any more.
pub(super) fn reset(session: &SessionId, epoch: &Epoch, len: u64) -> Frame {
    let told = json!({"type": "reset", "session": session.as_str(), "seq": len});
    event("reset", Some(&epoch.id(Place { seq: len, part: 0 })), &told).resetting(epoch, len)
}

/// Says that a reader was too slow.
pub(super) fn dropped(missed: u64) -> Bytes {
    let told: Value = json!({
        "type": "dropped",
        "missed": missed,
        "message": "this reader did not keep up; connect again with Last-Event-ID to go on",
    });
    event("dropped", None, &told).text
}
