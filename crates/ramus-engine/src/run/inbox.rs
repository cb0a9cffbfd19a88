//! Where a turn that runs is talked to. Nothing that a person says is lost: it is taken, or handed back.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ramus_agent::{Event, Input};
use ramus_model::permission::Approval;

/// How many bytes of what is said may wait to be heard by one turn, and how many each text counts as at least. All that waits is told
/// whenever any of it changes.
const MOST: usize = 1 << 20;
const LEAST: usize = 1 << 10;

/// Where whoever drives a turn, and everything it started, says what happened.
#[derive(Clone)]
pub struct Inbox(Arc<Slot>);

struct Slot {
    /// None when the turn is over.
    sender: Mutex<Option<Sender<Message>>>,
    /// Whether the turn shall stop, whatever came in before.
    is_cancelled: AtomicBool,
    /// How much was said that waits to come in, and that came in and waits to be heard.
    coming: AtomicUsize,
    queued: AtomicUsize,
}

impl Slot {
    /// Notes that something which was said came in.
    fn came_in(&self, weight: usize) {
        self.queued.fetch_add(weight, Ordering::AcqRel);
        self.coming.fetch_sub(weight, Ordering::AcqRel);
    }
}

/// How much what is said counts as; nothing when it is something else.
fn weight(message: &Message) -> usize {
    match message {
        Message::Input(Input::Steer(text) | Input::FollowUp(text)) => text.len().max(LEAST),
        _ => 0,
    }
}

/// What comes in.
pub(super) enum Message {
    Input(Input),
    /// A summary, or why there is none.
    Summary(Result<String, String>),
    /// A call ran for so long, without what was done around it.
    Ran(usize, Duration),
    /// A person said yes for longer than one call.
    Approved(Approval),
    /// Something to tell that the turn does not depend on.
    Tell(Event),
    /// A time has come.
    Time,
}

/// What becomes of what a person says while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenBusy {
    /// It counts before the next request.
    Steer,
    /// It counts when the turn would end.
    #[default]
    FollowUp,
    /// It is not taken.
    Reject,
}

/// What a person said was not taken. It is handed back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// A turn runs, and nothing shall wait for it.
    #[error("a turn is running in this session")]
    Busy(String),
    /// The turn is over: a new one can be run.
    #[error("the turn is over")]
    Over(String),
    /// As much waits to be heard as may.
    #[error("as much waits to be heard as may")]
    Full(String),
    /// It is longer than all that may wait.
    #[error("it is too long to be said to a turn that runs")]
    TooLong(String),
}

impl Inbox {
    /// Says that something happened. After the end nobody listens.
    pub fn send(&self, input: Input) {
        if input == Input::Cancel {
            self.0.is_cancelled.store(true, Ordering::Release);
        }
        self.post(Message::Input(input));
    }

    /// Says something to the model while the turn runs.
    pub fn say(&self, text: impl Into<String>, when: WhenBusy) -> Result<(), NotTaken> {
        let text = text.into();
        let input = match when {
            WhenBusy::Steer => Input::Steer(text.clone()),
            WhenBusy::FollowUp => Input::FollowUp(text.clone()),
            WhenBusy::Reject if self.is_open() => return Err(NotTaken::Busy(text)),
            WhenBusy::Reject => return Err(NotTaken::Over(text)),
        };
        if text.len() > MOST {
            return Err(NotTaken::TooLong(text));
        }
        let message = Message::Input(input);
        let sender = self.sender();
        let waiting = self.0.coming.load(Ordering::Acquire) + self.0.queued.load(Ordering::Acquire);
        match sender.as_ref() {
            None => Err(NotTaken::Over(text)),
            Some(_) if waiting + weight(&message) > MOST => Err(NotTaken::Full(text)),
            Some(sender) if self.hand_in(sender, message) => Ok(()),
            Some(_) => Err(NotTaken::Over(text)),
        }
    }

    /// Takes note of what waits to be heard in the turn.
    pub(super) fn note_waiting<'t>(&self, texts: impl Iterator<Item = &'t String>) {
        self.0.queued.store(texts.map(|text| text.len().max(LEAST)).sum(), Ordering::Release);
    }

    /// Has an event told to whoever watches the turn.
    pub fn tell(&self, event: Event) {
        self.post(Message::Tell(event));
    }

    fn is_open(&self) -> bool {
        self.sender().is_some()
    }

    fn sender(&self) -> MutexGuard<'_, Option<Sender<Message>>> {
        self.0.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_in(&self, sender: &Sender<Message>, message: Message) -> bool {
        // Before it can come in.
        self.0.coming.fetch_add(weight(&message), Ordering::AcqRel);
        sender.send(message).is_ok()
    }

    /// Hands in a message; says whether anybody will read it.
    pub(super) fn post(&self, message: Message) -> bool {
        self.sender().as_ref().is_some_and(|sender| self.hand_in(sender, message))
    }
}

