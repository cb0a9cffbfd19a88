//! A fork that goes with what it stands on is, where it comes to, what it is here.

use ramus_engine::{BundleOptions, Children, ErrorKind, Forks, ImportOptions, Say, Session};
use ramus_model::Scope;

use crate::homes::{Home, jsonl};

const LOOKING: ImportOptions = ImportOptions { dry_run: false, as_new: false, bases: true };

fn bundle(home: &Home, session: &Session, forks: Forks) -> Vec<u8> {
    let mut out = Vec::new();
    let options = BundleOptions { forks, ..BundleOptions::default() };
    home.engine.export_bundle(&[home.reopened(session)], options, &mut out).unwrap();
    out
}

/// Everything that is drawn of a session, and its own bytes.
fn drawn(home: &Home, session: &Session) -> String {
    let session = home.reopened(session);
    let lines: Vec<_> = session.log().seqs().map(|seq| session.line(seq).unwrap()).collect();
    let own = String::from_utf8(home.bytes(&session)).unwrap();
    format!("{:?}\n{lines:?}\n{own}", session.tree(Scope::All))
}

#[test]
fn a_fork_is_seen_elsewhere_as_it_is_here_and_grows_there() {
    let (home, there) = (jsonl(), jsonl());
    let mut main = home.saying(&["one", "two", "three"]);
    let second = main.resolve("#2").unwrap();
    let mut fork = home.fork(&main, second);
    home.engine.say(&mut fork, Say::user("on the fork")).unwrap();
    let leaf = fork.log().leaf().unwrap();
    let mut deep = home.fork(&fork, leaf);
    // What the origin says afterwards is none of the fork's business.
    home.engine.say(&mut main, Say::user("a secret of later")).unwrap();
    let sent = bundle(&home, &deep, Forks::WithOrigins);
    assert!(!String::from_utf8_lossy(&sent).contains("a secret of later"));
    there.engine.import_bundle(&*sent, LOOKING).unwrap();
    assert_eq!(drawn(&there, &deep), drawn(&home, &deep));
    home.engine.say(&mut deep, Say::user("and more")).unwrap();
    there.engine.import_bundle(&*bundle(&home, &deep, Forks::WithOrigins), LOOKING).unwrap();
    assert_eq!(drawn(&there, &deep), drawn(&home, &deep));
    // The origin itself comes later, and whole.
    there.engine.import_bundle(&*bundle(&home, &main, Forks::WithOrigins), LOOKING).unwrap();
    assert_eq!(drawn(&there, &main), drawn(&home, &main));
    assert_eq!(drawn(&there, &deep), drawn(&home, &deep));
    assert_ne!(bundle(&home, &deep, Forks::Alone), bundle(&home, &deep, Forks::WithOrigins));
}

#[test]
fn what_is_left_of_a_deleted_origin_comes_along_and_is_taken_in_by_nobody_else() {
    let (home, there) = (jsonl(), jsonl());
    let main = home.saying(&["one", "two"]);
    let leaf = main.log().leaf().unwrap();
    let mut fork = home.fork(&main, leaf);
    home.engine.say(&mut fork, Say::user("on the fork")).unwrap();
    home.engine.delete(&main, Children::Orphan, false).unwrap();
    let sent = bundle(&home, &fork, Forks::WithOrigins);
    // A base that came with any bundle could stand in for what a fork that is here already was forked from.
    let refused = there.engine.import_bundle(&*sent, ImportOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
    assert!(there.engine.session_ids().unwrap().is_empty());
    there.engine.import_bundle(&*sent, LOOKING).unwrap();
    assert_eq!(drawn(&there, &fork), drawn(&home, &fork));
}
