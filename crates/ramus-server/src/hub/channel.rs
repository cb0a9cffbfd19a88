//! The channel of one session: a task that asks the engine's stream on behalf of everybody who watches the session.

use std::sync::Arc;
use std::time::Duration;

use ramus_engine::ErrorKind;
use ramus_engine::events::{Stream, Told, What};
use ramus_model::SessionId;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::bounded::{Receiver, Sender};
use super::reader::reset;
use super::{ASKED, Epoch, Frame, Hub, event};
use crate::error::{ApiError, Kind};

/// How much of a turn's ends may wait to be told.
const LETTERS: usize = 64;

/// How many events are taken from the stream at a time, and about how many bytes of them.
const BATCH: usize = 512;
const WEIGHT: usize = 1 << 20;

/// How often a log that cannot be read is tried again before whoever watches it is let go, and how long lies between.
const ATTEMPTS: usize = 40;
const PAUSE: Duration = Duration::from_millis(250);

/// Where a channel is talked to.
pub(super) struct Channel {
    letters: mpsc::Sender<Frame>,
    frames: Sender<Frame>,
    ready: watch::Receiver<bool>,
}

impl Channel {
    /// Starts to watch a session.
    pub(super) fn start(hub: &Arc<Hub>, session: &SessionId) -> Self {
        let (letters, inbox) = mpsc::channel(LETTERS);
        let frames = Sender::new(hub.events, &hub.room);
        let (is_ready, ready) = watch::channel(false);
        let task = Task {
            hub: Arc::clone(hub),
            id: session.clone(),
            frames: frames.clone(),
            epoch: Epoch::default(),
            last: 0,
            held: Vec::new(),
            failures: 0,
        };
        tokio::spawn(task.run(inbox, is_ready));
        Self { letters, frames, ready }
    }

    /// Tells something behind everything that has happened until now. When too much waits it is left out: who waits for it
    /// looks for it now and then.
    pub(super) fn tell_behind(&self, frame: Frame) {
        let _ = self.letters.try_send(frame);
    }

    pub(super) fn subscribe(&self) -> Receiver<Frame> {
        self.frames.subscribe()
    }

    pub(super) fn ready(&self) -> watch::Receiver<bool> {
        self.ready.clone()
    }

    pub(super) fn is_of(&self, frames: &Sender<Frame>) -> bool {
        self.frames.is_same(frames)
    }
}

/// The task of a channel.
struct Task {
    hub: Arc<Hub>,
    id: SessionId,
    frames: Sender<Frame>,
    /// Which log is told.
    epoch: Epoch,
    /// The position of the entry that was told last.
    last: u64,
    /// Events of an entry of which there may be more.
    held: Vec<Told>,
    /// How often in a row the log could not be read.
    failures: usize,
}

impl Task {
    async fn run(mut self, mut letters: mpsc::Receiver<Frame>, ready: watch::Sender<bool>) {
        let Ok(mut stream) = self.open(None).await else {
            self.hub.close(&self.id, &self.frames);
            return;
        };
        // Nobody is there to be told when everyone has left meanwhile.
        let _ = ready.send(true);
        let stop = self.hub.stop.clone();
        loop {
            let changes = stream.changes();
            let letter = tokio::select! {
                () = stop.cancelled() => break,
                letter = letters.recv() => match letter {
                    Some(letter) => Some(letter),
                    None => break,
                },
                () = changes.wait() => None,
            };
            if self.hub.close_unwatched(&self.id, &self.frames) {
                return;
            }
            stream = match self.drain(stream).await {
                Some(stream) => stream,
                None => break,
            };
            if let Some(letter) = letter {
                self.send(letter);
            }
        }
        self.hub.close(&self.id, &self.frames);
    }

