//! The index proposes what a scan finds, whatever happened to the sessions and to the index.

use std::path::Path;

use proptest::prelude::*;
use ramus_engine::{Children, Engine, Hits, Say, Search, Session};
use ramus_model::search::{Query, Reading};
use ramus_model::{Record, Seq};

use crate::homes::{Home, jsonl};

const WORDS: [&str; 14] = [
    "alpha",
    "beta",
    "Gamma",
    "parseHeader",
    "parse_header",
    "HTTPServer",
    "東京",
    "Größe",
    "naïve",
    "src/main.rs",
    "alphabet",
    "server",
    "日本語text",
    "e\u{301}tude",
];

const QUERIES: [&str; 22] = [
    "alpha",
    "alpha beta",
    "\"alpha beta\"",
    "\"beta alpha\" -gamma",
    "alph*",
    "server",
    "httpserver",
    "parseHeader",
    "parse_header",
    "header -alpha",
    "京",
    "本語te*",
    "grosse",
    "naive role:user",
    "role:assistant",
    "role:title alpha",
    "role:label",
    "main.rs",
    "is:fork alpha",
    "-alpha",
    "after:2020 etude",
    "before:2020 alpha",
];

#[derive(Clone, Debug)]
enum Act {
    New(Vec<usize>),
    Say(usize, bool, Vec<usize>),
    Rename(usize, Vec<usize>),
    Label(usize, usize, Option<usize>),
    Fork(usize, usize),
    Delete(usize),
    Replace(usize, usize),
    /// Overwrites a byte of the file.
    Damage(usize, usize),
    /// Cuts the file.
    Cut(usize, usize),
    /// Puts another session's messages in its place.
    Swap(usize, usize),
    /// Overwrites bytes of the catalogue.
    Tamper(usize, usize),
    Compare(usize),
}

fn words() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..WORDS.len(), 1..6)
}

fn act() -> impl Strategy<Value = Act> {
    let which = || 0..64usize;
    prop_oneof![
        2 => words().prop_map(Act::New),
        6 => (which(), any::<bool>(), words()).prop_map(|(at, answers, words)| Act::Say(at, answers, words)),
        1 => (which(), words()).prop_map(|(at, words)| Act::Rename(at, words)),
        2 => (which(), which(), prop::option::of(0..WORDS.len())).prop_map(|(at, entry, word)| Act::Label(at, entry, word)),
        2 => (which(), which()).prop_map(|(at, entry)| Act::Fork(at, entry)),
        1 => which().prop_map(Act::Delete),
        1 => (which(), which()).prop_map(|(at, entry)| Act::Replace(at, entry)),
        1 => (which(), 0..4000usize).prop_map(|(at, offset)| Act::Damage(at, offset)),
        1 => (which(), 0..4000usize).prop_map(|(at, offset)| Act::Cut(at, offset)),
        1 => (which(), which()).prop_map(|(at, other)| Act::Swap(at, other)),
        1 => (0..3usize, 0..100_000usize).prop_map(|(file, offset)| Act::Tamper(file, offset)),
        4 => (0..QUERIES.len()).prop_map(Act::Compare),
    ]
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// The session number `at`, opened; none when there is none or it cannot be opened.
fn session(engine: &Engine, at: usize) -> Option<Session> {
    let mut ids = engine.session_ids().unwrap();
    ids.sort();
    let id = ids.get(at % ids.len().max(1))?;
    engine.open(id.as_str(), "/").ok()
}

fn entry(session: &Session, at: usize) -> Option<Seq> {
    let visible: Vec<Seq> =
        session.log().visible().filter(|seq| session.log().record(*seq).is_some_and(Record::is_visible)).collect();
    visible.get(at % visible.len().max(1)).copied()
}

/// Does what can be done; what the engine refuses is refused.
fn perform(home: &Home, engine: &Engine, act: &Act) {
    let file = |at: usize| session(engine, at).and_then(|session| session.location().path.clone());
    match act {
        Act::New(words) => drop(home.saying(&[&text(words)])),
        Act::Say(at, answers, words) => {
            let Some(mut session) = session(engine, *at) else { return };
            let text = text(words);
            let _ = engine.say(&mut session, if *answers { Say::assistant(text) } else { Say::user(text) });
        }
        Act::Rename(at, words) => {
            let Some(mut session) = session(engine, *at) else { return };
            let _ = engine.rename(&mut session, &text(words));
        }
        Act::Label(at, target, word) => {
            let Some(mut session) = session(engine, *at) else { return };
            let Some(target) = entry(&session, *target) else { return };
            let _ = engine.label(&mut session, target, word.map(|word| WORDS[word]));
        }
        Act::Fork(at, origin) => {
            let Some(session) = session(engine, *at) else { return };
            let Some(origin) = entry(&session, *origin) else { return };
            let _ = engine.fork(&session, origin, &Default::default());
        }
        Act::Delete(at) => {
            let Some(session) = session(engine, *at) else { return };
            let _ = engine.delete(&session, Children::Orphan, false);
        }
        Act::Replace(at, target) => {
            let Some(mut session) = session(engine, *at) else { return };
            let Some(target) = entry(&session, *target) else { return };
            let _ = engine.replace_segment(&mut session, target, target, "beta replaced");
        }
        Act::Damage(at, offset) => {
            let Some(path) = file(*at) else { return };
            let mut bytes = std::fs::read(&path).unwrap();
            let offset = offset % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(offset) {
                *byte = b'#';
            }
            std::fs::write(&path, bytes).unwrap();
        }
        Act::Cut(at, offset) => {
            let Some(path) = file(*at) else { return };
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..offset % bytes.len().max(1)]).unwrap();
        }
        Act::Swap(at, other) => {
            let (Some(to), Some(from)) = (file(*at), file(*other)) else { return };
            let (head, rest) = (std::fs::read_to_string(&to).unwrap_or_default(), std::fs::read(&from).unwrap());
            let head = head.split_inclusive('\n').next().unwrap_or_default().to_owned();
            let rest = rest.iter().position(|byte| *byte == b'\n').map_or(&[][..], |at| &rest[at + 1..]);
            std::fs::write(&to, [head.as_bytes(), rest].concat()).unwrap();
        }
        Act::Tamper(which, offset) => tamper(&home.directory.path().join("home"), *which, *offset),
        Act::Compare(query) => compare(engine, QUERIES[*query]),
    }
}

