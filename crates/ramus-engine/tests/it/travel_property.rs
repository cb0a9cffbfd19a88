//! Whatever agents and people do to files, in whatever order: going back and forward again changes nothing, and what a
//! person did last to a file is never lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proptest::prelude::*;
use ramus_engine::RestoreOptions;
use serde_json::Value;

use crate::travel_world::{World, changing, put};

const PATHS: [&str; 6] = ["a", "b", "d/a", "d/b", "d/e/c", "z"];

/// One change: a path, and the number that is written to it; none removes it.
type Change = (usize, Option<u8>);

#[derive(Clone, Debug)]
enum Act {
    /// A turn: calls, each followed by what a person does meanwhile.
    Turn(Vec<(Vec<Change>, Vec<Change>)>),
    /// A person changes files.
    Person(Vec<Change>),
    /// Back to one of the answers.
    Revert(usize),
    /// Back to one of the snapshots, files only.
    Restore(usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0..PATHS.len(), prop::option::weighted(0.75, any::<u8>())), 0..3)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => prop::collection::vec((changes(), changes()), 1..3).prop_map(Act::Turn),
        3 => changes().prop_map(Act::Person),
        2 => any::<prop::sample::Index>().prop_map(|at| Act::Revert(at.index(64))),
        1 => any::<prop::sample::Index>().prop_map(|at| Act::Restore(at.index(64))),
    ]
}

/// The paths whose last change a person made, with what they made of them.
type Theirs = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn person(world: &World, changes: &[Change], theirs: &mut Theirs) {
    for (path, text) in changes {
        world.put(PATHS[*path], text.map(|text| format!("person {text}\n")).as_deref());
        theirs.insert(PATHS[*path].into(), text.map(|text| format!("person {text}\n").into_bytes()));
    }
}

fn run_turn(world: &mut World, number: usize, calls: &[(Vec<Change>, Vec<Change>)], theirs: &mut Theirs) {
    let spelled: Vec<Value> = calls
        .iter()
        .map(|(agent, _)| {
            let texts: Vec<(usize, Option<String>)> =
                agent.iter().map(|(path, text)| (*path, text.map(|text| format!("agent {number} {text}\n")))).collect();
            changing(&texts.iter().map(|(path, text)| (PATHS[*path], text.as_deref())).collect::<Vec<_>>())
        })
        .collect();
    let made = std::cell::RefCell::new(std::mem::take(theirs));
    world.turn_with(&format!("turn {number}"), &spelled, |call, root| {
        let (agent, person) = &calls[call - 1];
        let mut made = made.borrow_mut();
        agent.iter().for_each(|(path, _)| drop(made.remove(&PathBuf::from(PATHS[*path]))));
        for (path, text) in person {
            let text = text.map(|text| format!("person {text}\n"));
            put(root, PATHS[*path], text.as_deref());
            made.insert(PATHS[*path].into(), text.map(String::into_bytes));
        }
    });
    *theirs = made.into_inner();
}

/// What a person made last is there, unless they removed it.
fn assert_kept(world: &World, theirs: &Theirs, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, text) in theirs.iter().filter(|(_, text)| text.is_some()) {
        assert_eq!(files.get(path), text.as_ref(), "{} was lost: {:?}", path.display(), world.texts());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn back_and_forward_is_the_identity_and_nothing_of_a_persons_is_lost(acts in prop::collection::vec(act(), 1..9)) {
        let mut world = World::new();
        let mut theirs = Theirs::new();
        let options = RestoreOptions::default();
        // Where the first of several reverts began, as long as nothing came in between.
        let mut began = None;
        for (number, act) in acts.iter().enumerate() {
            match act {
                Act::Turn(calls) => run_turn(&mut world, number, calls, &mut theirs),
                Act::Person(changes) => person(&world, changes, &mut theirs),
                Act::Revert(at) => {
                    let answers = world.answers();
                    let Some(target) = answers.get(at % answers.len().max(1)).copied() else { continue };
                    let (files, leaf) = (world.files(), world.leaf());
                    let is_first = world.session.revert_mark().unwrap().is_none();
                    let report = world.revert(target);
                    let there = world.files();
                    assert_kept(&world, &theirs, &there);
                    let start = if is_first { Some((files, leaf)) } else { began.take() };
                    if let Some((files, leaf)) = start.filter(|_| report.is_done) {
                        let went = world.leaf();
                        world.unrevert();
                        prop_assert_eq!(&world.files(), &files);
                        prop_assert_eq!(&world.leaf(), &leaf);
                        // And there again, half of the time to stay.
                        if number % 2 == 1 {
                            world.revert(target);
                            prop_assert_eq!(world.files(), there);
                            prop_assert_eq!(world.leaf(), went);
                            began = Some((files, leaf));
                        }
                    }
                    continue;
                }
                Act::Restore(at) => {
                    let snapshots = world.snapshots();
                    let Some(target) = snapshots.get(at % snapshots.len().max(1)) else { continue };
                    let report = world.engine.restore(&mut world.session, target, &options).unwrap();
                    assert_kept(&world, &theirs, &world.files());
                    let done: BTreeSet<_> = report.restored.done.iter().cloned().collect();
                    theirs.retain(|path, _| !done.contains(path));
                }
            }
            began = None;
        }
    }
}
