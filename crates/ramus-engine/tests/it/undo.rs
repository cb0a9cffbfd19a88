//! Undo and redo: whatever was done, in whatever order, going back and forward again changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use ramus_engine::{Clock, Compact, Cursor, Engine, ErrorKind, RestoreOptions, Say, Session, TagChange, TodoChange};
use ramus_model::budget::Keep;
use ramus_model::operation::Way;
use ramus_model::todo::{Status, Task};
use ramus_model::{Body, Draft, Scope, Seq};
use serde_json::{Map, json};

use crate::homes::{Home, clean, homes, jsonl, path, saying};
use crate::travel_world::World;

const FILES: RestoreOptions = RestoreOptions { dry_run: false, force: false, only: Vec::new() };

fn undo(engine: &Engine, session: &mut Session) -> String {
    engine.undo(session, &FILES).unwrap().operation.name
}

fn redo(engine: &Engine, session: &mut Session) -> String {
    engine.redo(session, &FILES).unwrap().operation.name
}

/// A clock that never tells the same time twice.
#[derive(Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> i64 {
        1_800_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Everything that anybody sees of a session.
#[derive(Debug, PartialEq)]
struct Seen {
    leaf: Option<String>,
    tree: Vec<(String, Option<String>, Vec<u8>)>,
    title: String,
    labels: BTreeMap<String, String>,
    meta: Map<String, serde_json::Value>,
    tags: Vec<String>,
    archived: bool,
    todos: Vec<Task>,
    context: String,
}

fn seen(session: &Session) -> Seen {
    let log = session.log();
    let id = |seq: Seq| session.entry_id(seq).to_string();
    let body = |seq: Seq| {
        let line = session.line(seq).unwrap();
        let mut value: Map<String, serde_json::Value> = serde_json::from_slice(&line).unwrap();
        // How an entry came to be is not what it says.
        ["parentId", "ramusOp", "ramusSupersedes"].iter().for_each(|name| drop(value.remove(*name)));
        if let Some(data) = value.get_mut("data").and_then(serde_json::Value::as_object_mut) {
            ["op", "client", "opId", "opOf", "takesBack"].iter().for_each(|name| drop(data.remove(*name)));
        }
        serde_json::to_vec(&value).unwrap()
    };
    let tree = session.tree(Scope::Visible).entries;
    let label = |seq: Seq| Some((id(seq), log.facts().label(log.id(seq))?.to_owned()));
    let context = session.context(log.leaf()).unwrap();
    Seen {
        leaf: session.leaf().map(|leaf| leaf.to_string()),
        tree: tree.iter().map(|node| (id(node.seq), node.parent.map(id), body(node.seq))).collect(),
        title: session.title(),
        labels: log.seqs().filter_map(label).collect(),
        meta: log.facts().meta().clone(),
        tags: session.tags(),
        archived: session.archived_at().is_some(),
        todos: session.todos(log.leaf()).unwrap(),
        context: format!("{:?} {:?}", context.items, context.state),
    }
}

/// One thing to do; numbers choose among what is there.
#[derive(Clone, Debug)]
enum Act {
    Say(u8),
    Append(u8),
    Sibling(usize),
    Branch(usize),
    BranchSummary(usize),
    ResetLeaf,
    Label(usize, Option<u8>),
    Rename(u8),
    Tag(u8),
    Star(bool),
    Archive(bool),
    Meta(u8, Option<u8>),
    Model(u8),
    Clear,
    Evict,
    Compact,
    Replace(usize, usize),
    Todo(u8),
    Done,
}

fn act() -> impl Strategy<Value = Act> {
    let at = || any::<prop::sample::Index>().prop_map(|at| at.index(1 << 16));
    prop_oneof![
        6 => any::<u8>().prop_map(Act::Say),
        2 => any::<u8>().prop_map(Act::Append),
        1 => at().prop_map(Act::Sibling),
        2 => at().prop_map(Act::Branch),
        1 => at().prop_map(Act::BranchSummary),
        1 => Just(Act::ResetLeaf),
        2 => (at(), prop::option::of(any::<u8>())).prop_map(|(at, name)| Act::Label(at, name)),
        1 => any::<u8>().prop_map(Act::Rename),
        1 => (0..4_u8).prop_map(Act::Tag),
        1 => any::<bool>().prop_map(Act::Star),
        1 => any::<bool>().prop_map(Act::Archive),
        1 => (0..3_u8, prop::option::of(any::<u8>())).prop_map(|(key, value)| Act::Meta(key, value)),
        1 => any::<u8>().prop_map(Act::Model),
        1 => Just(Act::Clear),
        1 => Just(Act::Evict),
        1 => Just(Act::Compact),
        2 => (at(), at()).prop_map(|(first, last)| Act::Replace(first, last)),
        2 => any::<u8>().prop_map(Act::Todo),
        1 => Just(Act::Done),
    ]
}

