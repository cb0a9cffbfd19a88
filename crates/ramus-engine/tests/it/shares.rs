//! What is shared is there as long as it is open, and not longer.

use std::path::Path;
use std::sync::Arc;

use ramus_engine::{
    Clock, Engine, EngineError, Include, NewSession, Opened, RestoreOptions, Say, Session, ShareOptions, Shared,
};
use ramus_redact::Redactor;
use ramus_store::{JsonlStore, Layout};

/// A clock that is ahead by some milliseconds.
struct Ahead(i64);

impl Clock for Ahead {
    fn now(&self) -> i64 {
        1_700_000_000_000 + self.0
    }
}

fn engine(home: &Path, ahead: i64) -> Engine {
    let store = JsonlStore::new(home, Layout::Pi);
    Engine::new(Arc::new(store), "test").with_shares(home).with_clock(Arc::new(Ahead(ahead)))
}

fn share(engine: &Engine, session: &mut Session, lifetime: Option<i64>) -> Shared {
    let include = Include { messages: true, diffs: false, tools: false, thinking: false, system: false };
    let options = ShareOptions { entry: None, include, lifetime };
    let preview = engine.preview_share(session, &options, &Redactor::new()).unwrap();
    engine.share(session, &options, &preview).unwrap()
}

fn pages(home: &Path) -> usize {
    let files = std::fs::read_dir(home.join("shares")).unwrap();
    files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "html")).count()
}

#[test]
fn the_page_of_a_share_goes_with_its_time() {
    let home = tempfile::tempdir().unwrap();
    let early = engine(home.path(), 0);
    let mut session = early.create(NewSession { cwd: "/tmp".into(), ..NewSession::default() }).unwrap();
    early.say(&mut session, Say::user("hello")).unwrap();
    for lifetime in [Some(1000), Some(5000), None] {
        share(&early, &mut session, lifetime);
    }
    early.gc(false).unwrap();
    assert_eq!(pages(home.path()), 3);
    let late = engine(home.path(), 1000);
    late.gc(true).unwrap();
    assert_eq!(pages(home.path()), 3);
    late.gc(false).unwrap();
    assert_eq!(pages(home.path()), 2);
    // Taking back what is open takes the pages of what is over along.
    let later = engine(home.path(), 5000);
    assert_eq!(later.unshare(&mut session, None).unwrap().len(), 1);
    assert_eq!(pages(home.path()), 0);
    assert_eq!(later.list_shares().unwrap().len(), 3);
    assert!(later.unshare(&mut session, None).is_err());
}

#[test]
fn x31_a_share_that_is_undone_is_taken_back_for_good() {
    let home = tempfile::tempdir().unwrap();
    let engine = engine(home.path(), 0);
    let mut session = engine.create(NewSession { cwd: "/tmp".into(), ..NewSession::default() }).unwrap();
    engine.say(&mut session, Say::user("hello")).unwrap();
    let shared = share(&engine, &mut session, None);
    let open = || engine.open_share(&shared.share.id, &shared.secret).unwrap();
    let options = RestoreOptions::default();
    let dry = RestoreOptions { dry_run: true, ..options.clone() };
    assert!(!engine.undo(&mut session, &dry).unwrap().is_done);
    assert!(matches!(open(), Opened::Page(_)));
    let undone = engine.undo(&mut session, &options).unwrap();
    assert!(undone.is_done && undone.operation.name == "share");
    assert_eq!((open(), pages(home.path())), (Opened::Over, 0));
    // Nothing opens it again.
    let refused = engine.redo(&mut session, &options).unwrap_err();
    assert!(matches!(refused, EngineError::Final { .. }), "{refused}");
    let again = share(&engine, &mut session, None);
    let ended = engine.unshare(&mut session, Some(&again.share.id)).unwrap();
    assert!(ended[0].revoked.is_some(), "it says that it was taken back");
    let refused = engine.undo(&mut session, &options).unwrap_err();
    assert!(matches!(refused, EngineError::Final { .. }), "{refused}");
}
