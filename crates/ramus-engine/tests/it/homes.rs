//! An engine on every home, and short ways to look at a session.

use std::sync::Arc;

use ramus_engine::{Engine, ForkOptions, NewSession, Say, Session};
use ramus_model::{Depth, Log, Record, Seq};
use ramus_store::{JsonlStore, Layout, LogStore, MemoryStore};

/// An engine, its home and whatever must outlive it.
pub(crate) struct Home {
    pub(crate) name: &'static str,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn LogStore>,
    pub(crate) directory: tempfile::TempDir,
}

pub(crate) fn homes() -> Vec<Home> {
    let home = |name, store: Arc<dyn LogStore>, directory| Home {
        name,
        engine: Engine::new(Arc::clone(&store), "test"),
        store,
        directory,
    };
    vec![home("memory", Arc::new(MemoryStore::default()), tempfile::tempdir().unwrap()), jsonl()]
}

pub(crate) fn jsonl() -> Home {
    let directory = tempfile::tempdir().unwrap();
    let store: Arc<dyn LogStore> = Arc::new(JsonlStore::new(directory.path().join("home"), Layout::Pi));
    Home { name: "jsonl", engine: Engine::new(Arc::clone(&store), "test"), store, directory }
}

impl Home {
    pub(crate) fn session(&self) -> Session {
        self.engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap()
    }

    /// A session with these user messages.
    pub(crate) fn saying(&self, texts: &[&str]) -> Session {
        let mut session = self.session();
        for text in texts {
            self.engine.say(&mut session, Say::user(*text)).unwrap();
        }
        session
    }

    /// A fork of a session, opened.
    pub(crate) fn fork(&self, origin: &Session, entry: Seq) -> Session {
        self.fork_called(origin, entry, None)
    }

    pub(crate) fn fork_called(&self, origin: &Session, entry: Seq, title: Option<&str>) -> Session {
        let options = ForkOptions { title: title.map(str::to_owned) };
        let forked = self.engine.fork(origin, entry, &options).unwrap();
        let fork = self.engine.open_fork(&forked).unwrap();
        assert_eq!((fork.id(), fork.location(), fork.cwd()), (&forked.id, &forked.location, &*forked.cwd));
        assert_eq!((fork.title(), fork.lineage().forked_from), (forked.title, Some(forked.origin)));
        fork
    }

    /// The same session opened afresh, as another process would.
    pub(crate) fn reopened(&self, session: &Session) -> Session {
        self.engine.open(session.id().as_str(), "/proj").unwrap()
    }

    pub(crate) fn bytes(&self, session: &Session) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.read(session.location(), 0, &mut |chunk| bytes.extend_from_slice(chunk)).unwrap();
        bytes
    }
}

/// The texts along the path to the leaf.
pub(crate) fn path(session: &Session) -> Vec<String> {
    path_to(session, session.log().leaf())
}

pub(crate) fn path_to(session: &Session, leaf: Option<Seq>) -> Vec<String> {
    let log = session.log();
    let visible = log.path(leaf).into_iter().filter(|seq| log.record(*seq).is_some_and(Record::is_visible));
    visible.map(|seq| session.message(seq).unwrap().map(|message| message.text()).unwrap_or_default()).collect()
}

/// The entry that says `text`.
pub(crate) fn saying(session: &Session, text: &str) -> Seq {
    let mut seqs = session.log().seqs().filter(|seq| session.log().record(*seq).is_some_and(Record::is_visible));
    seqs.find(|seq| session.message(*seq).unwrap().is_some_and(|message| message.text() == text)).unwrap()
}

/// Reads bytes thoroughly and insists that nothing is wrong with them.
pub(crate) fn clean(bytes: &[u8]) -> Log {
    let log = Log::from_bytes(bytes, Depth::Whole);
    assert!(!log.is_damaged(), "{:?}", log.findings());
    log
}