/// Does something. What makes no sense now is not done.
fn perform(engine: &Engine, session: &mut Session, act: &Act) {
    let tree: Vec<Seq> = session.tree(Scope::Visible).entries.iter().map(|node| node.seq).collect();
    let entry = |at: usize| tree.get(at % tree.len().max(1)).copied();
    match act {
        Act::Say(n) => drop(engine.say(session, Say::user(format!("say {n} {}", "word ".repeat(40)))).unwrap()),
        Act::Append(n) => {
            let message = json!({"role": "assistant", "content": [{"type": "text", "text": format!("answer {n}")}]});
            let draft = Draft::new(Body::new("message", [("message", message)]));
            drop(engine.append(session, &[draft.clone(), draft], &Cursor::Leaf).unwrap());
        }
        Act::Sibling(at) => {
            let Some(entry) = entry(*at) else { return };
            let message = json!({"role": "user", "content": "beside"});
            let draft = Draft::new(Body::new("message", [("message", message)]));
            let at = Cursor::At(session.entry_id(entry));
            drop(engine.append(session, &[draft], &at).unwrap());
        }
        Act::Branch(at) => drop(entry(*at).map(|entry| engine.branch(session, entry).unwrap())),
        Act::BranchSummary(at) => drop(engine.branch_with_summary(session, entry(*at), "left").unwrap()),
        Act::ResetLeaf => engine.reset_leaf(session).unwrap(),
        Act::Label(at, name) => {
            let Some(entry) = entry(*at) else { return };
            let name = name.map(|name| format!("label {name}"));
            drop(engine.label(session, entry, name.as_deref()).unwrap());
        }
        Act::Rename(n) => drop(engine.rename(session, &format!("title {n}")).unwrap()),
        Act::Tag(n) => drop(engine.change_tags(session, &TagChange::Add(vec![format!("tag {n}")])).unwrap()),
        Act::Star(starred) => engine.set_starred(session, *starred).unwrap(),
        Act::Archive(true) => engine.archive(session).unwrap(),
        Act::Archive(false) => engine.unarchive(session).unwrap(),
        Act::Meta(key, value) => {
            engine.set_metadata(session, Map::from_iter([(format!("key {key}"), json!(value))])).unwrap();
        }
        Act::Model(n) => drop(engine.switch_model(session, &format!("p/m{n}")).unwrap()),
        Act::Clear => drop(engine.clear(session, false).unwrap()),
        Act::Evict => drop(engine.evict(session, 30, false)),
        Act::Compact => {
            let how = Compact { keep: Keep::Messages(1), force: true };
            let prepared = engine.prepare_compaction(session, how).unwrap();
            drop(prepared.map(|prepared| engine.compact(session, &prepared, "in short")));
        }
        Act::Replace(first, last) => {
            let (Some(first), Some(last)) = (entry(*first), entry(*last)) else { return };
            drop(engine.replace_segment(session, first.min(last), last.max(first), "replaced"));
        }
        Act::Todo(n) => {
            let task = Task { text: format!("task {n}"), ..Task::default() };
            drop(engine.change_todos(session, &TodoChange::Add(task)).unwrap());
        }
        Act::Done => {
            let todos = session.todos(session.log().leaf()).unwrap();
            let Some(first) = todos.first() else { return };
            let change = TodoChange::Mark(vec![first.id.clone()], Status::Completed);
            drop(engine.change_todos(session, &change).unwrap());
        }
    }
}

