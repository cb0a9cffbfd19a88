//! Appending: batches, parents, ids, and several writers at once.

use std::thread;

use proptest::prelude::*;
use ramus_engine::{Children, Cursor, EngineError, ErrorKind, NewSession, Say};
use ramus_model::{Draft, EntryId, Scope};

use crate::homes::{clean, homes, jsonl, path, saying};

fn message(text: &str) -> String {
    format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#)
}

fn drafts(lines: &[String]) -> Vec<Draft> {
    lines.iter().map(|line| Draft::parse(line.as_bytes()).unwrap()).collect()
}

#[test]
fn a_batch_is_a_chain_and_is_written_whole() {
    for home in homes() {
        let mut session = home.session();
        let batch = drafts(&[message("a"), message("b"), message("c")]);
        let appended = home.engine.append(&mut session, &batch, &Cursor::Leaf).unwrap();
        let seqs: Vec<u32> = appended.entries.iter().map(|entry| entry.seq.number()).collect();
        assert_eq!(seqs, [1, 2, 3], "{}", home.name);
        assert_eq!(appended.entries[1].parent, Some(appended.entries[0].id.clone()));
        assert_eq!(path(&home.reopened(&session)), ["a", "b", "c"]);
    }
}

#[test]
fn a_bad_line_in_a_batch_writes_nothing() {
    for home in homes() {
        let mut session = home.saying(&["first"]);
        let before = home.bytes(&session);
        let taken = session.leaf().unwrap();
        let with = |extra: &str| message("x").replace("{\"type\"", &format!("{{{extra},\"type\""));
        for bad in [
            with(&format!("\"id\":\"{taken}\"")),
            with("\"parentId\":\"nowhere\""),
            r#"{"type":"label","targetId":"nowhere","label":"x"}"#.to_owned(),
            r#"{"type":"compaction","summary":"s","firstKeptEntryId":"nowhere"}"#.to_owned(),
        ] {
            let batch = drafts(&[message("ok"), bad.clone()]);
            match home.engine.append(&mut session, &batch, &Cursor::Leaf) {
                Err(EngineError::InvalidLine { line: 2, .. }) => {}
                other => panic!("{bad}: {other:?}"),
            }
        }
        let twice = drafts(&[with("\"id\":\"same\""), with("\"id\":\"same\"")]);
        assert!(home.engine.append(&mut session, &twice, &Cursor::Leaf).is_err());
        assert_eq!(home.bytes(&session), before, "{}", home.name);
    }
}

#[test]
fn given_ids_and_spellings_are_kept() {
    for home in homes() {
        let mut session = home.session();
        let line = r#"{"type":"somebodys","id":"mine","n":1.50,"lone":"\ud83d","timestamp":"2020-01-01T00:00:00Z"}"#;
        home.engine.append(&mut session, &drafts(&[line.to_owned()]), &Cursor::Leaf).unwrap();
        let stored = session.line(session.resolve("mine").unwrap()).unwrap();
        let expected = r#"{"type":"somebodys","id":"mine","parentId":null,"timestamp":"2020-01-01T00:00:00Z","n":1.50,"lone":"\ud83d"}"#;
        assert_eq!(String::from_utf8(stored).unwrap(), expected, "{}", home.name);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "when a session was made is told in milliseconds")]
fn whoever_has_the_id_of_a_deleted_session_is_not_written_to() {
    for home in homes() {
        for owner in [None, Some("bob".to_owned())] {
            let id = "taken-again".into();
            let make = |owner: Option<String>| {
                let new = NewSession { cwd: "/w".into(), owner, ..NewSession::default() };
                home.engine.create_called(&id, new, serde_json::Map::new()).unwrap()
            };
            let mut stale = make(None);
            home.engine.say(&mut stale, Say::user("ours")).unwrap();
            home.engine.delete(&home.reopened(&stale), Children::Orphan, false).unwrap();
            // It is another one even when it is of the same owner.
            std::thread::sleep(std::time::Duration::from_millis(2));
            let theirs = make(owner.clone());
            let before = home.bytes(&theirs);
            let refused = home.engine.say(&mut stale, Say::user("ours too")).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::NotFound, "{} {owner:?}", home.name);
            assert_eq!(home.bytes(&theirs), before, "{} {owner:?}", home.name);
            home.engine.delete(&theirs, Children::Orphan, false).unwrap();
        }
    }
}