/// Makes an inbox for a turn.
pub fn inbox() -> (Inbox, Letters) {
    let (sender, receiver) = channel();
    let slot = Arc::new(Slot {
        sender: Mutex::new(Some(sender)),
        is_cancelled: AtomicBool::new(false),
        coming: AtomicUsize::new(0),
        queued: AtomicUsize::new(0),
    });
    (Inbox(Arc::clone(&slot)), Letters { receiver, slot })
}

/// What came in.
pub struct Letters {
    receiver: Receiver<Message>,
    slot: Arc<Slot>,
}

impl Letters {
    /// Waits for what comes next, until a time if there is one. That the turn shall stop comes before everything else.
    pub(super) fn next(&self, until: Option<Instant>) -> Message {
        let cancel = || Message::Input(Input::Cancel);
        if self.slot.is_cancelled.swap(false, Ordering::AcqRel) {
            return cancel();
        }
        let received = match until {
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(message) => {
                self.slot.came_in(weight(&message));
                message
            }
            Err(RecvTimeoutError::Timeout) => Message::Time,
            // Our own sender lives as long as the turn.
            Err(RecvTimeoutError::Disconnected) => cancel(),
        }
    }

    /// Takes no more, and returns what was said and not heard.
    pub(super) fn close(self) -> Vec<String> {
        *self.slot.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let said = |message| match message {
            Message::Input(Input::Steer(text) | Input::FollowUp(text)) => Some(text),
            _ => None,
        };
        self.receiver.try_iter().filter_map(said).collect()
    }
}

impl Drop for Letters {
    fn drop(&mut self) {
        // A turn that failed is over too.
        *self.slot.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What a callback says about going on: nothing, a truth value or a [`ControlFlow`].
pub trait GoesOn {
    /// Says whether the turn goes on.
    fn goes_on(&self) -> bool;
}

impl GoesOn for () {
    fn goes_on(&self) -> bool {
        true
    }
}

impl GoesOn for bool {
    fn goes_on(&self) -> bool {
        *self
    }
}

impl GoesOn for ControlFlow<()> {
    fn goes_on(&self) -> bool {
        self.is_continue()
    }
}

/// Makes a watcher of a callback that stops the turn by returning `false` or [`ControlFlow::Break`]. It is not called again
/// after that; what the model had said by then is kept.
///
/// ```
/// use std::sync::Arc;
///
/// use ramus_agent::Event;
/// use ramus_engine::run::{Run, inbox, watching};
/// use ramus_engine::{Engine, NewSession};
/// use ramus_model::usage::ModelName;
/// use ramus_provider::{Resolved, Scripted};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = "answers = [{ steps = [{ text = [\"one \", \"two \", \"three \"] }, { hang = true }] }]";
/// let model = ModelName { provider: "scripted".into(), model: "any".into() };
/// let model = Resolved { provider: Arc::new(Scripted::new(script, "an example")?), model };
/// let engine = Engine::in_memory();
/// let mut session = engine.create(NewSession { cwd: "/tmp".into(), ..NewSession::default() })?;
/// let runtime = tokio::runtime::Runtime::new()?;
/// let (inbox, letters) = inbox();
/// let mut said = String::new();
/// let mut watcher = watching(inbox.clone(), |event: &Event| {
///     if let Event::MessageDelta(text) = event {
///         said.push_str(text);
///     }
///     !said.contains("two")
/// });
/// let run = Run::new(model).with_prompt("count");
/// let result = engine.run(&mut session, run, runtime.handle(), (inbox, letters), &mut watcher)?;
/// drop(watcher);
/// assert_eq!((result.finish_reason(), said.as_str()), ("cancelled", "one two "));
/// # Ok(())
/// # }
/// ```
pub fn watching<R: GoesOn>(inbox: Inbox, mut callback: impl FnMut(&Event) -> R) -> impl FnMut(&Event) {
    let mut goes_on = true;
    move |event| {
        if goes_on && !callback(event).goes_on() {
            goes_on = false;
            inbox.send(Input::Cancel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_waits_to_be_heard_and_no_more() {
        let (inbox, letters) = inbox();
        let text = || "x".repeat(MOST / 4);
        let say = |text: String| inbox.say(text, WhenBusy::FollowUp);
        assert!((0..4).all(|_| say(text()).is_ok()));
        assert_eq!(say(text()), Err(NotTaken::Full(text())));
        assert_eq!(say("x".repeat(MOST + 1)), Err(NotTaken::TooLong("x".repeat(MOST + 1))));
        // What came in waits in the turn, until that says otherwise.
        assert!(matches!(letters.next(None), Message::Input(Input::FollowUp(_))));
        assert!(say("short".into()).is_err());
        inbox.note_waiting([].into_iter());
        assert!(say(text()).is_ok() && say("short".into()).is_err());
        drop(letters);
        assert_eq!(say("short".into()), Err(NotTaken::Over("short".into())));
    }
}
