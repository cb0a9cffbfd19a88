//! Ways that part and come together: comparing, merging back; what is attached, what tools made, what is kept for how long.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use ramus_engine::{
    Attachment, Clock, Cursor, ErrorKind, Filter, MergeBack, RestoreOptions, Retention, Say, Session, TagChange,
};
use ramus_model::message::Part;
use ramus_model::{Body, Draft, EntryId, Kind};
use serde_json::{Value, json};

use crate::homes::{Home, clean, homes, jsonl, path, saying};
use crate::travel_world::World;

/// 1 - 2 - left, and 1 - 2 - right - same.
fn parted(home: &Home) -> (Session, EntryId, EntryId) {
    let mut session = home.saying(&["1", "2", "left", "same"]);
    let left = session.leaf().unwrap();
    let two = saying(&session, "2");
    home.engine.branch(&mut session, two).unwrap();
    home.engine.say(&mut session, Say::user("right")).unwrap();
    home.engine.say(&mut session, Say::user("same")).unwrap();
    let right = session.leaf().unwrap();
    (session, left, right)
}

#[test]
fn compare_finds_where_two_branches_part_and_what_both_say() {
    for home in homes() {
        let (mut session, left, right) = parted(&home);
        let other = home.reopened(&session);
        let (one, two) = (session.resolve(left.as_str()).unwrap(), other.resolve(right.as_str()).unwrap());
        let compared = home.engine.compare((&mut session, Some(one)), (&other, Some(two))).unwrap();
        assert_eq!(compared.ancestor, Some(session.entry_id(saying(&session, "2"))));
        assert_eq!((compared.shared, compared.left.messages, compared.right.messages, compared.files), (2, 2, 2, None));
        let said = |view: &Option<ramus_engine::View>| view.as_ref().map(|view| view.message.text());
        let pairs: Vec<_> =
            compared.pairs.iter().map(|pair| (said(&pair.left), said(&pair.right), pair.is_same)).collect();
        let text = |text: &str| Some(text.to_owned());
        let expected = [(text("left"), text("right"), false), (text("same"), text("same"), true)];
        assert_eq!(pairs, expected, "{}", home.name);
    }
}

/// A call of a tool, and an answer.
fn calling(home: &Home, session: &mut Session, command: &str, end: &str) -> Option<ramus_model::Seq> {
    let call = json!({"role": "assistant", "provider": "demo", "model": "small", "stopReason": "toolUse",
        "usage": {"input": 10, "output": 5},
        "content": [{"type": "toolCall", "id": command, "name": "bash", "arguments": {"command": command}}]});
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": end}]});
    for message in [call, answer] {
        let draft = Draft::new(Body::new("message", [("message", message)]));
        home.engine.append(session, &[draft], &Cursor::Leaf).unwrap();
    }
    session.log().leaf()
}

#[test]
fn calls_are_the_same_when_they_call_the_same_and_what_differs_stands_side_by_side() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let one = session.log().leaf();
        let left = calling(&home, &mut session, "rm a", "done");
        home.engine.branch(&mut session, one.unwrap()).unwrap();
        home.engine.say(&mut session, Say::user("first")).unwrap();
        let right = calling(&home, &mut session, "ls", "done");
        let other = home.reopened(&session);
        let compared = home.engine.compare((&mut session, left), (&other, right)).unwrap();
        let calls = |view: &Option<ramus_engine::View>| {
            view.as_ref().map(|view| view.message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. })))
        };
        let pairs: Vec<_> =
            compared.pairs.iter().map(|pair| (calls(&pair.left), calls(&pair.right), pair.is_same)).collect();
        let expected = [(None, Some(false), false), (Some(true), Some(true), false), (Some(false), Some(false), true)];
        assert_eq!(pairs, expected, "{}", home.name);
        assert_eq!((compared.left.prompt, compared.right.prompt.as_deref()), (None, Some("first")));
        assert_eq!(compared.left.totals.answers, 1, "what no answer says is priced");
        assert_eq!(compared.left.totals.unreported.len(), 1);
    }
}