fn tamper(home: &Path, which: usize, offset: usize) {
    let path = home.join(["catalogue.db", "catalogue.db-wal", "catalogue.seal"][which]);
    let Ok(mut bytes) = std::fs::read(&path) else { return };
    let length = bytes.len().max(1);
    for byte in bytes.iter_mut().skip(offset % length).take(16) {
        *byte ^= 0x55;
    }
    std::fs::write(&path, bytes).unwrap();
}

/// What a search shows, but for scores and order.
fn shown(hits: &Hits) -> Vec<(String, Option<String>, String, String)> {
    let mut shown: Vec<_> = hits
        .hits
        .iter()
        .map(|hit| {
            (hit.session.clone(), hit.entry.as_ref().map(ToString::to_string), hit.role.clone(), hit.snippet.text())
        })
        .collect();
    shown.sort();
    shown
}

fn compare(engine: &Engine, query: &str) {
    let search = Search { limit: 10_000, ..Search::new(Query::parse(query, Reading::default()).unwrap()) };
    let (indexed, scanned) = (engine.search(&search).unwrap(), engine.search_by_scan(&search).unwrap());
    assert_eq!(shown(&indexed), shown(&scanned), "{query}");
    assert_eq!(indexed.total, scanned.total, "{query}");
    assert_eq!(indexed.damaged, scanned.damaged, "{query}");
    assert_eq!(indexed.unreadable, scanned.unreadable, "{query}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_scan_finds(acts in prop::collection::vec(act(), 1..40)) {
        let home = jsonl();
        let engine = home.engine.clone().with_catalogue(home.directory.path().join("home"));
        for act in &acts {
            perform(&home, &engine, act);
        }
        for query in QUERIES {
            compare(&engine, query);
        }
        // Another process, which has nothing open, finds the same.
        let fresh = home.engine.clone().with_catalogue(home.directory.path().join("home"));
        for query in QUERIES {
            compare(&fresh, query);
        }
    }
}

#[test]
fn what_was_written_is_found_at_once_and_the_index_is_ready() {
    let home = jsonl();
    let engine = home.engine.clone().with_catalogue(home.directory.path().join("home"));
    let mut session = home.saying(&["alpha one"]);
    let find = |query: &str| engine.search(&Search::new(Query::parse(query, Reading::default()).unwrap())).unwrap();
    let hits = find("alpha");
    let index = hits.index.unwrap();
    assert_eq!((hits.hits.len(), index.ready, index.indexed), (1, true, 1));
    for number in 0..30 {
        engine.say(&mut session, Say::user(format!("alpha {number} beta"))).unwrap();
        let hits = find("alpha");
        assert_eq!((hits.total, hits.index.unwrap().ready), (number + 2, true));
        compare(&engine, "alpha beta");
    }
}
