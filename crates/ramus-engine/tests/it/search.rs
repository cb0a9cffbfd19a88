//! Searching: what is found, where, once, and what is told about the rest.

use ramus_engine::{Children, Cursor, Hits, NewSession, Say, Search, WhichDirectory};
use ramus_model::search::{Query, Reading};
use ramus_model::{Body, Draft};
use serde_json::json;

use crate::homes::{Home, homes, jsonl, saying};

fn asked(query: &str) -> Search {
    let now = ramus_model::time::parse("2030-01-01T00:00:00.000Z").unwrap();
    Search { limit: 1000, ..Search::new(Query::parse(query, Reading { now, typing: false }).unwrap()) }
}

fn search(home: &Home, query: &str) -> Hits {
    home.engine.search(&asked(query)).unwrap()
}

/// The sessions and entries of hits, sorted.
fn found(hits: &Hits) -> Vec<(String, String)> {
    let name = |hit: &ramus_engine::Hit| {
        (hit.session.clone(), hit.entry.as_ref().map_or(hit.role.clone(), |entry| entry.to_string()))
    };
    let mut found: Vec<_> = hits.hits.iter().map(name).collect();
    found.sort();
    found
}

fn texts(home: &Home, query: &str) -> Vec<String> {
    let mut texts: Vec<String> = search(home, query).hits.iter().map(|hit| hit.snippet.text()).collect();
    texts.sort();
    texts
}

#[test]
fn a_search_may_ask_for_everything() {
    for home in homes() {
        home.saying(&["the parser fails", "the parser works"]);
        for limit in [usize::MAX, usize::MAX - 1, i64::MAX as usize] {
            let hits = home.engine.search(&Search { limit, ..asked("parser") }).unwrap();
            assert_eq!(hits.hits.len(), 2, "{limit} in {}", home.name);
        }
    }
}

#[test]
fn entries_are_found_by_their_words() {
    for home in homes() {
        let mut session = home.saying(&["the parser fails", "Größe im HTTPServer", "東京へ行く"]);
        home.engine.say(&mut session, Say::assistant("parse_header is fixed")).unwrap();
        home.engine.rename(&mut session, "Repairing the grammar").unwrap();
        for (query, expected) in [
            ("parser", &["the parser fails"][..]),
            ("fails THE", &["the parser fails"]),
            ("\"fails the\"", &[]),
            ("grosse", &["Größe im HTTPServer"]),
            ("server", &["Größe im HTTPServer"]),
            ("京へ", &["東京へ行く"]),
            ("parseHeader", &["parse_header is fixed"]),
            ("pars*", &["parse_header is fixed", "the parser fails"]),
            ("the -parser", &["Repairing the grammar"]),
            ("role:assistant", &["parse_header is fixed"]),
            ("grammar role:title", &["Repairing the grammar"]),
        ] {
            assert_eq!(texts(&home, query), expected, "{query} in {}", home.name);
        }
        let hits = search(&home, "fixed");
        let entry = hits.hits[0].entry.clone().unwrap();
        assert_eq!(
            home.engine.open(&hits.hits[0].session, "/").unwrap().resolve(entry.as_str()).unwrap(),
            saying(&session, "parse_header is fixed")
        );
    }
}

#[test]
fn labels_lead_to_what_bears_them() {
    let home = jsonl();
    let mut session = home.saying(&["one", "two"]);
    let one = saying(&session, "one");
    home.engine.label(&mut session, one, Some("milestone")).unwrap();
    let hits = search(&home, "milestone");
    assert_eq!(found(&hits), [(session.id().to_string(), session.entry_id(one).to_string())]);
    assert_eq!(hits.hits[0].role, "label");
    home.engine.label(&mut session, one, Some("other")).unwrap();
    assert!(search(&home, "milestone").hits.is_empty());
    home.engine.label(&mut session, one, None).unwrap();
    assert!(search(&home, "other").hits.is_empty());
}

