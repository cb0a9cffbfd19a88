//! Eviction: which messages are left out so that the rest fits.
//!
//! Oldest first, in three passes: whole turns before the current one; inside the current one, calls with all their results;
//! then single messages. System messages, the last thing a person said and the last answer stay, and no call is parted from
//! its results.

use std::ops::Range;

use crate::context::provider::{Outgoing, Speaker};
use crate::id::Seq;
use crate::kind::{Kind, Role};
use crate::log::Log;
use crate::tokens::{self, Counter};

/// A message as eviction sees it. A result belongs to the answer before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Who speaks.
    pub role: Role,
    /// How many tokens it has.
    pub tokens: u64,
}

/// What an eviction leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Eviction {
    /// The messages that go, by their place, in order.
    pub removed: Vec<usize>,
    /// How many tokens they have.
    pub freed: u64,
}

impl Eviction {
    fn take(&mut self, messages: &[Weight], range: Range<usize>) {
        for at in range {
            let Some(message) = messages.get(at) else { continue };
            if message.role != Role::System && !self.removed.contains(&at) {
                self.removed.push(at);
                self.freed = self.freed.saturating_add(message.tokens);
            }
        }
    }
}

/// Weighs messages as they are sent, where results stand behind their calls, and names those that can be left out. What is
/// no message entry cannot be, and counts as a system message does.
pub fn weights(log: &Log, messages: &[Outgoing], counter: &dyn Counter) -> Vec<(Option<Seq>, Weight)> {
    let weight = |message: &Outgoing| {
        let record = message.entry.and_then(|seq| log.record(seq)).filter(|record| record.kind == Kind::Message);
        let role = match (&message.speaker, record) {
            (Speaker::Tool(_), _) => Role::ToolResult,
            (_, Some(record)) => record.role,
            (_, None) => Role::System,
        };
        let tokens = tokens::of_parts(&message.parts, counter);
        (message.entry.filter(|_| record.is_some()), Weight { role, tokens })
    };
    messages.iter().map(weight).collect()
}

/// Chooses messages to leave out until `need` tokens are free. What can be left out may be less than that.
pub fn evict(messages: &[Weight], need: u64) -> Eviction {
    let is = |role: Role| move |weight: &Weight| weight.role == role;
    let current = messages.iter().rposition(is(Role::User));
    let answer = messages.iter().rposition(is(Role::Assistant));
    let mut eviction = Eviction::default();
    let start = current.map_or(0, |current| turn_start(messages, current));
    let passes = turns(messages, start)
        .into_iter()
        .chain(steps(messages, start, answer))
        .chain(singles(messages, current, answer));
    for range in passes {
        if eviction.freed >= need {
            break;
        }
        eviction.take(messages, range);
    }
    eviction.removed.sort_unstable();
    eviction
}

/// Where the turn of a user message starts: what a person said several times in a row is one turn.
fn turn_start(messages: &[Weight], user: usize) -> usize {
    let before = messages.get(..user).unwrap_or_default();
    let asked = before.iter().rev().take_while(|weight| matches!(weight.role, Role::User | Role::System));
    let start = user - asked.count();
    let users = messages.get(start..user).unwrap_or_default().iter().position(|weight| weight.role == Role::User);
    users.map_or(user, |at| start + at)
}

/// The whole turns before the current one: from what a person asked to the last message before the next question.
fn turns(messages: &[Weight], current: usize) -> Vec<Range<usize>> {
    let earlier = messages.get(..current).unwrap_or_default();
    let starts: Vec<usize> = earlier
        .iter()
        .enumerate()
        .filter(|(at, weight)| weight.role == Role::User && turn_start(messages, *at) == *at)
        .map(|(at, _)| at)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([current]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The steps of the current turn: an answer that calls tools, with all their results. The last answer stays.
fn steps(messages: &[Weight], current: usize, answer: Option<usize>) -> Vec<Range<usize>> {
    let is_result = |weight: &Weight| weight.role == Role::ToolResult;
    let rest = messages.iter().enumerate().skip(current);
    let calls = rest.filter(|(at, weight)| weight.role == Role::Assistant && Some(*at) != answer);
    let steps = calls.map(|(at, _)| {
        let results = messages.get(at + 1..).unwrap_or_default().iter().take_while(|weight| is_result(weight)).count();
        at..at + 1 + results
    });
    steps.filter(|step| step.len() > 1).collect()
}

/// Single messages that are no half of a pair.
fn singles(messages: &[Weight], current: Option<usize>, answer: Option<usize>) -> Vec<Range<usize>> {
    let has_results = |at: usize| messages.get(at + 1).is_some_and(|next| next.role == Role::ToolResult);
    let has_call = |at: usize| {
        let mut before = messages.get(..at).unwrap_or_default().iter().rev();
        let call = before.find(|weight| weight.role != Role::ToolResult);
        call.is_some_and(|weight| weight.role == Role::Assistant)
    };
    let may_go = |(at, weight): (usize, &Weight)| {
        let is_half = match weight.role {
            Role::Assistant => has_results(at),
            Role::ToolResult => has_call(at),
            _ => false,
        };
        (!is_half && weight.role != Role::System && Some(at) != current && Some(at) != answer).then_some(at..at + 1)
    };
    messages.iter().enumerate().filter_map(may_go).collect()
}
