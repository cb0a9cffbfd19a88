//! Homes in memory and on a simulated disk, and sessions to put into them.

use std::sync::Arc;

use ramus_engine::{Cursor, Engine, ForkOptions, ImportOptions, Imported, NewSession, Say, Session};
use ramus_model::SessionId;
use ramus_store::{JsonlStore, Layout, LogStore as _, NewLog, Placement};
use ramus_testkit::random::Random;
use ramus_testkit::sim::SimFs;
use ramus_testkit::trees;

pub(crate) const CWD: &str = "/srv/shop";

/// A home on a simulated disk.
pub(crate) struct World {
    pub(crate) fs: SimFs,
    pub(crate) store: JsonlStore,
    pub(crate) engine: Engine,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(SimFs::default())
    }

    pub(crate) fn on(fs: SimFs) -> Self {
        let store = JsonlStore::with_fs("/home/ramus", Layout::Pi, Arc::new(fs.clone()));
        let engine = Engine::new(Arc::new(store.clone()), "test");
        Self { fs, store, engine }
    }

    /// Puts a file into the home.
    pub(crate) fn put(&self, id: &str, bytes: &[u8]) {
        let placement = Placement::Published;
        let new = NewLog { id: id.into(), cwd: CWD, timestamp: "2026-03-02T08:00:00.000Z", placement };
        self.store.create(&new, bytes).unwrap();
    }

    pub(crate) fn open(&self, id: &str) -> Session {
        self.engine.open(id, CWD).unwrap()
    }

    pub(crate) fn export(&self, ids: &[&str]) -> Vec<u8> {
        let sessions: Vec<Session> = ids.iter().map(|id| self.open(id)).collect();
        let mut out = Vec::new();
        self.engine.export_bundle(&sessions, &mut out).unwrap();
        out
    }

    pub(crate) fn import(&self, bundle: &[u8]) -> Imported {
        self.engine.import_bundle(bundle, ImportOptions::default()).unwrap()
    }

    /// The bytes of every log, by id.
    pub(crate) fn logs(&self) -> Vec<(SessionId, Vec<u8>)> {
        let mut logs: Vec<_> = self
            .store
            .list()
            .unwrap()
            .into_iter()
            .map(|location| {
                let mut bytes = Vec::new();
                self.store.read(&location, 0, &mut |chunk| bytes.extend_from_slice(chunk)).unwrap();
                (location.id, bytes)
            })
            .collect();
        logs.sort();
        logs
    }

    /// A session with an answer, a picture that is a blob, and a branch.
    pub(crate) fn conversation(&self, title: &str) -> Session {
        let new = NewSession { cwd: CWD.into(), title: Some(title.to_owned()), ..NewSession::default() };
        let mut session = self.engine.create(new).unwrap();
        self.engine.say(&mut session, Say::user("hello")).unwrap();
        let picture = format!("data:image/png;base64,{}", "QUJD".repeat(600));
        let draft = format!(
            r#"{{"type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":"hi {title}"}},{{"type":"image","mimeType":"image/png","data":"{}"}}]}}}}"#,
            &picture[22..]
        );
        let draft = ramus_model::Draft::parse(draft.as_bytes()).unwrap();
        self.engine.append(&mut session, &[draft], &Cursor::Leaf).unwrap();
        session
    }

    pub(crate) fn fork(&self, session: &Session) -> String {
        let leaf = session.log().leaf().unwrap();
        self.engine.fork(session, leaf, &ForkOptions::default()).unwrap().id.to_string()
    }
}

/// A session file of any shape, sound or damaged.
pub(crate) fn any_file(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut file = trees::tree(seed);
    match random.below(8) {
        // A torn end, bytes that are no text, glued lines, a lost header, odd spellings.
        0 => {
            let cut = file.len() - random.below(file.len() / 2);
            file.truncate(cut);
        }
        1 => {
            let at = random.below(file.len());
            file[at] = 0xff;
        }
        2 => {
            let at = file.iter().rposition(|byte| *byte == b'\n').unwrap();
            let at = file[..at].iter().rposition(|byte| *byte == b'\n').unwrap_or(at);
            file.remove(at);
        }
        3 => {
            let header = file.iter().position(|byte| *byte == b'\n').unwrap();
            file.drain(..=header);
        }
        4 => file.extend(
            br#"{"type":"odd","id":"0ddba11","parentId":null,"n":1.00e+3,"lone":"\ud83d","dup":1,"dup":2}"#
                .iter()
                .chain(b"\n"),
        ),
        5 => file.extend(b"{\"type\":\"message\",\"id\":\"cr\"}\r\n\n"),
        _ => {}
    }
    file
}
