//! Many threads, one session: all are written, in a chain, and a bad one fails alone.

use std::collections::HashSet;
use std::thread;

use ramus_engine::{Cursor, EngineError, Say, SharedSession};
use ramus_model::{Body, Draft, EntryId, Parent};
use serde_json::json;

use crate::homes::{clean, homes, saying};

fn message(text: &str) -> Draft {
    Draft::new(Body::new("message", [("message", json!({"role": "user", "content": text}))]))
}

#[test]
fn what_many_threads_append_is_one_chain() {
    const THREADS: usize = 16;
    const EACH: usize = 60;
    for home in homes() {
        let shared = SharedSession::new(home.engine.clone(), home.saying(&["start"]));
        let acknowledged: Vec<Vec<EntryId>> = thread::scope(|scope| {
            let writers = (0..THREADS).map(|writer| {
                let shared = &shared;
                scope.spawn(move || {
                    let append = |n| shared.append(vec![message(&format!("{writer}:{n}"))], Cursor::Leaf).unwrap();
                    (0..EACH).map(|n| append(n).entries[0].id.clone()).collect()
                })
            });
            let writers: Vec<_> = writers.collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let session = shared.read(|session| home.reopened(session));
        clean(&home.bytes(&session));
        let path = session.log().path(session.log().leaf());
        assert_eq!(path.len(), THREADS * EACH + 1, "{}: one chain", home.name);
        let ids: HashSet<EntryId> = path.iter().map(|seq| session.entry_id(*seq)).collect();
        assert!(acknowledged.iter().flatten().all(|id| ids.contains(id)), "{}", home.name);
        for own in acknowledged {
            let places: Vec<_> = own.iter().map(|id| session.log().seq_of(id.as_str()).unwrap()).collect();
            assert!(places.is_sorted(), "{}: each thread's own order is kept", home.name);
        }
    }
}

#[test]
fn a_bad_batch_fails_alone_and_later_ones_stand_where_it_would_have_been() {
    for home in homes() {
        let shared = SharedSession::new(home.engine.clone(), home.saying(&["start"]));
        thread::scope(|scope| {
            for n in 0..40 {
                let shared = &shared;
                scope.spawn(move || {
                    let bad = message("bad").under(Parent::Entry("nowhere".into()));
                    let drafts = if n % 4 == 0 { vec![message("lost"), bad] } else { vec![message(&format!("m{n}"))] };
                    let outcome = shared.append(drafts, Cursor::Leaf);
                    assert_eq!(outcome.is_err(), n % 4 == 0);
                    if let Err(error) = outcome {
                        assert!(matches!(error, EngineError::InvalidLine { line: 2, .. }), "{error}");
                    }
                });
            }
        });
        let session = shared.read(|session| home.reopened(session));
        assert_eq!(session.log().path(session.log().leaf()).len(), 31, "{}", home.name);
    }
}

#[test]
fn cursors_labels_and_other_verbs_go_together() {
    for home in homes() {
        let session = home.saying(&["start", "second"]);
        let start = session.entry_id(saying(&session, "start"));
        let shared = SharedSession::new(home.engine.clone(), session);
        let sibling = shared.append(vec![message("aside")], Cursor::At(start.clone())).unwrap();
        assert!(sibling.is_sibling, "{}", home.name);
        assert_eq!(sibling.entries[0].parent.as_ref(), Some(&start));
        shared.with(|engine, session| engine.say(session, Say::user("third")).map(drop)).unwrap();
        let session = shared.read(|session| home.reopened(session));
        assert_eq!(crate::homes::path(&session), ["start", "second", "third"], "{}", home.name);
    }
}
