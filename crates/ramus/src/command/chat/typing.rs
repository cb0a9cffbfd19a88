//! What a person types while a turn runs: it is told to the model before its next step, or when the turn would end.
//!
//! The invariant: what was typed is told, or handed back when the turn is over. A copy of what waits is kept here, and
//! the turn's own account of its queue says what was taken from it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::Context as _;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_agent::{Event, Input};
use ramus_engine::run::{Answer, Asker};
use ramus_model::delta::Called;
use ramus_model::permission::{Because, Question};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long the keyboard is looked at before a question may have it.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Texts that were typed and not taken yet.
#[derive(Debug, Default)]
struct Waiting {
    steer: VecDeque<String>,
    follow_up: VecDeque<String>,
    /// Commands, which wait for the end of the turn.
    commands: VecDeque<String>,
    /// How many the turn said it holds.
    held: (usize, usize),
}

impl Waiting {
    /// Keeps a line, and returns what the turn is told about it.
    fn take(&mut self, line: &str) -> Option<Input> {
        let line = line.trim();
        if line.is_empty() {
            return None;
        }
        if matches!(super::slash::Slash::parse(line), Ok(Some(_)) | Err(_)) {
            self.commands.push_back(line.to_owned());
            return None;
        }
        if let Some(later) = line.strip_prefix('>') {
            self.follow_up.push_back(later.trim().to_owned());
            return Some(Input::FollowUp(later.trim().to_owned()));
        }
        self.steer.push_back(line.to_owned());
        Some(Input::Steer(line.to_owned()))
    }

    /// Takes note of what the turn holds now: whatever became less was told.
    fn notice(&mut self, steer: usize, follow_up: usize) {
        for _ in steer..self.held.0 {
            self.steer.pop_front();
        }
        for _ in follow_up..self.held.1 {
            self.follow_up.pop_front();
        }
        self.held = (steer, follow_up);
    }

    fn left(self) -> Vec<String> {
        self.steer.into_iter().chain(self.follow_up).chain(self.commands).collect()
    }
}

/// Reads the keyboard while a turn runs.
pub(super) struct Typing {
    waiting: Arc<Mutex<Waiting>>,
    /// Whoever holds this may read the keyboard.
    keyboard: Arc<tokio::sync::Mutex<()>>,
    /// Closed to say that the turn is over.
    stop: OwnedFd,
    reader: JoinHandle<()>,
}

impl Typing {
    pub(super) fn start(tell: impl Fn(Input) + Send + 'static) -> anyhow::Result<Self> {
        let (ended, stop) = io::pipe().context("cannot make a pipe")?;
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let keyboard = Arc::new(tokio::sync::Mutex::new(()));
        let (kept, held) = (Arc::clone(&waiting), Arc::clone(&keyboard));
        let reader = std::thread::spawn(move || {
            let mut typed = Vec::new();
            // A keyboard that cannot be read any more has nothing more to say; the turn goes on without it.
            while let Ok(true) = glance(&ended, &held, &mut typed) {
                while let Some(end) = typed.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = typed.drain(..=end).collect();
                    let line = String::from_utf8_lossy(&line);
                    let told = kept.lock().unwrap_or_else(PoisonError::into_inner).take(&line);
                    told.into_iter().for_each(&tell);
                }
            }
        });
        Ok(Self { waiting, keyboard, stop: stop.into(), reader })
    }

    /// Takes note of what the turn says about its queue.
    pub(super) fn notice(&self, event: &Event) {
        if let Event::QueueChanged { steer, follow_up, .. } = event {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).notice(*steer, *follow_up);
        }
    }

    /// Returns what whoever reads the keyboard holds.
    pub(super) fn keyboard(&self) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.keyboard)
    }

    /// Makes questions wait until nobody else reads the keyboard.
    pub(super) fn polite(&self, asker: Arc<dyn Asker>) -> Arc<dyn Asker> {
        Arc::new(Polite { asker, keyboard: Arc::clone(&self.keyboard) })
    }

    /// Stops reading, and returns what was typed and not told.
    pub(super) fn stop(self) -> Vec<String> {
        drop(self.stop);
        // A reader that broke has told what it had.
        let _ = self.reader.join();
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.left()
    }
}

/// Looks at the keyboard for a moment. Says whether to go on.
fn glance(ended: &impl AsFd, keyboard: &tokio::sync::Mutex<()>, typed: &mut Vec<u8>) -> io::Result<bool> {
    let Ok(_held) = keyboard.try_lock() else {
        // A question is being answered.
        let mut only = [PollFd::new(ended, PollFlags::IN)];
        poll(&mut only, Some(&GLANCE))?;
        return Ok(only.iter().all(|end| end.revents().is_empty()));
    };
    let stdin = io::stdin();
    let mut both = [PollFd::new(ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut both, Some(&GLANCE)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let [end, keys] = both.map(|one| one.revents());
    if !end.is_empty() {
        return Ok(false);
    }
    if keys.contains(PollFlags::IN) {
        let mut buffer = [0; 4096];
        let count = rustix::io::read(&stdin, &mut buffer)?;
        typed.extend_from_slice(buffer.get(..count).unwrap_or_default());
        return Ok(count > 0);
    }
    Ok(keys.is_empty())
}

/// Asks when the keyboard is free, and keeps it until the answer is there.
struct Polite {
    asker: Arc<dyn Asker>,
    keyboard: Arc<tokio::sync::Mutex<()>>,
}

impl Asker for Polite {
    fn ask(&self, id: &str, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let (asker, keyboard) = (Arc::clone(&self.asker), Arc::clone(&self.keyboard));
        let (id, call, question, because) = (id.to_owned(), call.clone(), question.clone(), because.clone());
        async move {
            let _held = keyboard.lock_owned().await;
            asker.ask(&id, &call, &question, &because).await
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_told_is_left() {
        let mut waiting = Waiting::default();
        assert_eq!(waiting.take("one\n"), Some(Input::Steer("one".into())));
        assert_eq!(waiting.take("> two\n"), Some(Input::FollowUp("two".into())));
        assert_eq!(waiting.take("three\n"), Some(Input::Steer("three".into())));
        assert_eq!((waiting.take("/tree\n"), waiting.take("\n")), (None, None));
        // The turn heard of the first two, and told the first.
        for (steer, follow_up) in [(1, 0), (1, 1), (0, 1)] {
            waiting.notice(steer, follow_up);
        }
        assert_eq!(waiting.left(), ["three", "two", "/tree"]);
    }
}