#[test]
fn compare_works_across_forks_and_tells_how_files_differ() {
    let mut world = World::new();
    world.turn("one", &[&[("a", Some("one\n"))]]);
    let answer = *world.answers().last().unwrap();
    let forked = world.engine.fork(&world.session, answer, &Default::default()).unwrap();
    world.turn("two", &[&[("a", Some("two\n")), ("b", Some("new\n"))]]);
    let fork = world.engine.open_fork(&forked).unwrap();
    let leaf = (world.session.log().leaf(), fork.log().leaf());
    let compared = world.engine.compare((&mut world.session, leaf.0), (&fork, leaf.1)).unwrap();
    assert_eq!((compared.ancestor, compared.right.messages), (Some(world.session.entry_id(answer)), 0));
    let files = compared.files.unwrap();
    let told: Vec<_> = files.iter().map(|file| (file.path.display().to_string(), file.status.as_str())).collect();
    assert_eq!(told, [("a".to_owned(), "modified"), ("b".to_owned(), "deleted")]);
}

#[test]
fn merge_back_tells_a_summary_or_messages_and_can_be_undone() {
    for home in homes() {
        let (session, left, _) = parted(&home);
        let mut fork = home.fork(&session, saying(&session, "2"));
        let end = session.resolve(left.as_str()).unwrap();
        let before = (home.bytes(&session), home.bytes(&fork));
        let planned = home.engine.merge_back(&mut fork, (&session, Some(end)), &MergeBack::Plain, true).unwrap();
        assert!(planned.text.contains("- left") && !planned.text.contains("- 2"), "{}", planned.text);
        assert_eq!((home.bytes(&session), home.bytes(&fork)), before);
        let words = MergeBack::Summary("it was slower".into());
        home.engine.merge_back(&mut fork, (&session, Some(end)), &words, false).unwrap();
        let messages = MergeBack::Messages(vec![saying(&session, "left")]);
        let merged = home.engine.merge_back(&mut fork, (&session, Some(end)), &messages, false).unwrap();
        assert!(merged.text.contains("[user]\nleft"), "{}", merged.text);
        let fork = &mut home.reopened(&fork);
        let context = fork.context(fork.log().leaf()).unwrap();
        assert_eq!(context.items.len(), 4, "the model is told both");
        for _ in 0..2 {
            home.engine.undo(fork, &RestoreOptions::default()).unwrap();
        }
        assert_eq!(path(fork), ["1", "2"]);
        assert_eq!(home.bytes(&session), before.0, "{}: the other one stays as it is", home.name);
    }
}

#[test]
fn b29_attachments_are_in_the_prompt_within_limits() {
    for home in homes() {
        let mut session = home.session();
        let folder = tempfile::tempdir().unwrap();
        let (notes, picture) = (folder.path().join("notes.txt"), folder.path().join("data.bin"));
        fs::write(&notes, "remember this\n").unwrap();
        fs::write(&picture, [0_u8, 159, 146, 150]).unwrap();
        let files = vec![Attachment::read(&notes).unwrap(), Attachment::read(&picture).unwrap()];
        home.engine.say(&mut session, Say::user("look").with_attachments(files.clone())).unwrap();
        let text = session.last_user_message().unwrap().unwrap().message.text();
        assert!(text.contains("remember this") && text.contains("data.bin") && text.contains("sha256:"), "{text}");
        home.engine.gc(false).unwrap();
        let hash = ramus_model::BlobHash::of(&files[1].bytes);
        assert_eq!(home.store.blobs().unwrap().fetch(hash).unwrap().as_ref(), Some(&files[1].bytes), "{}", home.name);
        let before = home.bytes(&session);
        let twice = Say::user("x").with_attachments(vec![files[0].clone(), files[0].clone()]);
        let many = (0..101).map(|n| Attachment { name: n.to_string(), path: None, bytes: Vec::new() }).collect();
        let large = Attachment { name: "large".into(), path: None, bytes: vec![0; (100 << 20) + 1] };
        for say in [twice, Say::user("x").with_attachments(many), Say::user("x").with_attachments(vec![large])] {
            assert_eq!(home.engine.say(&mut session, say).unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert_eq!(home.bytes(&session), before);
        assert!(Attachment::read(folder.path()).is_err());
    }
}

fn artifact(name: &str, url: Option<&str>) -> Draft {
    let data = json!({"call": "c", "tool": "deploy", "artifact": {"name": name, "url": url}});
    Draft::new(Body::new("custom", [("customType", Value::from("ramus.artifact")), ("data", data)]))
}

#[test]
fn b10_b11_artefacts_are_children_listed_newest_first_each_address_once() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let drafts = [artifact("old", Some("/a")), artifact("other", Some("/b")), artifact("new", Some("/a"))];
        home.engine.append(&mut session, &drafts, &Cursor::Leaf).unwrap();
        home.engine.append(&mut session, &[artifact("nowhere", None)], &Cursor::Leaf).unwrap();
        let names = |session: &Session| -> Vec<Value> {
            let artifacts = session.artifacts(session.log().leaf()).unwrap();
            artifacts.iter().map(|one| one.artifact["name"].clone()).collect()
        };
        assert_eq!(names(&session), ["nowhere", "new", "other"]);
        let entry = session.artifacts(session.log().leaf()).unwrap()[1].seq;
        let record = *session.log().record(entry).unwrap();
        assert!(record.kind == Kind::Custom && record.parent().is_some(), "an entry below what led to it");
        let one = saying(&session, "1");
        home.engine.branch(&mut session, one).unwrap();
        assert_eq!(names(&session), Vec::<Value>::new(), "another branch made none");
        clean(&home.bytes(&session));
    }
}

