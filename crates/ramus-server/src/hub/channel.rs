//! The channel of one session: a task that reads the log on and hands out what is new.

use std::sync::Arc;
use std::time::Duration;

use ramus_engine::{EngineError, ErrorKind, Session, Written};
use ramus_model::{EntryId, Log, SessionId};
use serde_json::json;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::{Frame, Hub, appended, event};
use crate::error::{ApiError, Kind};

/// How often the log is looked at for what other processes write.
const LOOK: Duration = Duration::from_millis(250);

/// How much may wait to be told.
const LETTERS: usize = 4096;

/// How many entries are read at a time.
const BATCH: usize = 4096;

/// Something to tell.
#[derive(Debug)]
pub(super) enum Letter {
    /// This happened.
    Tell(Frame),
    /// These entries were appended.
    Appended(Vec<Written>),
    /// Something may have changed.
    Look,
}

/// Where a channel is talked to.
pub(super) struct Channel {
    letters: mpsc::Sender<Letter>,
    frames: broadcast::Sender<Frame>,
    ready: watch::Receiver<bool>,
}

impl Channel {
    /// Starts to watch a session.
    pub(super) fn start(hub: &Arc<Hub>, session: &SessionId) -> Self {
        let (letters, inbox) = mpsc::channel(LETTERS);
        let (frames, _) = broadcast::channel(hub.events);
        let (is_ready, ready) = watch::channel(false);
        let task = Task { hub: Arc::clone(hub), id: session.clone(), frames: frames.clone(), session: None, last: 0 };
        tokio::spawn(task.run(inbox, is_ready));
        Self { letters, frames, ready }
    }

    /// Hands something in. When too much waits it is left out: entries are found in the log all the same.
    pub(super) fn post(&self, letter: Letter) {
        let _ = self.letters.try_send(letter);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Frame> {
        self.frames.subscribe()
    }

    pub(super) fn ready(&self) -> watch::Receiver<bool> {
        self.ready.clone()
    }

    pub(super) fn is_of(&self, frames: &broadcast::Sender<Frame>) -> bool {
        self.frames.same_channel(frames)
    }
}

/// The task of a channel.
struct Task {
    hub: Arc<Hub>,
    id: SessionId,
    frames: broadcast::Sender<Frame>,
    session: Option<Session>,
    /// The position of the entry that was told last.
    last: u64,
}

/// What a look at the log found.
struct Looked {
    session: Session,
    /// New entries, with what they hang from.
    entries: Vec<(u64, EntryId, Option<EntryId>)>,
    len: u64,
}

impl Task {
    async fn run(mut self, mut letters: mpsc::Receiver<Letter>, ready: watch::Sender<bool>) {
        if self.open().await.is_err() {
            self.hub.close(&self.id, &self.frames);
            return;
        }
        // Nobody is there to be told when everyone has left meanwhile.
        let _ = ready.send(true);
        let mut clock = tokio::time::interval(LOOK);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.hub.stop.clone();
        loop {
            let goes_on = tokio::select! {
                () = stop.cancelled() => false,
                letter = letters.recv() => match letter {
                    Some(letter) => self.take(letter).await,
                    None => false,
                },
                _ = clock.tick() => !self.hub.close_unwatched(&self.id, &self.frames) && self.look().await,
            };
            if !goes_on {
                self.hub.close(&self.id, &self.frames);
                return;
            }
        }
    }

    async fn open(&mut self) -> Result<(), ApiError> {
        let (engine, id) = (self.hub.engine.clone(), self.id.clone());
        let session = self.hub.work.run(move || Ok(engine.open_id(&id)?)).await?;
        self.last = session.log().len() as u64;
        self.session = Some(session);
        Ok(())
    }

    /// Passes a letter on; says whether there is anything left to watch.
    async fn take(&mut self, letter: Letter) -> bool {
        match letter {
            Letter::Tell(frame) => self.send(frame),
            Letter::Look => return self.look().await,
            Letter::Appended(written) => {
                for one in written {
                    let seq = u64::from(one.seq.number());
                    if seq > self.last + 1 {
                        // Others wrote in between.
                        return self.look().await;
                    }
                    if seq == self.last + 1 {
                        self.last = seq;
                        self.send(appended(&self.id, seq, &one.id, one.parent.as_ref()));
                    }
                }
            }
        }
        true
    }

    /// Reads the log on and tells what is new.
    async fn look(&mut self) -> bool {
        loop {
            let Some(session) = self.session.take() else { return false };
            let (engine, last) = (self.hub.engine.clone(), self.last);
            let looked = self.hub.work.run(move || {
                let mut session = session;
                match engine.read_on(&mut session) {
                    Ok(()) => Ok(found(session, last)),
                    Err(error) => Err(failed(error)),
                }
            });
            let Looked { session, entries, len } = match looked.await {
                Ok(looked) => looked,
                Err(error) if error.kind() == Kind::Engine(ErrorKind::NotFound) => {
                    let told = json!({"type": "session.deleted", "session": self.id.as_str()});
                    self.send(event("session.deleted", None, &told).last());
                    return false;
                }
                // Whatever it is, the log is still there: it is opened again.
                Err(_) => return self.open_again().await,
            };
            self.session = Some(session);
            if len < self.last {
                // The file was replaced by one that holds less: positions that were told mean nothing any more.
                let told = json!({"type": "reset", "session": self.id.as_str(), "seq": len});
                self.last = len;
                self.send(event("reset", Some(len), &told).last());
                return true;
            }
            for (seq, entry, parent) in &entries {
                self.last = *seq;
                self.send(appended(&self.id, *seq, entry, parent.as_ref()));
            }
            if self.last >= len {
                return true;
            }
        }
    }

    /// Opens the session again without forgetting what was told.
    async fn open_again(&mut self) -> bool {
        let told = self.last;
        let is_open = self.open().await.is_ok();
        self.last = told;
        is_open
    }

    fn send(&self, frame: Frame) {
        // Without a reader it is told to nobody.
        let _ = self.frames.send(frame);
    }
}

fn failed(error: EngineError) -> ApiError {
    error.into()
}

fn found(session: Session, last: u64) -> Looked {
    let log = session.log();
    let len = log.len() as u64;
    let entries = entries(log, last, BATCH);
    Looked { entries, len, session }
}

/// Returns the entries behind a position.
pub(super) fn entries(log: &Log, last: u64, most: usize) -> Vec<(u64, EntryId, Option<EntryId>)> {
    let behind = usize::try_from(last).unwrap_or(usize::MAX);
    let describe = |seq: ramus_model::Seq| {
        let parent = log.record(seq).and_then(ramus_model::Record::parent);
        let id = |seq| EntryId::from(log.id(seq));
        (u64::from(seq.number()), id(seq), parent.map(id))
    };
    log.seqs().skip(behind).take(most).map(describe).collect()
}