    /// Opens a stream behind a position, or behind everything that is there. When there is another log now, says so.
    async fn open(&mut self, behind: Option<u64>) -> Result<Stream, ApiError> {
        let (engine, id) = (self.hub.engine.clone(), self.id.clone());
        let known = behind.map(|last| (last, self.epoch.clone()));
        let (stream, last, epoch) = self
            .hub
            .work
            .run(move || {
                let session = engine.open_id(&id)?;
                let log = session.log();
                let epoch = Epoch::of(&session);
                let behind = known.filter(|(_, known)| *known == epoch).map(|(last, _)| last);
                let told =
                    log.seqs().take_while(|seq| behind.is_none_or(|last| u64::from(seq.number()) <= last)).last();
                let last = told.map_or(0, |seq| u64::from(seq.number()));
                Ok((engine.events(session, told)?, last, epoch))
            })
            .await?;
        self.last = last;
        if std::mem::replace(&mut self.epoch, epoch) != self.epoch && behind.is_some() {
            self.send(reset(&self.id, &self.epoch, self.last));
        }
        Ok(stream)
    }

    /// Tells everything that the stream has; none when there is nothing left to watch.
    async fn drain(&mut self, mut stream: Stream) -> Option<Stream> {
        loop {
            let taken = self.hub.work.run(move || {
                let (mut told, mut weight, mut trouble) = (Vec::new(), 0, None);
                let is_all = loop {
                    if told.len() >= BATCH || weight >= WEIGHT {
                        break false;
                    }
                    match stream.poll() {
                        Ok(Some(one)) => {
                            weight += one.weight();
                            told.push(one);
                        }
                        Ok(None) => break true,
                        Err(error) => {
                            trouble = Some(error);
                            break true;
                        }
                    }
                };
                Ok((stream, told, is_all, trouble))
            });
            let (told, is_all, trouble) = match taken.await {
                Ok((back, told, is_all, trouble)) => {
                    stream = back;
                    (told, is_all, trouble)
                }
                Err(_) => return self.reopen().await,
            };
            if !self.tell(told, is_all) {
                return None;
            }
            if trouble.is_some() {
                // The log may be readable with the next look, and what waits behind it is kept by the stream.
                self.failures += 1;
                return Some(stream).filter(|_| self.failures < ATTEMPTS);
            }
            self.failures = 0;
            if is_all {
                return Some(stream);
            }
        }
    }

    /// Opens the log again where it was left. None when there is nothing left to watch: the session is gone, which is told,
    /// or the log could not be read for a while, and whoever comes back is told why.
    async fn reopen(&mut self) -> Option<Stream> {
        self.held.clear();
        for _ in 0..ATTEMPTS {
            match self.open(Some(self.last)).await {
                Ok(stream) => return Some(stream),
                Err(error) if error.kind() == Kind::Engine(ErrorKind::NotFound) => {
                    self.tell(vec![Told::deleted(self.id.clone())], true);
                    return None;
                }
                // A process may be out of files for a moment, and a disk may work again.
                Err(_) => {}
            }
            tokio::select! {
                () = self.hub.stop.cancelled() => return None,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
        None
    }

    /// Tells what came. Events of one entry are told together, so they wait until there are no more of them.
    fn tell(&mut self, told: Vec<Told>, is_all: bool) -> bool {
        for one in told {
            if self.held.first().is_some_and(|first| first.seq != one.seq) {
                self.send_held();
            }
            if one.seq.is_some() {
                self.held.push(one);
                continue;
            }
            let goes_on = match one.what {
                What::Deleted(_) => false,
                What::Reset { entries, ref epoch } => {
                    // Everybody starts anew.
                    self.last = u64::from(entries);
                    self.epoch = Epoch::named(epoch.as_deref());
                    self.send(reset(&self.id, &self.epoch, self.last));
                    continue;
                }
                _ => true,
            };
            let told = one.to_json();
            let asked = told.get("question").and_then(Value::as_str).filter(|_| one.name() == ASKED).map(str::to_owned);
            let frame = event(one.name(), None, &told.into());
            let frame = asked.iter().fold(frame, |frame, question| frame.asking(question));
            self.send(if goes_on { frame } else { frame.last() });
            if !goes_on {
                return false;
            }
        }
        if is_all {
            self.send_held();
        }
        true
    }

    fn send_held(&mut self) {
        let Some(seq) = self.held.first().and_then(|first| first.seq) else { return };
        self.last = u64::from(seq.number());
        self.send(Frame::of_entry(&self.epoch, self.last, &self.held, 0));
        self.held.clear();
    }

    fn send(&self, frame: Frame) {
        let weight = frame.text.len();
        self.frames.send(frame, weight);
    }
}
