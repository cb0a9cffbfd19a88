//! The states of a turn and how it gets from one to the next.

mod acting;
mod answering;
mod queue;

use ramus_model::Seq;
use ramus_model::delta::{Answering, Ending};

use crate::effect::{Effect, Store, Ticket, Timer};
use crate::event::Event;
use crate::input::{Input, Prepared};
use acting::Acting;
use answering::Stream;
use queue::Queue;

/// How much a turn may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many requests with calls in their answers.
    pub steps: usize,
    /// How often an answer that was cut off by its length is continued.
    pub rounds: usize,
    /// How many tokens continuations may have in all.
    pub continued_tokens: u64,
    /// How often a request that failed is sent again.
    pub retries: usize,
    /// How often the same call may follow itself.
    pub repeats: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100, rounds: 10, continued_tokens: 10_000, retries: 3, repeats: 3 }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The model had said everything, or was cut off for good: why its last answer ended.
    Finished(String),
    /// Someone stopped it.
    Cancelled,
    /// It could not go on, and why.
    Failed(String),
}

/// What a turn is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Storing something.
    Storing,
    /// Making a request.
    Preparing,
    /// Summarising.
    Compacting,
    /// Listening to the model.
    Asking,
    /// Waiting to ask again.
    Waiting,
    /// Running calls.
    Acting,
    /// Nothing: it is over.
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Storing(Ticket, Next),
    Preparing,
    Compacting(Why),
    Asking,
    Waiting(Timer),
    Acting(Acting),
    Ended,
}

/// What follows when something is stored.
#[derive(Clone, Debug, PartialEq)]
enum Next {
    Prepare,
    AfterAnswer,
    End(End),
}

/// Why the older part of a path is summarised.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// The window is nearly full.
    Full,
    /// The request was refused for its length.
    Overflow(String),
}

/// One turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What calls without an id are named after.
    name: String,
    limits: Limits,
    state: State,
    answer: Answering,
    stream: Stream,
    /// How many answers began to come in.
    answers: usize,
    queue: Queue,
    /// The calls that were made last, to notice when they go round in circles.
    made: Vec<(String, String)>,
    numbers: u64,
    steps: usize,
    degrade: u8,
    has_compacted: bool,
    is_cancelled: bool,
}

impl Turn {
    /// Starts a turn with what a person said, or with what the path ends with. `name` must be different for every turn of
    /// a session.
    pub fn start(name: &str, prompt: Option<String>, limits: Limits) -> (Self, Vec<Effect>) {
        let mut turn = Self {
            name: name.to_owned(),
            limits,
            state: State::Preparing,
            answer: Answering::default(),
            stream: Stream::default(),
            answers: 0,
            queue: Queue::default(),
            made: Vec::new(),
            numbers: 0,
            steps: 0,
            degrade: 0,
            has_compacted: false,
            is_cancelled: false,
        };
        let effects = match prompt {
            Some(text) => turn.store(Store::Prompt(text), Next::Prepare),
            None => turn.prepare(),
        };
        (turn, effects)
    }

    /// Returns what a person said that nobody heard, in the order in which it would have counted.
    pub fn unheard(&mut self) -> Vec<String> {
        self.queue.take()
    }

    /// Says what the turn is busy with.
    pub fn busy(&self) -> Busy {
        match self.state {
            State::Storing(..) => Busy::Storing,
            State::Preparing => Busy::Preparing,
            State::Compacting(_) => Busy::Compacting,
            State::Asking => Busy::Asking,
            State::Waiting(_) => Busy::Waiting,
            State::Acting(_) => Busy::Acting,
            State::Ended => Busy::Nothing,
        }
    }

    /// Takes what happened and says what must be done now. What comes too late is ignored.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        match (&mut self.state, input) {
            (State::Ended, _) => Vec::new(),
            (_, Input::Steer(text)) => self.queue.steer(text),
            (_, Input::FollowUp(text)) => self.queue.follow_up(text),
            (_, Input::TakeOut(text)) => self.queue.take_out(&text),
            (_, Input::Cancel) => self.cancel(),
            (State::Storing(awaited, _), Input::Stored { ticket, seq }) if *awaited == ticket => self.proceed(seq),
            (State::Preparing, Input::Prepared(prepared)) => self.prepared(prepared),
            (State::Compacting(_), Input::Compacted(result)) => self.compacted(result),
            (State::Asking, Input::Delta(delta)) => self.hear(delta),
            (State::Asking, Input::Answered(result)) => self.answered(result),
            (State::Waiting(awaited), Input::Elapsed(timer)) if *awaited == timer => self.prepare(),
            (State::Acting(_), input) => self.act(input),
            _ => Vec::new(),
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn store(&mut self, what: Store, next: Next) -> Vec<Effect> {
        let ticket = Ticket(self.number());
        self.state = State::Storing(ticket, next);
        vec![Effect::Store(ticket, what)]
    }

