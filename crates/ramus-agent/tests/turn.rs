//! Turns in a world that is made up: whatever happens in whatever order, the promises hold and every turn ends.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use proptest::prelude::*;
use ramus_agent::{Busy, Effect, End, Event, Failure, Input, Limits, Outcome, Prepared, Store, Ticket, Turn, Verdict};
use ramus_model::Seq;
use ramus_model::delta::{Delta, Ending, Finish};
use ramus_model::message::Usage;

/// What the model does when it is asked.
#[derive(Clone, Debug)]
enum Reply {
    Says(&'static str),
    Calls(Vec<(&'static str, &'static str, Judgement)>),
    CutOff(&'static str),
    Fails(Failure, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Harmless,
    Allowed,
    Denied,
}

/// Everything around a turn. What is under way is reported in any order.
struct World {
    turn: Turn,
    replies: VecDeque<Reply>,
    pending: Vec<Input>,
    /// Calls by their id: how they are judged.
    judgements: HashMap<(usize, usize), Judgement>,
    answer: usize,
    /// What is being stored.
    open: HashMap<Ticket, Store>,
    stored: Vec<Store>,
    started: HashSet<String>,
    /// Calls of which it is stored that they start.
    begun: HashSet<String>,
    run: Vec<String>,
    asked: usize,
    events: Vec<Event>,
    /// What was noted of the answer that is coming in.
    noted: String,
    numbers: u32,
    end: Option<End>,
    can_compact: bool,
    is_full: bool,
}

impl World {
    fn new(replies: Vec<Reply>, limits: Limits) -> Self {
        let (turn, effects) = Turn::start("t", Some("do it".into()), limits);
        let mut world = Self {
            turn,
            replies: replies.into(),
            pending: Vec::new(),
            judgements: HashMap::new(),
            answer: 0,
            open: HashMap::new(),
            stored: Vec::new(),
            started: HashSet::new(),
            begun: HashSet::new(),
            run: Vec::new(),
            asked: 0,
            events: Vec::new(),
            noted: String::new(),
            numbers: 0,
            end: None,
            can_compact: true,
            is_full: false,
        };
        world.perform(effects);
        world
    }

    fn step(&mut self, input: Input) {
        if let Input::Stored { ticket, .. } = &input
            && let Some(Store::Started(call)) = self.open.remove(ticket)
        {
            self.begun.insert(call.id);
        }
        let effects = self.turn.step(input);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            assert_eq!(self.end, None, "something is done after the end: {effect:?}");
            match effect {
                Effect::Store(ticket, what) => {
                    if let Store::Started(call) = &what {
                        assert!(self.started.insert(call.id.clone()), "{} starts twice", call.id);
                    }
                    if let Store::Answer(answer, _) = &what {
                        assert_eq!(std::mem::take(&mut self.noted), answer.text(), "what is noted is what is stored");
                    }
                    self.stored.push(what.clone());
                    self.open.insert(ticket, what);
                    self.numbers += 1;
                    self.pending.push(Input::Stored { ticket, seq: Seq::new(self.numbers) });
                }
                Effect::Prepare { .. } => {
                    let needs_room = self.is_full && self.can_compact;
                    self.pending.push(Input::Prepared(Ok(Prepared { needs_room })));
                }
                Effect::Ask { said } => {
                    assert!(self.open.is_empty(), "the model is asked before everything is stored: {:?}", self.open);
                    self.ask(&said);
                }
                Effect::StopAsking => {
                    self.pending.retain(|input| !matches!(input, Input::Delta(_) | Input::Answered(_)));
                }
                Effect::Compact => {
                    self.is_full = false;
                    self.pending.push(Input::Compacted(if self.can_compact {
                        Ok(())
                    } else {
                        Err("nothing to do".into())
                    }));
                }
                Effect::Judge(at, call) => {
                    assert!(matches!(self.answers().last(), Some(Ending::Whole)));
                    let is_answer = |store: &Store| matches!(store, Store::Answer(..));
                    assert!(!self.open.values().any(is_answer), "{} is judged before its answer is stored", call.id);
                    let verdict = match self.judgements[&(self.answer, at)] {
                        Judgement::Harmless => Verdict::Harmless,
                        Judgement::Allowed => Verdict::Allowed,
                        Judgement::Denied => Verdict::Denied("no".into()),
                    };
                    self.pending.push(Input::Judged { call: at, verdict });
                }
                Effect::Run(at, call) => {
                    let judgement = self.judgements[&(self.answer, at)];
                    assert!(judgement != Judgement::Denied);
                    let is_begun = self.begun.contains(&call.id);
                    assert!(judgement == Judgement::Harmless || is_begun, "{} runs before that is stored", call.id);
                    assert!(!self.run.contains(&call.id), "{} runs twice", call.id);
                    self.run.push(call.id);
                    self.pending.push(Input::Done { call: at, outcome: Outcome::default() });
                }
                Effect::StopCall(_) => {}
                Effect::Wait(timer, delay) => {
                    assert!(delay <= Duration::from_secs(120));
                    self.pending.push(Input::Elapsed(timer));
                }
                Effect::Journal(Delta::Text(text)) => self.noted.push_str(&text),
                Effect::Journal(_) => {}
                Effect::Tell(event) => {
                    if let Event::MessageDelta(text) = &event {
                        assert!(self.noted.ends_with(&**text), "{:?} is shown before it is noted", text.text);
                    }
                    self.events.push(event);
                }
                Effect::End(end) => self.end = Some(end),
            }
        }
    }

    fn answers(&self) -> Vec<Ending> {
        let ending = |store: &Store| if let Store::Answer(_, ending) = store { Some(ending.clone()) } else { None };
        self.stored.iter().filter_map(ending).collect()
    }

    fn ask(&mut self, said: &str) {
        self.asked += 1;
        let reply = self.replies.pop_front().unwrap_or(Reply::Says("done"));
        self.answer += 1;
        let mut deltas = Vec::new();
        let mut result = Ok(());
        match reply {
            Reply::Says(text) => deltas.extend([Delta::Text(text.into()), Delta::Finished(Finish::Stop)]),
            Reply::Calls(calls) => {
                for (at, (name, arguments, judgement)) in calls.into_iter().enumerate() {
                    self.judgements.insert((self.answer, at), judgement);
                    let id = format!("c{}-{at}", self.answer);
                    deltas.push(Delta::Call { index: at, id, name: name.into() });
                    deltas.push(Delta::Arguments { index: at, text: arguments.into() });
                }
                deltas.push(Delta::Finished(Finish::Calls));
            }
            Reply::CutOff(text) => {
                let _ = said;
                deltas.push(Delta::Text(text.into()));
                deltas.push(Delta::Usage(Usage { output: 10, ..Usage::default() }));
                deltas.push(Delta::Finished(Finish::Length));
            }
            Reply::Fails(failure, after_text) => {
                if after_text {
                    deltas.push(Delta::Text("half".into()));
                }
                result = Err(failure);
            }
        }
        self.pending.extend(deltas.into_iter().map(Input::Delta));
        self.pending.push(Input::Answered(result));
    }

    /// Reports something that is under way. Pieces of an answer come in their order.
    fn happen(&mut self, choice: usize) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let first_piece = self.pending.iter().position(|input| matches!(input, Input::Delta(_) | Input::Answered(_)));
        let mut at = choice % self.pending.len();
        if matches!(self.pending[at], Input::Delta(_) | Input::Answered(_)) {
            at = first_piece.unwrap();
        }
        let input = self.pending.remove(at);
        self.step(input);
        true
    }

    fn finish(&mut self) -> End {
        for _ in 0..10_000 {
            if self.end.is_some() {
                break;
            }
            assert!(self.happen(0), "the turn waits for nothing: {:?}", self.turn.busy());
        }
        assert_eq!(self.turn.busy(), Busy::Nothing);
        self.end.clone().unwrap()
    }

    /// Every call of a stored answer has exactly one result.
    fn check_pairs(&self) {
        let mut open: Vec<String> = Vec::new();
        for store in &self.stored {
            match store {
                Store::Answer(answer, Ending::Whole) => {
                    assert!(open.is_empty(), "calls without a result: {open:?}");
                    open.extend(answer.calls().into_iter().map(|call| call.id));
                }
                Store::Result(call, _) => {
                    let at = open
                        .iter()
                        .position(|id| *id == call.id)
                        .unwrap_or_else(|| panic!("{} has a result without a call", call.id));
                    open.remove(at);
                }
                Store::Answer(..) | Store::Prompt(_) | Store::Started(_) => {}
            }
        }
        assert!(open.is_empty(), "calls without a result: {open:?}");
    }
}

fn call(name: &'static str, judgement: Judgement) -> (&'static str, &'static str, Judgement) {
    (name, "{}", judgement)
}

#[test]
fn an_answer_with_calls_is_followed_by_their_results_and_another_answer() {
    let calls =
        vec![call("read", Judgement::Harmless), call("bash", Judgement::Allowed), call("rm", Judgement::Denied)];
    let mut world = World::new(vec![Reply::Calls(calls)], Limits::default());
    assert_eq!(world.finish(), End::Finished("stop".into()));
    world.check_pairs();
    assert_eq!((world.asked, world.run.len(), world.started.len()), (2, 2, 1));
}

#[test]
fn an_answer_that_is_cut_off_goes_on_ten_times_at_most_and_is_one_message() {
    let mut world = World::new(vec![Reply::CutOff("ab"); 12], Limits::default());
    assert_eq!(world.finish(), End::Finished("length".into()));
    assert_eq!(world.asked, 11);
    let Some(Store::Answer(answer, Ending::Whole)) = world.stored.last() else { panic!("no answer") };
    assert_eq!((answer.text(), answer.usage().output), ("ab".repeat(11), 110));
    let empty = World::new(vec![Reply::CutOff("ab"), Reply::CutOff("")], Limits::default()).finish();
    assert_eq!(empty, End::Finished("length".into()));
}

#[test]
fn what_was_said_until_someone_stopped_it_is_kept() {
    let mut world =
        World::new(vec![Reply::CutOff("one "), Reply::CutOff("two "), Reply::CutOff("three")], Limits::default());
    while world.asked < 3 || world.pending.len() > 2 {
        world.happen(0);
    }
    world.step(Input::Cancel);
    assert_eq!(world.finish(), End::Cancelled);
    let Some(Store::Answer(answer, Ending::Cancelled)) = world.stored.last() else { panic!("no answer") };
    assert_eq!(answer.text(), "one two three");
}

#[test]
fn what_fails_is_tried_again_and_not_for_ever() {
    let later = || Reply::Fails(Failure::Later(Some(Duration::from_millis(5)), "busy".into()), false);
    let mut world = World::new(vec![later(), later()], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Finished("stop".into()), 3));
    let mut world = World::new(vec![later(), later(), later(), later(), later()], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Failed("busy".into()), 4));
    // A provider that asks for more patience than anyone has is not waited for.
    let long = Reply::Fails(Failure::Later(Some(Duration::from_secs(121)), "come back tomorrow".into()), false);
    let mut world = World::new(vec![long], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Failed("come back tomorrow".into()), 1));
    // Not when something was shown already.
    let mut world = World::new(vec![Reply::Fails(Failure::Later(None, "reset".into()), true)], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Failed("reset".into()), 1));
    let Some(Store::Answer(answer, Ending::Failed(reason))) = world.stored.last() else { panic!("no answer") };
    assert_eq!((answer.text().as_str(), reason.as_str()), ("half", "reset"));
    // A history that is not accepted is simplified, three times at most.
    let history = || Reply::Fails(Failure::History("bad".into()), false);
    let mut world = World::new(vec![history(); 9], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Failed("bad".into()), 4));
}