#[test]
fn a_cursor_that_was_overtaken_makes_a_sibling_and_leaves_the_leaf_alone() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let cursor = Cursor::At(session.leaf().unwrap());
        let mut faster = home.reopened(&session);
        home.engine.say(&mut faster, Say::user("faster")).unwrap();
        let appended = home.engine.append(&mut session, &drafts(&[message("slower")]), &cursor).unwrap();
        assert!(appended.is_sibling, "{}", home.name);
        let session = home.reopened(&session);
        assert_eq!(path(&session), ["1", "faster"]);
        assert_eq!(session.tree(Scope::Visible).leaves.len(), 2);
        clean(&home.bytes(&session));
    }
}

#[test]
fn a_cursor_at_the_leaf_moves_on_with_it() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let cursor = Cursor::At(session.leaf().unwrap());
        let appended = home.engine.append(&mut session, &drafts(&[message("2")]), &cursor).unwrap();
        assert!(!appended.is_sibling, "{}", home.name);
        assert_eq!(path(&session), ["1", "2"]);
    }
}

#[test]
fn writers_that_name_no_parent_make_one_chain() {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    for home in homes() {
        let session = home.session();
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (home, id) = (&home, session.id().as_str());
                scope.spawn(move || {
                    let mut session = home.engine.open(id, "/proj").unwrap();
                    for n in 0..EACH {
                        home.engine.say(&mut session, Say::user(format!("{writer}:{n}"))).unwrap();
                    }
                });
            }
        });
        let session = home.reopened(&session);
        assert_eq!(path(&session).len(), WRITERS * EACH, "{}", home.name);
        assert_eq!(session.leaves().len(), 1);
        clean(&home.bytes(&session));
    }
}

#[test]
fn a_session_is_a_draft_until_a_model_answers() {
    let home = jsonl();
    let mut session = home.saying(&["hello?"]);
    let draft = session.location().path.clone().unwrap();
    assert!(draft.parent().unwrap().ends_with("drafts"));
    let mut other = home.reopened(&session);
    home.engine.say(&mut session, Say::assistant("hello!")).unwrap();
    assert!(session.location().path.as_ref().unwrap().parent().unwrap().ends_with("--proj--"));
    assert!(!draft.exists());
    // A writer that still knows the draft finds the session again.
    home.engine.say(&mut other, Say::user("still here")).unwrap();
    assert_eq!(path(&home.reopened(&session)), ["hello?", "hello!", "still here"]);
}

#[test]
fn an_answer_repeats_the_model_of_its_path() {
    for home in homes() {
        let new = NewSession { cwd: "/proj".into(), model: Some("openai/gpt".into()), ..NewSession::default() };
        let mut session = home.engine.create(new).unwrap();
        home.engine.say(&mut session, Say::assistant("hi")).unwrap();
        let info = session.info().unwrap();
        assert_eq!(
            (info.provider.as_deref(), info.model.as_deref()),
            (Some("openai"), Some("openai/gpt")),
            "{}",
            home.name
        );
        assert!(home.engine.create(NewSession { model: Some("nonsense".into()), ..NewSession::default() }).is_err());
    }
}

