//! Todos along the path, and the small promises about times, versions, pages and order.

use ramus_engine::{Engine, ErrorKind, Filter, Say, Session, TodoChange};
use ramus_model::todo::{Status, Task};
use ramus_model::{Body, Draft};
use serde_json::json;

use crate::homes::{clean, homes, saying};

fn task(text: &str, blocked_by: &[&str]) -> Task {
    let blocked_by = blocked_by.iter().map(|id| (*id).to_owned()).collect();
    Task { text: text.into(), blocked_by, ..Task::default() }
}

fn add(engine: &Engine, session: &mut Session, text: &str) -> Vec<String> {
    texts(&engine.change_todos(session, &TodoChange::Add(task(text, &[]))).unwrap())
}

fn texts(tasks: &[Task]) -> Vec<String> {
    tasks.iter().map(|task| format!("{} {}", task.id, task.text)).collect()
}

#[test]
fn b26_a_branch_has_its_own_list_and_going_back_restores_it() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        assert_eq!(add(&home.engine, &mut session, "first"), ["1 first"]);
        let here = session.leaf().unwrap();
        assert_eq!(add(&home.engine, &mut session, "second"), ["1 first", "2 second"]);
        let there = session.log().leaf();
        let one = saying(&session, "1");
        home.engine.branch(&mut session, one).unwrap();
        assert_eq!(texts(&session.todos(session.log().leaf()).unwrap()), Vec::<String>::new());
        assert_eq!(add(&home.engine, &mut session, "another way"), ["1 another way"]);
        let session = &mut home.reopened(&session);
        assert_eq!(texts(&session.todos(there).unwrap()), ["1 first", "2 second"], "{}", home.name);
        let here = session.resolve(here.as_str()).unwrap();
        home.engine.branch(session, here).unwrap();
        assert_eq!(texts(&session.todos(session.log().leaf()).unwrap()), ["1 first"]);
        clean(&home.bytes(session));
    }
}

#[test]
fn b26_tasks_wait_for_each_other_and_never_for_themselves() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let engine = &home.engine;
        engine.change_todos(&mut session, &TodoChange::Set(vec![task("a", &[]), task("b", &["1"])])).unwrap();
        let before = home.bytes(&session);
        let mut round = session.todos(session.log().leaf()).unwrap();
        round[0].blocked_by = vec!["2".into()];
        let error = engine.change_todos(&mut session, &TodoChange::Set(round)).unwrap_err();
        assert_eq!((error.kind(), home.bytes(&session)), (ErrorKind::Invalid, before.clone()));
        let unknown = engine.change_todos(&mut session, &TodoChange::Mark(vec!["9".into()], Status::Completed));
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::NotFound);
        engine.change_todos(&mut session, &TodoChange::Mark(vec!["1".into()], Status::Pending)).unwrap();
        assert_eq!(home.bytes(&session), before, "nothing is written for nothing");
        let left = engine.change_todos(&mut session, &TodoChange::Remove(vec!["1".into()])).unwrap();
        assert_eq!((texts(&left), left[0].blocked_by.len()), (vec!["2 b".to_owned()], 0));
    }
}

#[test]
fn b26_what_a_model_writes_with_its_tool_is_the_same_list() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let result = json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "todo", "isError": false,
            "content": [{"type": "text", "text": "1 tasks"}],
            "details": {"tasks": [{"text": "from the model", "status": "in_progress"}]},
        });
        let draft = Draft::new(Body::new("message", [("message", result)]));
        home.engine.append(&mut session, &[draft], &ramus_engine::Cursor::Leaf).unwrap();
        assert_eq!(add(&home.engine, &mut session, "from a person"), ["1 from the model", "2 from a person"]);
    }
}

#[test]
fn a10_sessions_say_which_engine_made_them() {
    for home in homes() {
        let version = home.saying(&["1"]).info().unwrap().engine_version.unwrap();
        assert!(version.starts_with("ramus "), "{version}");
    }
}

#[test]
fn a11_sessions_know_when_they_were_made_changed_compacted_and_archived() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        home.engine.say(&mut session, Say::assistant("answer")).unwrap();
        let fresh = session.info().unwrap();
        assert!(!fresh.created.is_empty() && fresh.updated >= fresh.created);
        assert_eq!((fresh.compacted_at, fresh.archived_at), (None, None));
        let listed = || {
            let listing = home.engine.list(&Filter { archived: true, drafts: true, ..Filter::default() }).unwrap();
            listing.sessions[0].clone()
        };
        let kept = session.leaf().unwrap().to_string();
        home.engine.clear(&mut session, false).unwrap();
        assert_eq!(listed().compacted_at, None, "{}: a clear summarises nothing", home.name);
        let summary =
            [("summary", json!("it was said")), ("firstKeptEntryId", json!(kept)), ("tokensBefore", json!(9))];
        let draft = Draft::new(Body::new("compaction", summary));
        home.engine.append(&mut session, &[draft], &ramus_engine::Cursor::Leaf).unwrap();
        home.engine.archive(&mut session).unwrap();
        let info = listed();
        assert!(info.compacted_at >= Some(fresh.created) && info.archived_at.is_some(), "{}: {info:?}", home.name);
        let before = session.resolve(&kept).unwrap();
        home.engine.branch(&mut session, before).unwrap();
        assert_eq!(listed().compacted_at, None, "{}: it is on another branch", home.name);
    }
}

#[test]
fn b27_messages_come_in_pages_that_fit_together() {
    for home in homes() {
        let texts: Vec<String> = (0..25).map(|n| n.to_string()).collect();
        let session = home.saying(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let (mut cursor, mut read) = (None::<String>, Vec::new());
        for size in [10, 10, 5] {
            let page = session.messages(session.log().leaf(), Some(10), cursor.as_deref()).unwrap();
            assert_eq!(page.messages.len(), size);
            read.extend(page.messages.iter().map(|view| view.message.text()));
            cursor = page.next_cursor;
        }
        assert_eq!((read, cursor), (texts, None), "{}", home.name);
    }
}

#[test]
fn b28_entries_are_iterated_in_order_and_the_last_words_are_found() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        home.engine.say(&mut session, Say::assistant("answer")).unwrap();
        let order: Vec<u32> = session.log().seqs().map(|seq| seq.number()).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(session.last_user_message().unwrap().unwrap().message.text(), "2");
        let one = saying(&session, "1");
        home.engine.branch(&mut session, one).unwrap();
        assert_eq!(session.last_user_message().unwrap().unwrap().message.text(), "1", "of the path, not of the log");
    }
}