#[test]
fn a_full_window_is_made_room_in_once() {
    let overflow = || Reply::Fails(Failure::Overflow("needs 9, has 5".into()), false);
    let mut world = World::new(vec![overflow()], Limits::default());
    assert_eq!((world.finish(), world.asked), (End::Finished("stop".into()), 2));
    let mut world = World::new(vec![overflow(), overflow()], Limits::default());
    assert_eq!(world.finish(), End::Failed("needs 9, has 5".into()));
    let mut world = World::new(Vec::new(), Limits::default());
    world.is_full = true;
    assert_eq!(world.finish(), End::Finished("stop".into()));
    assert_eq!(world.events.iter().filter(|event| **event == Event::CompactionStart).count(), 1);
}

#[test]
fn the_same_call_again_and_again_ends() {
    let same = || Reply::Calls(vec![call("bash", Judgement::Allowed)]);
    let mut world = World::new((0..30).map(|_| same()).collect(), Limits::default());
    assert!(matches!(world.finish(), End::Failed(reason) if reason.contains("same call")));
    assert_eq!(world.run.len(), 3);
    world.check_pairs();
    let other = |at: usize| Reply::Calls(vec![(["a", "b"][at % 2], "{}", Judgement::Harmless)]);
    let limits = Limits { steps: 5, ..Limits::default() };
    let mut world = World::new((0..30).map(other).collect(), limits);
    assert!(matches!(world.finish(), End::Failed(reason) if reason.contains("5 steps")));
    world.check_pairs();
}

