//! Relocating: everything below a directory, all or told why not, and the same when it is done again.

use ramus_engine::{ErrorKind, Filter};
use ramus_store::Terminal;

use crate::homes::{Home, homes, jsonl};

fn directories(home: &Home) -> Vec<String> {
    let everything = Filter { drafts: true, archived: true, ..Filter::default() };
    let mut all: Vec<String> = home.engine.list(&everything).unwrap().sessions.into_iter().map(|s| s.cwd).collect();
    all.sort();
    all
}

#[test]
fn everything_below_moves_and_nothing_else() {
    for home in homes() {
        for cwd in ["/old", "/old/src/deep", "/older", "/", "/other/old"] {
            home.answered(cwd);
        }
        let draft = ramus_engine::NewSession { cwd: "/old/src".into(), ..Default::default() };
        home.engine.create(draft).unwrap();
        let before = directories(&home);
        let plan = home.engine.relocate("/old", "/new/place", true).unwrap();
        assert_eq!((plan.moved.len(), plan.refused.len()), (3, 0), "{}", home.name);
        assert_eq!(directories(&home), before, "{}: a plan changes nothing", home.name);
        let done = home.engine.relocate("/old", "/new/place/", false).unwrap();
        assert_eq!(done.moved, plan.moved);
        let expected = ["/", "/new/place", "/new/place/src", "/new/place/src/deep", "/older", "/other/old"];
        assert_eq!(directories(&home), expected);
        let again = home.engine.relocate("/old", "/new/place", false).unwrap();
        assert!(again.moved.is_empty() && again.refused.is_empty(), "{again:?}");
        assert_eq!(directories(&home), expected);
    }
}

#[test]
fn terminals_follow() {
    for home in homes() {
        let session = home.answered("/old/src");
        let [inside, outside] = ["pts/1", "pts/2"].map(|name| Terminal::new(name).unwrap());
        home.engine.remember(&inside, "/old/src", session.location()).unwrap();
        home.engine.remember(&outside, "/else", session.location()).unwrap();
        assert_eq!(home.engine.relocate("/old", "/new", true).unwrap().terminals, 1);
        assert_eq!(home.engine.relocate("/old", "/new", false).unwrap().terminals, 1);
        home.answered("/new/src");
        let here = home.engine.continue_recent("/new/src", Some(&inside)).unwrap();
        assert_eq!(here.id(), session.id(), "{}", home.name);
        assert_eq!(home.store.breadcrumb(&outside).unwrap().unwrap().cwd, "/else");
    }
}

#[test]
fn nonsense_is_refused_before_anything_moves() {
    for home in homes() {
        home.answered("/a/b/b/c");
        for (old, new) in [("/a", "/a"), ("/a", "/a/"), ("/a", "/a/x"), ("a", "/x"), ("/a", "x"), ("/a/b", "/a")] {
            let error = home.engine.relocate(old, new, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{old} {new}: {error}");
        }
        assert_eq!(directories(&home), ["/a/b/b/c"]);
        home.engine.relocate("/a/b/b", "/a/b", false).unwrap();
        assert_eq!(directories(&home), ["/a/b/c"], "up is fine when it is clear");
    }
}

#[test]
fn a_session_that_is_being_run_stays_until_it_is_done() {
    for home in homes() {
        let session = home.answered("/old");
        home.answered("/old/src");
        let lease = home.engine.lease(&session).unwrap();
        let done = home.engine.relocate("/old", "/new", false).unwrap();
        assert_eq!((done.moved.len(), done.refused.len()), (1, 1), "{}", home.name);
        assert_eq!((&done.refused[0].0.session, done.refused[0].1.kind()), (session.id(), ErrorKind::Busy));
        drop(lease);
        assert_eq!(home.engine.relocate("/old", "/new", false).unwrap().moved.len(), 1);
        assert_eq!(directories(&home), ["/new", "/new/src"]);
    }
}

#[test]
fn an_interrupted_move_is_finished_by_the_next_run() {
    let home = jsonl();
    let mut session = home.answered("/old");
    let file = session.location().path.clone().unwrap();
    home.engine.move_to(&mut session, "/new").unwrap();
    let moved = session.location().path.clone().unwrap();
    // As if the process had ended between the entry and the file.
    std::fs::rename(&moved, &file).unwrap();
    let done = home.engine.relocate("/old", "/new", false).unwrap();
    assert!(done.moved.is_empty() && done.refused.is_empty());
    assert!(moved.exists() && !file.exists());
}