#[test]
fn a_call_can_be_given_other_arguments() {
    for home in homes() {
        let mut session = home.session();
        let call = r#"{"type":"message","id":"ask","message":{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"rm -rf"},"n":1e3}]}}"#;
        home.engine.append(&mut session, &drafts(&[call.to_owned(), message("later")]), &Cursor::Leaf).unwrap();
        let ask = session.resolve("ask").unwrap();
        home.engine.rewrite_call(&mut session, ask, "c1", &serde_json::json!({"command": "ls"})).unwrap();
        let session = home.reopened(&session);
        let line = String::from_utf8(session.line(ask).unwrap()).unwrap();
        assert!(
            line.contains(r#"{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"},"n":1e3}"#),
            "{line}"
        );
        assert_eq!(path(&session), ["x", "later"], "{}", home.name);
        clean(&home.bytes(&session));
        let mut session = session;
        assert!(home.engine.rewrite_call(&mut session, ask, "c9", &serde_json::json!({})).is_err());
    }
}

#[test]
fn what_was_written_is_never_changed_by_what_follows() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let mut before = home.bytes(&session);
        let two = saying(&session, "2");
        let three = saying(&session, "3");
        let mut check = |session: &ramus_engine::Session, what: &str| {
            let after = home.bytes(session);
            assert!(after.len() > before.len() && after.starts_with(&before), "{}: {what} rewrote the log", home.name);
            before = after;
        };
        home.engine.branch(&mut session, two).unwrap();
        check(&session, "branch");
        home.engine.label(&mut session, three, Some("x")).unwrap();
        check(&session, "label");
        home.engine.rename(&mut session, "Title").unwrap();
        check(&session, "rename");
        home.engine.reset_leaf(&mut session).unwrap();
        check(&session, "reset_leaf");
        home.engine.replace_segment(&mut session, two, two, "summary").unwrap();
        check(&session, "replace_segment");
        home.engine.set_metadata(&mut session, serde_json::Map::from_iter([("k".to_owned(), 1.into())])).unwrap();
        check(&session, "meta");
    }
}