    /// Goes on when something is stored.
    fn proceed(&mut self, seq: Option<Seq>) -> Vec<Effect> {
        match std::mem::replace(&mut self.state, State::Preparing) {
            State::Storing(_, Next::End(end)) => self.end_early(end, seq),
            State::Storing(_, Next::AfterAnswer) => self.after_answer(seq),
            _ if self.is_cancelled => self.end(End::Cancelled),
            _ => self.prepare(),
        }
    }

    fn prepare(&mut self) -> Vec<Effect> {
        // What was said meanwhile counts before the model is asked.
        if let Some((text, told)) = self.queue.next_steer() {
            let mut effects = vec![told];
            effects.extend(self.store(Store::Prompt(text), Next::Prepare));
            return effects;
        }
        self.state = State::Preparing;
        vec![Effect::Prepare { degrade: self.degrade }]
    }

    fn prepared(&mut self, prepared: Result<Prepared, String>) -> Vec<Effect> {
        let Prepared { needs_room } = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return self.fail(reason),
        };
        if needs_room && !self.has_compacted {
            return self.compact(Why::Full);
        }
        self.ask()
    }

    fn compact(&mut self, why: Why) -> Vec<Effect> {
        self.has_compacted = true;
        self.state = State::Compacting(why);
        vec![Effect::Tell(Event::CompactionStart), Effect::Compact]
    }

    fn compacted(&mut self, result: Result<(), String>) -> Vec<Effect> {
        let State::Compacting(why) = std::mem::replace(&mut self.state, State::Preparing) else { return Vec::new() };
        let mut effects = vec![Effect::Tell(Event::CompactionEnd { error: result.as_ref().err().cloned() })];
        effects.extend(match (result, why) {
            (Err(error), Why::Overflow(reason)) => self.fail(format!("{reason}; {error}")),
            // It may still fit.
            _ => self.prepare(),
        });
        effects
    }

    /// Ends with an answer that says what went wrong.
    fn fail(&mut self, reason: String) -> Vec<Effect> {
        self.store_early(Ending::Failed(reason.clone()), End::Failed(reason))
    }

    fn cancel(&mut self) -> Vec<Effect> {
        if std::mem::replace(&mut self.is_cancelled, true) {
            return Vec::new();
        }
        match &mut self.state {
            State::Storing(..) | State::Ended => Vec::new(),
            State::Acting(acting) => acting.stop(),
            State::Asking => {
                let mut effects = vec![Effect::StopAsking];
                effects.extend(self.keep_partial());
                effects
            }
            State::Waiting(_) | State::Preparing | State::Compacting(_) => match self.answer.is_empty() {
                true => self.end(End::Cancelled),
                false => self.keep_partial(),
            },
        }
    }

    /// Stores what was said until someone stopped it.
    fn keep_partial(&mut self) -> Vec<Effect> {
        self.store_early(Ending::Cancelled, End::Cancelled)
    }

    /// Stores an answer that did not come to its end, and ends with it.
    fn store_early(&mut self, ending: Ending, end: End) -> Vec<Effect> {
        let mut effects = self.end_thought();
        let answer = Box::new(std::mem::take(&mut self.answer));
        effects.extend(self.store(Store::Answer(answer, ending), Next::End(end)));
        effects
    }

    fn end_early(&mut self, end: End, seq: Option<Seq>) -> Vec<Effect> {
        let mut effects = Vec::new();
        if seq.is_some() && self.stream.is_begun() {
            let stop_reason = if end == End::Cancelled { "aborted" } else { "error" }.to_owned();
            effects.push(Effect::Tell(Event::MessageEnd { stop_reason, seq }));
        }
        effects.extend(self.end(end));
        effects
    }

    fn end(&mut self, end: End) -> Vec<Effect> {
        self.state = State::Ended;
        vec![Effect::End(end)]
    }
}
