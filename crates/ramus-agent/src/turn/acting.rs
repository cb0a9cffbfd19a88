//! Running the calls of an answer: each is judged, its start is stored, it runs, its result is stored. Side by side.

use ramus_model::Seq;
use ramus_model::delta::Called;
use serde_json::Value;

use super::{End, State, Turn};
use crate::effect::{Effect, Store, Ticket};
use crate::event::Event;
use crate::input::{Input, Outcome, Verdict};

/// What a call that a person stopped before it started is answered with.
const CANCELLED: &str = "[Cancelled by the user before it started]";

/// The calls of one answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Acting {
    calls: Vec<(Called, Stage)>,
    is_stopped: bool,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Judging,
    Starting(Ticket),
    Running,
    Saving(Ticket, Outcome),
    Closed,
}

impl Acting {
    /// Stops what runs. What did not start gets a result that says so.
    pub(super) fn stop(&mut self) -> Vec<Effect> {
        self.is_stopped = true;
        let open = |(at, (_, stage)): (usize, &(Called, Stage))| match stage {
            Stage::Judging | Stage::Running => Some(Effect::StopCall(at)),
            _ => None,
        };
        self.calls.iter().enumerate().filter_map(open).collect()
    }
}

impl Turn {
    pub(super) fn start_calls(&mut self, calls: Vec<Called>) -> Vec<Effect> {
        self.steps += 1;
        let repeats = calls.iter().map(|call| self.repeats(call)).max().unwrap_or_default();
        let is_over = self.steps > self.limits.steps || repeats > 2 * self.limits.repeats;
        let acting = calls.iter().map(|call| (call.clone(), Stage::Judging)).collect();
        self.state = State::Acting(Acting { calls: acting, is_stopped: self.is_cancelled });
        let mut effects = Vec::new();
        for (at, call) in calls.into_iter().enumerate() {
            let refusal = if self.is_cancelled {
                Some(CANCELLED.to_owned())
            } else if is_over {
                Some("[Not executed: the turn has reached its limit of steps]".to_owned())
            } else if call.arguments.is_none() {
                Some("[Error: the arguments are not a JSON object]".to_owned())
            } else if self.repeats(&call) >= self.limits.repeats {
                Some(format!("[Not executed: the same call was made {} times in a row]", self.repeats(&call)))
            } else {
                None
            };
            self.made.push((call.name.clone(), call.spelled.clone()));
            match refusal {
                Some(text) => effects.extend(self.save(at, Outcome::failed(text))),
                None => effects.push(Effect::Judge(at, call)),
            }
        }
        effects
    }

    /// How often a call was made in a row, up to now.
    fn repeats(&self, call: &Called) -> usize {
        self.made.iter().rev().take_while(|(name, spelled)| *name == call.name && *spelled == call.spelled).count()
    }

    pub(super) fn act(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Judged { call, verdict } => self.judged(call, verdict),
            Input::Done { call, outcome } => match self.stage(call) {
                Some(Stage::Running) => self.save(call, outcome),
                _ => Vec::new(),
            },
            Input::Stored { ticket, seq } => self.saved(ticket, seq),
            _ => Vec::new(),
        }
    }

    fn judged(&mut self, at: usize, verdict: Verdict) -> Vec<Effect> {
        if self.stage(at) != Some(&Stage::Judging) {
            return Vec::new();
        }
        let is_stopped = matches!(&self.state, State::Acting(acting) if acting.is_stopped);
        match verdict {
            _ if is_stopped => self.save(at, Outcome::failed(CANCELLED)),
            Verdict::Denied(reason) => self.save(at, Outcome::failed(reason)),
            Verdict::Harmless => self.run(at),
            Verdict::Allowed => {
                let ticket = Ticket(self.number());
                let Some(call) = self.set(at, Stage::Starting(ticket)) else { return Vec::new() };
                vec![Effect::Store(ticket, Store::Started(call))]
            }
        }
    }

    fn run(&mut self, at: usize) -> Vec<Effect> {
        let Some(call) = self.set(at, Stage::Running) else { return Vec::new() };
        let input = Value::Object(call.arguments.clone().unwrap_or_default());
        let told = Event::ToolStart { call: call.id.clone(), name: call.name.clone(), input };
        vec![Effect::Tell(told), Effect::Run(at, call)]
    }

    fn save(&mut self, at: usize, outcome: Outcome) -> Vec<Effect> {
        let ticket = Ticket(self.number());
        let Some(call) = self.set(at, Stage::Saving(ticket, outcome.clone())) else { return Vec::new() };
        vec![Effect::Store(ticket, Store::Result(call, outcome))]
    }

    fn saved(&mut self, ticket: Ticket, seq: Option<Seq>) -> Vec<Effect> {
        let State::Acting(acting) = &mut self.state else { return Vec::new() };
        let is_awaited =
            |(_, stage): &(Called, Stage)| matches!(stage, Stage::Starting(at) | Stage::Saving(at, _) if *at == ticket);
        let Some(at) = acting.calls.iter().position(is_awaited) else { return Vec::new() };
        let is_stopped = acting.is_stopped;
        match acting.calls.get_mut(at) {
            Some((_, Stage::Starting(_))) if is_stopped => self.save(at, Outcome::failed(CANCELLED)),
            Some((_, Stage::Starting(_))) => self.run(at),
            Some((call, stage)) => {
                let Stage::Saving(_, outcome) = std::mem::replace(stage, Stage::Closed) else { return Vec::new() };
                let told = closed(call, outcome, seq);
                let mut effects = vec![Effect::Tell(told)];
                effects.extend(self.next_request());
                effects
            }
            None => Vec::new(),
        }
    }

    /// Asks again when every call has its result.
    fn next_request(&mut self) -> Vec<Effect> {
        let State::Acting(acting) = &self.state else { return Vec::new() };
        if acting.calls.iter().any(|(_, stage)| *stage != Stage::Closed) {
            return Vec::new();
        }
        let last = self.made.last().cloned();
        let circles = last.map_or(0, |last| self.made.iter().rev().take_while(|made| **made == last).count());
        if self.is_cancelled {
            self.end(End::Cancelled)
        } else if self.steps > self.limits.steps {
            self.end(End::Failed(format!("the turn stopped after {} steps", self.limits.steps)))
        } else if circles > 2 * self.limits.repeats {
            self.end(End::Failed(format!("the model made the same call {circles} times in a row")))
        } else {
            self.prepare()
        }
    }

    fn stage(&self, at: usize) -> Option<&Stage> {
        let State::Acting(acting) = &self.state else { return None };
        acting.calls.get(at).map(|(_, stage)| stage)
    }

    fn set(&mut self, at: usize, to: Stage) -> Option<Called> {
        let State::Acting(acting) = &mut self.state else { return None };
        let (call, stage) = acting.calls.get_mut(at)?;
        *stage = to;
        Some(call.clone())
    }
}

/// What is told when the result of a call is stored.
fn closed(call: &Called, outcome: Outcome, seq: Option<Seq>) -> Event {
    Event::ToolEnd {
        call: call.id.clone(),
        name: call.name.clone(),
        result: outcome.content,
        is_error: outcome.is_error,
        details: outcome.details,
        duration_ms: None,
        seq,
    }
}