#[test]
fn what_is_said_meanwhile_counts_before_the_next_request_or_at_the_end() {
    let mut world = World::new(vec![Reply::Calls(vec![call("bash", Judgement::Allowed)])], Limits::default());
    world.step(Input::FollowUp("later".into()));
    world.step(Input::Steer("now".into()));
    assert_eq!(world.finish(), End::Finished("stop".into()));
    let said: Vec<_> = world
        .stored
        .iter()
        .filter_map(|store| if let Store::Prompt(text) = store { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(said, ["do it", "now", "later"]);
}

fn reply() -> impl Strategy<Value = Reply> {
    let judgement = prop::sample::select(vec![Judgement::Harmless, Judgement::Allowed, Judgement::Denied]);
    let one = (
        prop::sample::select(vec!["read", "bash", "edit"]),
        prop::sample::select(vec!["{}", "{\"a\":1}", "{bad"]),
        judgement,
    );
    let failure = prop_oneof![
        Just(Failure::Later(None, "later".into())),
        Just(Failure::Overflow("overflow".into())),
        Just(Failure::History("history".into())),
        Just(Failure::Final("final".into())),
    ];
    prop_oneof![
        2 => prop::sample::select(vec!["", "yes"]).prop_map(Reply::Says),
        6 => prop::collection::vec(one, 1..4).prop_map(Reply::Calls),
        1 => prop::sample::select(vec!["", "more"]).prop_map(Reply::CutOff),
        1 => (failure, any::<bool>()).prop_map(|(failure, after_text)| Reply::Fails(failure, after_text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_turn_ends_and_keeps_its_promises(
        replies in prop::collection::vec(reply(), 0..12),
        choices in prop::collection::vec(0..100_usize, 0..200),
        cancel_at in prop::option::of(0..200_usize),
        steer_at in prop::option::of(0..50_usize),
        can_compact in any::<bool>(),
    ) {
        let mut world = World::new(replies, Limits::default());
        world.can_compact = can_compact;
        for (step, choice) in choices.into_iter().enumerate() {
            if cancel_at == Some(step) && world.end.is_none() {
                world.step(Input::Cancel);
            }
            if steer_at == Some(step) {
                world.step(Input::Steer("by the way".into()));
            }
            world.happen(choice);
        }
        world.finish();
        world.check_pairs();
    }
}