/// One thing a person might do.
#[derive(Clone, Debug)]
enum Act {
    Say(bool),
    Branch(prop::sample::Index),
    Reset,
    Label(prop::sample::Index),
    Replace(prop::sample::Index, usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        5 => any::<bool>().prop_map(Act::Say),
        3 => any::<prop::sample::Index>().prop_map(Act::Branch),
        1 => Just(Act::Reset),
        1 => any::<prop::sample::Index>().prop_map(Act::Label),
        2 => (any::<prop::sample::Index>(), 1_usize..4).prop_map(|(at, length)| Act::Replace(at, length)),
    ];
    prop::collection::vec(act, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_done_the_log_stays_sound_and_reopens_the_same(acts in acts()) {
        for home in homes() {
            let mut session = home.session();
            for (n, act) in acts.iter().enumerate() {
                let visible: Vec<_> = session.log().visible().collect();
                let pick = |index: &prop::sample::Index| (!visible.is_empty()).then(|| visible[index.index(visible.len())]);
                match act {
                    Act::Say(answer) => {
                        let say = if *answer { Say::assistant(n.to_string()) } else { Say::user(n.to_string()) };
                        home.engine.say(&mut session, say).unwrap();
                        prop_assert_eq!(path(&session).last().cloned(), Some(n.to_string()));
                    }
                    Act::Branch(at) => if let Some(seq) = pick(at) {
                        let id = home.engine.branch(&mut session, seq).unwrap();
                        prop_assert_eq!(session.leaf(), Some(id));
                    },
                    Act::Reset => {
                        home.engine.reset_leaf(&mut session).unwrap();
                        prop_assert_eq!(session.leaf(), None);
                    }
                    Act::Label(at) => if let Some(seq) = pick(at) {
                        let leaf = session.leaf();
                        home.engine.label(&mut session, seq, Some("here")).unwrap();
                        prop_assert_eq!(session.leaf(), leaf);
                    },
                    Act::Replace(at, length) => if let Some(last) = pick(at) {
                        let log = session.log();
                        let up = log.ancestors(Some(last)).filter(|seq| visible.contains(seq)).nth(length - 1);
                        let Some(first) = up else { continue };
                        let before = session.tree(Scope::Visible).entries.len();
                        let replaced = home.engine.replace_segment(&mut session, first, last, "summary").unwrap();
                        prop_assert_eq!(session.tree(Scope::Visible).entries.len(), before - replaced.replaced.len() + 1);
                    },
                }
            }
            let log = clean(&home.bytes(&session));
            let again = home.reopened(&session);
            prop_assert_eq!(again.leaf(), session.leaf());
            prop_assert_eq!(path(&again), path(&session));
            prop_assert_eq!(log.len(), session.log().len());
            for seq in log.seqs() {
                prop_assert_eq!(EntryId::from(log.id(seq)), session.entry_id(seq));
                prop_assert_eq!(log.record(seq).and_then(ramus_model::Record::parent), session.log().record(seq).and_then(ramus_model::Record::parent));
            }
        }
    }
}

#[test]
fn an_entry_cannot_close_a_circle() {
    for home in homes() {
        let mut session = home.session();
        let orphan = r#"{"type":"message","id":"o1","parentId":null,"message":{"role":"user","content":"x"}}"#;
        home.engine.append(&mut session, &drafts(&[orphan.to_owned()]), &Cursor::Leaf).unwrap();
        // Another program names a parent that is not there.
        let line = "{\"type\":\"message\",\"id\":\"o2\",\"parentId\":\"zz\",\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"y\"}}\n";
        let read = home.store.read(session.location(), 0, &mut |_| ()).unwrap();
        let mut writer = home.store.writer(session.location()).unwrap();
        writer.append(read, line.as_bytes(), ramus_store::Flush::Now).unwrap();
        let mut session = home.reopened(&session);
        let closing = r#"{"type":"message","id":"zz","parentId":"o2","message":{"role":"user","content":"z"}}"#;
        let refused = home.engine.append(&mut session, &drafts(&[closing.to_owned()]), &Cursor::Leaf);
        assert!(matches!(refused, Err(EngineError::InvalidLine { .. })), "{}: {refused:?}", home.name);
        // As a root it is welcome, and what waited for it hangs from it at once.
        let root = closing.replace("\"o2\"", "null");
        home.engine.append(&mut session, &drafts(&[root]), &Cursor::Leaf).unwrap();
        let o2 = session.resolve("o2").unwrap();
        assert_eq!(session.log().record(o2).unwrap().parent(), session.log().seq_of("zz"));
    }
}

#[test]
fn trouble_with_publishing_does_not_fail_what_was_written() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    // Something is in the way of the directory the session would be published to.
    std::fs::write(home.directory.path().join("home/sessions"), "in the way").unwrap();
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    assert!(session.notices().iter().any(|notice| notice.contains("stays a draft")), "{:?}", session.notices());
    std::fs::remove_file(home.directory.path().join("home/sessions")).unwrap();
    home.engine.say(&mut session, Say::user("3")).unwrap();
    assert_eq!(session.residence(), ramus_store::Residence::Published, "the next writer publishes");
}

#[test]
fn huge_numbers_of_tokens_are_only_numbers() {
    for home in homes() {
        let mut session = home.session();
        let huge = r#"{"type":"message","message":{"role":"assistant","content":[],"usage":{"input":18446744073709551615,"output":18446744073709551615,"cacheRead":18446744073709551615,"cost":{"total":1e300}}}}"#;
        home.engine.append(&mut session, &drafts(&[huge.to_owned(), huge.to_owned()]), &Cursor::Leaf).unwrap();
        assert_eq!(session.info().unwrap().usage.tokens.input, u64::MAX, "{}", home.name);
        session.messages(session.log().leaf(), None, None).unwrap();
    }
}

#[test]
fn a_cursor_must_stand_on_something() {
    for home in homes() {
        let mut session = home.saying(&["one"]);
        let drafts = [Draft::parse(br#"{"type":"message","message":{"role":"user","content":"lost"}}"#).unwrap()];
        let nowhere = Cursor::At(EntryId::from("deadbeef"));
        assert!(home.engine.append(&mut session, &drafts, &nowhere).is_err(), "{}", home.name);
        assert_eq!(path(&home.reopened(&session)), ["one"]);
    }
}
