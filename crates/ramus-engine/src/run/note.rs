//! What the driver of a turn notes beside it: the journal of what is said, and how long things take.
//!
//! The invariant: nothing here stops a turn. A journal that cannot be written is given up, and that is said once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ramus_agent::{Busy, Event, Input};
use ramus_model::delta::Delta;
use ramus_store::StoreError;

use super::Running;
use crate::journal::{Head, Journalling};
use crate::verb::create::new_entry_id;

/// How long nothing must come from a model until that is told, and then how often.
const STALL: Duration = Duration::from_secs(10);
const STALL_AGAIN: Duration = Duration::from_secs(5);

/// Since when things have been going on.
#[derive(Default)]
pub(super) struct Timing {
    /// Calls that run: which, and since when.
    running: HashMap<usize, (String, Instant)>,
    /// How long calls ran that are not quite done.
    ran: HashMap<usize, Duration>,
    /// How long calls took that ended.
    took: HashMap<String, Duration>,
    /// When the model was asked or last said something, and what was told about its silence.
    heard: Option<Instant>,
    told: Duration,
}

impl Timing {
    pub(super) fn start(&mut self, at: usize, call: String) {
        self.running.insert(at, (call, Instant::now()));
    }

    /// Notes how long a call ran.
    pub(super) fn ran(&mut self, at: usize, took: Duration) {
        self.ran.insert(at, took);
    }

    /// Notes what happened.
    pub(super) fn hear(&mut self, input: &Input) {
        match input {
            Input::Delta(_) => self.listen(),
            Input::Done { call, .. } => {
                let ran = self.ran.remove(call);
                if let Some((call, since)) = self.running.remove(call) {
                    self.took.insert(call, ran.unwrap_or_else(|| since.elapsed()));
                }
            }
            _ => {}
        }
    }

    /// Notes that the model is listened to from now on.
    pub(super) fn listen(&mut self) {
        (self.heard, self.told) = (Some(Instant::now()), Duration::ZERO);
    }

    /// Says how long a call took, in milliseconds.
    pub(super) fn took(&self, call: &str) -> Option<u64> {
        let took = self.took.get(call)?;
        Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
    }

    /// Says so for the last time.
    pub(super) fn take(&mut self, call: &str) -> Option<u64> {
        let took = self.took(call);
        self.took.remove(call);
        took
    }

    /// Returns the calls that run.
    pub(super) fn underway(&self) -> Vec<usize> {
        self.running.keys().copied().collect()
    }

    /// When silence must be told next.
    fn next_stall(&self) -> Option<Instant> {
        let wait = if self.told.is_zero() { STALL } else { self.told + STALL_AGAIN };
        self.heard.map(|heard| heard + wait)
    }

    /// Returns how long nothing came, when that must be told now.
    fn stall(&mut self) -> Option<Duration> {
        let heard = self.heard.filter(|_| self.next_stall().is_some_and(|next| next <= Instant::now()))?;
        self.told = heard.elapsed();
        Some(self.told)
    }
}

impl Running<'_> {
    /// Starts the journal. It exists as long as the turn runs, so one that is left says that a turn was interrupted.
    pub(super) fn start_journal(&mut self) {
        let head = Head {
            session: self.session.id().to_string(),
            turn: self.name.clone(),
            model: self.model().clone(),
            api: self.run.model.provider.api().to_owned(),
            price: self.run.prices.price(self.model()),
        };
        match Journalling::start(self.engine.store.as_ref(), self.session.location(), head) {
            Ok(journal) => self.journal = journal,
            Err(error) => self.give_up_journal(&error),
        }
    }

    /// Notes a piece of the answer.
    pub(super) fn journal(&mut self, delta: Delta) {
        if self.journal.answer().is_none() {
            let log = self.session.log();
            let entry = new_entry_id(|id| log.seq_of(id).is_some());
            self.journal.begin(entry, self.session.leaf().as_ref());
        }
        if let Err(error) = self.journal.note(delta) {
            self.give_up_journal(&error);
        }
    }

    /// Forgets what was noted of an answer, which is stored.
    pub(super) fn close_journal(&mut self) {
        if let Err(error) = self.journal.close() {
            self.give_up_journal(&error);
        }
    }

    /// Removes the journal: the turn is over.
    pub(super) fn end_journal(&mut self) {
        let Some(journals) = self.engine.store.journals() else { return };
        if let Err(error) = journals.remove_journal(self.session.location()) {
            self.give_up_journal(&error);
        }
    }

    fn give_up_journal(&mut self, error: &StoreError) {
        let notice = format!("if the process ends early, what is being said is lost: {error}");
        self.session.notices.push(notice);
    }

    /// Returns when something must be done although nothing happens.
    pub(super) fn deadline(&self, busy: Busy) -> Option<Instant> {
        let stall = if busy == Busy::Asking { self.timing.next_stall() } else { None };
        [self.journal.due(), stall].into_iter().flatten().min()
    }

    /// Does what must be done although nothing happened.
    pub(super) fn notice_time(&mut self) {
        if self.journal.due().is_some_and(|due| due <= Instant::now())
            && let Err(error) = self.journal.write()
        {
            self.give_up_journal(&error);
        }
        if let Some(silence) = self.timing.stall() {
            self.tell(Event::Stall { seconds: silence.as_secs() });
        }
    }
}