/// Goes back as far as it goes, and forward again as far.
fn back_and_forward(home: &Home, session: &mut Session, most: usize, states: &[Seen]) {
    let now = seen(session);
    let mut back = 0;
    while back < most && home.engine.undo(session, &FILES).is_ok() {
        back += 1;
        let session = home.reopened(session);
        let then = &states[states.len() - 1 - back];
        let is = seen(&session);
        // Nothing is erased, so what was said later is still in the tree.
        assert_eq!(
            (&is.leaf, &is.title, &is.labels, &is.meta, &is.todos, &is.context),
            (&then.leaf, &then.title, &then.labels, &then.meta, &then.todos, &then.context),
            "{back} steps back"
        );
    }
    for _ in 0..back {
        home.engine.redo(session, &FILES).unwrap();
    }
    assert_eq!(home.engine.redo(session, &FILES).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(seen(session), now);
    assert_eq!(seen(&home.reopened(session)), now);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn back_and_forward_is_the_identity_on_everything_that_is_seen(
        acts in prop::collection::vec(act(), 1..24), cut in 0..24_usize,
    ) {
        for mut home in homes() {
            // What is given within one tick of the clock without a mark counts as given together.
            home.engine = home.engine.with_clock(Arc::new(Ticking::default()));
            let mut session = home.session();
            let mut states = vec![seen(&session)];
            for (at, act) in acts.iter().enumerate() {
                let before = session.log().len();
                perform(&home.engine, &mut session, act);
                if session.log().len() > before {
                    states.push(seen(&session));
                }
                if at == cut {
                    back_and_forward(&home, &mut session, usize::MAX, &states);
                }
            }
            let operations = session.operations(None, None).unwrap().operations;
            prop_assert_eq!(operations.iter().map(|done| done.entries.len()).sum::<usize>(), session.log().len());
            back_and_forward(&home, &mut session, 3, &states);
            clean(&home.bytes(&session));
        }
    }
}

#[test]
fn undo_goes_back_step_by_step_and_redo_forward() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        let one = saying(&session, "1");
        home.engine.label(&mut session, one, Some("start")).unwrap();
        home.engine.rename(&mut session, "Other").unwrap();
        assert_eq!(undo(&home.engine, &mut session), "rename");
        assert!(session.title().starts_with("New session"));
        assert_eq!(undo(&home.engine, &mut session), "label");
        assert_eq!(session.log().facts().label(session.log().id(one)), None);
        assert_eq!(undo(&home.engine, &mut session), "say");
        assert_eq!(path(&session), ["1"]);
        assert_eq!(redo(&home.engine, &mut session), "undo");
        assert_eq!(path(&session), ["1", "2"]);
        assert_eq!(undo(&home.engine, &mut session), "say");
        // Something else was done: what was undone stays undone.
        home.engine.say(&mut session, Say::user("other")).unwrap();
        assert_eq!(home.engine.redo(&mut session, &FILES).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(undo(&home.engine, &mut session), "say");
        assert_eq!(undo(&home.engine, &mut session), "say");
        assert_eq!(path(&session), Vec::<String>::new());
        assert_eq!(home.engine.undo(&mut session, &FILES).unwrap_err().kind(), ErrorKind::Conflict);
    }
}

#[test]
fn one_operation_is_taken_back_and_done_again_as_long_as_it_is_the_next_one() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let said = home.engine.say(&mut session, Say::user("2")).unwrap();
        let entry = said.id.to_string();
        home.engine.archive(&mut session).unwrap();
        let this =
            |session: &mut Session, way: Way, name: &str| home.engine.take_back_this(session, (way, name), &FILES);
        assert_eq!(this(&mut session, Way::Undo, &entry).unwrap_err().kind(), ErrorKind::Conflict);
        assert!(session.archived_at().is_some(), "nothing was undone");
        undo(&home.engine, &mut session);
        let taken = this(&mut session, Way::Undo, &entry).unwrap();
        assert_eq!(path(&session), ["1"]);
        // By its own id, and by that of what it took back.
        assert_eq!(this(&mut session, Way::Redo, "other").unwrap_err().kind(), ErrorKind::Conflict);
        this(&mut session, Way::Redo, &taken.operation.id).unwrap();
        assert_eq!(path(&session), ["1", "2"], "{}", home.name);
        this(&mut session, Way::Undo, &taken.operation.id).unwrap();
        assert_eq!(path(&session), ["1"]);
    }
}

