//! A description that is kept says what a new one would.

use ramus_engine::{Cursor, Descriptions, Engine, Filter, Purge, PurgeScope, Say, Session, TagChange};
use ramus_model::{Body, Draft};
use serde_json::json;

use crate::homes::{Home, homes, jsonl};

/// What is kept is asked twice, so that the second answer is what was kept.
fn agree(home: &Home, session: &Session, known: &Descriptions) {
    let session = home.reopened(session);
    let read = home.engine.describe(&session, "/proj").unwrap();
    for _ in 0..2 {
        assert_eq!(home.engine.describe_again(&session, "/proj", known).unwrap(), read);
    }
}

fn answer(engine: &Engine, session: &mut Session, tokens: u64) {
    let message = json!({
        "role": "assistant", "content": [{"type": "text", "text": "yes"}], "provider": "p", "model": "m",
        "usage": {"input": tokens, "output": 2}, "stopReason": "stop",
    });
    let draft = Draft::new(Body::new("message", [("message", message)]));
    engine.append(session, &[draft], &Cursor::Leaf).unwrap();
}

#[test]
fn what_is_kept_is_what_would_be_read_after_everything_that_happens_to_a_session() {
    for home in homes() {
        let known = Descriptions::default();
        let engine = &home.engine;
        let mut session = home.saying(&["one", "two", "three"]);
        agree(&home, &session, &known);
        // The first answer publishes it, which changes its place and not what is in it.
        answer(engine, &mut session, 10);
        agree(&home, &session, &known);
        // Another process appends.
        let mut other = home.reopened(&session);
        answer(engine, &mut other, 20);
        agree(&home, &session, &known);
        let mut session = home.reopened(&session);
        engine.rename(&mut session, "Another title").unwrap();
        engine.change_tags(&mut session, &TagChange::Set(vec!["blue".into()])).unwrap();
        agree(&home, &session, &known);
        let second = session.resolve("#2").unwrap();
        engine.branch(&mut session, second).unwrap();
        agree(&home, &session, &known);
        engine.say(&mut session, Say::user("on a branch")).unwrap();
        agree(&home, &session, &known);
        let leaf = session.log().leaf().unwrap();
        let fork = home.fork(&session, leaf);
        agree(&home, &fork, &known);
        // The log is another file then, or another incarnation of it.
        let mut other = home.saying(&["one", "two", "three"]);
        answer(engine, &mut other, 30);
        agree(&home, &other, &known);
        let second = other.resolve("#2").unwrap();
        engine.purge(&mut other, second, Purge { scope: PurgeScope::Subtree, dry_run: false }).unwrap();
        agree(&home, &other, &known);
        let many: Vec<Session> = (0..200).map(|_| home.saying(&["hello"])).collect();
        many.iter().for_each(|session| agree(&home, session, &known));
        agree(&home, &session, &known);
    }
}

#[test]
fn what_was_read_at_a_position_is_not_read_again_there() {
    let home = jsonl();
    let known = Descriptions::default();
    let session = home.saying(&["one", "two"]);
    let read = home.engine.describe_again(&session, "/proj", &known).unwrap();
    // Nothing was read through this one, and nothing can be read now.
    let session = home.reopened(&session);
    std::fs::remove_file(session.location().path.as_ref().unwrap()).unwrap();
    assert!(home.engine.describe(&session, "/proj").is_err());
    assert_eq!(home.engine.describe_again(&session, "/proj", &known).unwrap(), read);
}

#[test]
fn an_answer_that_does_not_say_what_it_used_hides_nothing() {
    for home in homes() {
        let mut session = home.saying(&["one"]);
        answer(&home.engine, &mut session, 40);
        for usage in [json!(null), json!({"input": 0, "output": 0})] {
            let message = json!({"role": "assistant", "content": [], "stopReason": "aborted", "usage": usage});
            let draft = Draft::new(Body::new("message", [("message", message)]));
            home.engine.append(&mut session, &[draft], &Cursor::Leaf).unwrap();
            let info = home.engine.list(&Filter::default()).unwrap().sessions.remove(0);
            assert_eq!((info.last_prompt_tokens, info.last_completion_tokens), (40, 2), "{}", home.name);
            assert_eq!(session.info().unwrap().last_prompt_tokens, 40);
        }
    }
}
