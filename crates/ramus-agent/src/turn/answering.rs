//! Listening to the model: pieces, the end, going on when it was cut off, asking again when it failed.

use std::time::Duration;

use ramus_model::Seq;
use ramus_model::delta::{Delta, Ending, Finish};

use super::{End, Next, State, Turn, Why};
use crate::effect::{Effect, Store, Timer};
use crate::event::{Event, Piece};
use crate::input::Failure;

/// How long the first retry waits when the provider does not say.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// The longest wait of our own choice.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// The longest wait that a provider can ask for. One that asks for more is not waited for.
const LONGEST_ASKED: Duration = Duration::from_secs(120);

/// How far a history is simplified at most.
const SIMPLEST: u8 = 3;

/// How an answer is coming in.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// Whether something of this request was shown already.
    is_shown: bool,
    /// Whether it was told that an answer begins.
    is_begun: bool,
    /// Whether the last that was shown is a thought.
    is_thinking: bool,
    /// How often the request was sent again.
    attempts: usize,
    /// How often the answer was continued.
    rounds: usize,
    /// How many pieces of it were told.
    told: usize,
    /// How long its text was when the last continuation began.
    said: usize,
}

impl Stream {
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }
}

impl Turn {
    pub(super) fn ask(&mut self) -> Vec<Effect> {
        self.state = State::Asking;
        self.stream.is_shown = false;
        let said = if self.stream.rounds > 0 { self.answer.text() } else { String::new() };
        self.stream.said = said.len();
        vec![Effect::Ask { said }]
    }

    pub(super) fn hear(&mut self, delta: Delta) -> Vec<Effect> {
        let mut effects = vec![Effect::Journal(delta.clone())];
        let is_visible = matches!(delta, Delta::Text(_) | Delta::Thinking(_) | Delta::Call { .. });
        if is_visible && !self.stream.is_shown {
            self.stream.is_shown = true;
            if !std::mem::replace(&mut self.stream.is_begun, true) {
                self.answers += 1;
                effects.push(Effect::Tell(Event::MessageStart));
            }
        }
        effects.extend(self.turn_thought(&delta));
        let told = match &delta {
            Delta::Text(text) if !text.is_empty() => Some(Event::MessageDelta(self.piece(text))),
            Delta::Thinking(text) if !text.is_empty() => Some(Event::ThinkingDelta(self.piece(text))),
            Delta::Usage(usage) => Some(Event::Usage(*usage)),
            _ => None,
        };
        self.answer.take(delta);
        effects.extend(told.map(Effect::Tell));
        effects
    }

    /// Says where in the turn a piece is.
    fn piece(&mut self, text: &str) -> Piece {
        self.stream.told += 1;
        Piece { text: text.to_owned(), answer: self.answers, number: self.stream.told }
    }

    /// Tells where thoughts begin and end.
    fn turn_thought(&mut self, delta: &Delta) -> Vec<Effect> {
        match delta {
            Delta::Thinking(text) if !text.is_empty() && !self.stream.is_thinking => {
                self.stream.is_thinking = true;
                vec![Effect::Tell(Event::ThinkingStart)]
            }
            Delta::ThinkingSeal(_) | Delta::SealedThought(_) | Delta::Call { .. } => self.end_thought(),
            Delta::Text(text) if !text.is_empty() => self.end_thought(),
            _ => Vec::new(),
        }
    }

    pub(super) fn end_thought(&mut self) -> Vec<Effect> {
        let was_thinking = std::mem::take(&mut self.stream.is_thinking);
        was_thinking.then_some(Effect::Tell(Event::ThinkingEnd)).into_iter().collect()
    }

    pub(super) fn answered(&mut self, result: Result<(), Failure>) -> Vec<Effect> {
        match result {
            Ok(()) if self.goes_on() => {
                self.stream.rounds += 1;
                self.answer.go_on();
                let mut effects = self.end_thought();
                effects.extend(self.ask());
                effects
            }
            Ok(()) => self.keep(Ending::Whole),
            // What there is is worth keeping, even if no more of it comes.
            Err(_) if self.stream.rounds > 0 => {
                self.answer.take(Delta::Finished(Finish::Length));
                self.keep(Ending::Whole)
            }
            Err(failure) => self.failed(failure),
        }
    }

    /// Says whether an answer that was cut off by its length shall be continued.
    fn goes_on(&self) -> bool {
        let Stream { rounds, said, .. } = self.stream;
        self.answer.finish() == Some(&Finish::Length)
            && self.answer.calls().is_empty()
            && self.answer.text().len() > said
            && rounds < self.limits.rounds
            && self.answer.usage().output < self.limits.continued_tokens
            && !self.is_cancelled
    }

    fn keep(&mut self, ending: Ending) -> Vec<Effect> {
        let (name, numbers) = (self.name.clone(), &mut self.numbers);
        self.answer.name_calls(|| {
            *numbers += 1;
            format!("call_{name}_{numbers}")
        });
        let mut effects = self.end_thought();
        self.stream = Stream::default();
        let answer = Box::new(self.answer.clone());
        effects.extend(self.store(Store::Answer(answer, ending), Next::AfterAnswer));
        effects
    }

    fn failed(&mut self, failure: Failure) -> Vec<Effect> {
        match failure {
            Failure::Later(after, reason)
                if !self.stream.is_shown
                    && self.stream.attempts < self.limits.retries
                    && after.is_none_or(|after| after <= LONGEST_ASKED) =>
            {
                self.stream.attempts += 1;
                let attempt = self.stream.attempts;
                let doubled = FIRST_DELAY.saturating_mul(1 << attempt.saturating_sub(1).min(8));
                let delay = after.unwrap_or(doubled.min(LONGEST_DELAY));
                let timer = Timer(self.number());
                self.state = State::Waiting(timer);
                let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                vec![Effect::Tell(Event::Retry { attempt, delay_ms, reason }), Effect::Wait(timer, delay)]
            }
            Failure::Overflow(reason) if !self.stream.is_shown && !self.has_compacted => {
                self.compact(Why::Overflow(reason))
            }
            Failure::History(_) if !self.stream.is_shown && self.degrade < SIMPLEST => {
                self.degrade += 1;
                self.prepare()
            }
            failure => self.fail(failure.reason().to_owned()),
        }
    }

    /// Goes on when an answer is stored: with its calls, with what was said meanwhile, or not at all.
    pub(super) fn after_answer(&mut self, seq: Option<Seq>) -> Vec<Effect> {
        let answer = std::mem::take(&mut self.answer);
        let finish = answer.finish().cloned().unwrap_or(Finish::Stop);
        let stop_reason = finish.stop_reason().to_owned();
        let mut effects = vec![Effect::Tell(Event::MessageEnd { stop_reason: stop_reason.clone(), seq })];
        let calls = answer.calls();
        if !calls.is_empty() {
            effects.extend(self.start_calls(calls));
            return effects;
        }
        if self.is_cancelled {
            effects.extend(self.end(End::Cancelled));
            return effects;
        }
        if let Finish::Refused(reason) = finish {
            effects.extend(self.end(End::Failed(reason)));
            return effects;
        }
        match self.queue.next() {
            Some((text, told)) => {
                effects.push(told);
                effects.extend(self.store(Store::Prompt(text), Next::Prepare));
            }
            None => effects.extend(self.end(End::Finished(stop_reason))),
        }
        effects
    }
}