#[test]
fn what_other_programs_append_is_undone_too() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    let line = br#"{"type":"message","id":"ffff0001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"foreign"}}"#;
    let mut file = std::fs::OpenOptions::new().append(true).open(session.location().path.as_ref().unwrap()).unwrap();
    std::io::Write::write_all(&mut file, &[line.as_slice(), b"\n"].concat()).unwrap();
    let taken = home.engine.undo(&mut session, &FILES).unwrap();
    assert_eq!((taken.operation.name.as_str(), taken.operation.client), ("append", None));
    assert_eq!(path(&session), ["1"]);
}

#[test]
fn the_log_says_what_was_done_by_whom_page_by_page() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        home.engine.archive(&mut session).unwrap();
        undo(&home.engine, &mut session);
        let all = session.operations(None, None).unwrap();
        let told: Vec<_> = all.operations.iter().map(|done| (done.operation.name.as_str(), done.is_undone)).collect();
        assert_eq!(told, [("undo", false), ("archive", true), ("say", false), ("say", false)]);
        assert!(all.operations.iter().all(|done| done.operation.client.as_deref() == Some("test")));
        let first = session.operations(Some(3), None).unwrap();
        assert_eq!(first.operations, all.operations[..3]);
        let rest = session.operations(Some(3), first.next_cursor.as_deref()).unwrap();
        assert_eq!((rest.operations.as_slice(), rest.next_cursor), (&all.operations[3..], None));
        assert_eq!(session.operations(None, Some("nope")).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn what_made_a_session_is_not_undone() {
    for home in homes() {
        let origin = home.saying(&["1"]);
        let mut fork = home.fork(&origin, saying(&origin, "1"));
        let error = home.engine.undo(&mut fork, &FILES).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.hint().unwrap().contains("delete"), "{error}");
        home.engine.say(&mut fork, Say::user("mine")).unwrap();
        undo(&home.engine, &mut fork);
        assert_eq!(path(&fork), ["1"], "{}", home.name);
    }
}

#[test]
fn a_turn_is_one_step_and_its_files_go_with_it() {
    let mut world = World::new();
    world.put("a", Some("before\n"));
    world.put("mine", Some("mine\n"));
    world.turn("one", &[&[("a", Some("one\n")), ("new", Some("new\n"))]]);
    let (files, leaf) = (world.files(), world.leaf());
    world.turn("two", &[&[("a", Some("two\n"))], &[("new", None)]]);
    let after = (world.files(), world.leaf());
    let World { engine, session, .. } = &mut world;
    let planned = engine.undo(session, &RestoreOptions { dry_run: true, ..FILES }).unwrap();
    assert_eq!((planned.is_done, planned.operation.name.as_str()), (false, "run"));
    assert_eq!(undo(engine, session), "run");
    assert_eq!((world.files(), world.leaf()), (files, leaf));
    let World { engine, session, .. } = &mut world;
    assert_eq!(undo(engine, session), "run");
    assert_eq!((world.read("a").as_deref(), world.read("new"), world.leaf()), (Some("before\n"), None, None));
    let World { engine, session, .. } = &mut world;
    redo(engine, session);
    redo(engine, session);
    assert_eq!((world.files(), world.leaf()), after);
    assert_eq!(world.read("mine").as_deref(), Some("mine\n"));
}

#[test]
fn a_restore_and_a_revert_are_undone_with_their_files() {
    let mut world = World::new();
    world.turn("one", &[&[("a", Some("one\n"))]]);
    world.turn("two", &[&[("a", Some("two\n"))]]);
    let answers = world.answers();
    let (files, leaf) = (world.files(), world.leaf());
    world.revert(answers[0]);
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
    let World { engine, session, .. } = &mut world;
    assert_eq!(undo(engine, session), "revert");
    assert_eq!((world.files(), world.leaf()), (files.clone(), leaf.clone()));
    let first = world.snapshots().last().unwrap().id();
    world.restore(&first, &FILES);
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
    let World { engine, session, .. } = &mut world;
    assert_eq!(undo(engine, session), "restore");
    assert_eq!((world.files(), world.leaf()), (files, leaf));
}