struct Later(Duration);

impl Clock for Later {
    fn now(&self) -> i64 {
        ramus_engine::SystemClock.now() + i64::try_from(self.0.as_millis()).unwrap()
    }
}

#[test]
fn a28_retention_removes_what_the_rules_say_and_nothing_that_is_marked() {
    let home = jsonl();
    let day = Duration::from_secs(24 * 3600);
    let published = |text: &str| {
        let mut session = home.saying(&[text]);
        home.engine.say(&mut session, Say::assistant("answer")).unwrap();
        session
    };
    let draft = home.saying(&["draft"]);
    let (mut archived, mut starred, mut tagged) = (published("archived"), published("starred"), published("tagged"));
    let plain = published("plain");
    home.engine.archive(&mut archived).unwrap();
    home.engine.set_starred(&mut starred, true).unwrap();
    home.engine.change_tags(&mut tagged, &TagChange::Add(vec!["keep".into()])).unwrap();
    let later = home.engine.clone().with_clock(Arc::new(Later(day * 10)));
    let count =
        || home.engine.list(&Filter { drafts: true, archived: true, ..Filter::default() }).unwrap().sessions.len();
    assert_eq!(later.retain(&Retention::default(), false).unwrap().sessions, [], "without a rule nothing goes");
    let rules = Retention { drafts: Some(day * 7), archived: Some(day * 7), ..Retention::default() };
    let young = home.engine.retain(&rules, false).unwrap();
    assert_eq!((young.sessions.len(), count()), (0, 5));
    let planned = later.retain(&rules, true).unwrap();
    assert_eq!((planned.sessions.len(), count()), (2, 5), "{planned:?}");
    let done = later.retain(&rules, false).unwrap();
    assert_eq!(done.sessions, planned.sessions);
    let gone: Vec<_> = done.sessions.iter().map(|going| (&going.session, going.rule)).collect();
    assert!(gone.contains(&(draft.id(), "retention_drafts")) && gone.contains(&(archived.id(), "retention_archived")));
    assert_eq!((count(), done.failed.len()), (3, 0));
    let all = Retention { sessions: Some(day), ..Retention::default() };
    let done = later.retain(&all, false).unwrap();
    assert_eq!((done.sessions.len(), done.exempt, &done.sessions[0].session), (1, 2, plain.id()));
    let more = published("more");
    let small = Retention { bytes: Some(1), ..Retention::default() };
    let done = home.engine.retain(&small, false).unwrap();
    assert_eq!(done.sessions.iter().map(|going| &going.session).collect::<Vec<_>>(), [more.id()], "the rest is exempt");
    assert_eq!(count(), 2);
}