#[test]
fn a_fork_does_not_double_what_it_shares() {
    let home = jsonl();
    let origin = home.saying(&["shared needle", "only here needle"]);
    let mut fork = home.fork(&origin, saying(&origin, "shared needle"));
    home.engine.say(&mut fork, Say::user("forked needle")).unwrap();
    let hits = search(&home, "needle");
    assert_eq!(hits.hits.len(), 3);
    let in_session = |session: &str| {
        let mut texts: Vec<String> = home
            .engine
            .search_session(session, "/", &asked("needle"))
            .unwrap()
            .hits
            .iter()
            .map(|hit| hit.snippet.text())
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(in_session(fork.id().as_str()), ["forked needle", "shared needle"]);
    assert_eq!(in_session(origin.id().as_str()), ["only here needle", "shared needle"]);
    assert_eq!(texts(&home, "needle is:fork"), ["forked needle"]);
}

#[test]
fn what_a_deleted_session_left_is_found_in_its_newest_fork() {
    let home = jsonl();
    let origin = home.saying(&["shared needle", "gone needle"]);
    let older = home.fork(&origin, saying(&origin, "shared needle"));
    let mut newer = home.fork(&origin, saying(&origin, "shared needle"));
    home.engine.say(&mut newer, Say::user("later")).unwrap();
    home.engine.delete(&origin, Children::Orphan, false).unwrap();
    let hits = search(&home, "needle");
    assert_eq!(hits.hits.len(), 1, "{:?}", found(&hits));
    assert_eq!(hits.hits[0].session, newer.id().to_string());
    drop(older);
}

#[test]
fn replaced_entries_are_history() {
    let home = jsonl();
    let mut session = home.saying(&["first needle", "second needle", "third"]);
    let (first, second) = (saying(&session, "first needle"), saying(&session, "second needle"));
    home.engine.replace_segment(&mut session, first, second, "summary of both").unwrap();
    assert!(search(&home, "needle").hits.is_empty());
    assert_eq!(search(&home, "summary").hits.len(), 1);
}

#[test]
fn sessions_are_chosen_by_what_is_known_of_them() {
    let home = jsonl();
    let make = |cwd: &str, text: &str| {
        let mut session = home.engine.create(NewSession { cwd: cwd.into(), ..NewSession::default() }).unwrap();
        home.engine.say(&mut session, Say::assistant(text)).unwrap();
        session
    };
    let mut one = make("/srv/shop", "needle one");
    make("/srv/other", "needle two");
    let set = json!({"set": {"tags": ["todo"], "starred": true, "archived_at": "2026-01-01T00:00:00Z"}});
    home.engine.append(&mut one, &[Draft::new(Body::ramus("meta", set))], &Cursor::Leaf).unwrap();
    for (query, expected) in [
        ("needle", &["needle one", "needle two"][..]),
        ("needle cwd:/srv/shop", &["needle one"]),
        ("needle cwd:/srv", &["needle one", "needle two"]),
        ("needle cwd:/srv/sho", &[]),
        ("needle cwd:othe", &["needle two"]),
        ("needle tag:TODO", &["needle one"]),
        ("needle -tag:todo", &["needle two"]),
        ("needle is:starred is:archived", &["needle one"]),
        ("needle -is:archived", &["needle two"]),
        ("needle after:2020", &["needle one", "needle two"]),
        ("needle before:2020", &[]),
    ] {
        assert_eq!(texts(&home, query), expected, "{query}");
    }
    let here = Search { directory: WhichDirectory::One("/srv/other".into()), ..asked("needle") };
    assert_eq!(home.engine.search(&here).unwrap().hits.len(), 1);
}

#[test]
fn damage_is_named_and_what_parses_is_found() {
    let home = jsonl();
    let session = home.saying(&["good needle", "bad needle"]);
    let file = session.location().path.clone().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(10).position(|window| window == b"bad needle").unwrap();
    bytes[at + 3] = 0;
    bytes.extend_from_slice(b"{\"type\":\"mess");
    std::fs::write(&file, bytes).unwrap();
    let hits = search(&home, "needle");
    assert_eq!(hits.hits.len(), 1);
    assert_eq!(hits.damaged, [session.id().to_string()]);
    let locked = home.saying(&["closed needle"]);
    let file = locked.location().path.clone().unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(search(&home, "needle").hits.len(), 1);
}
