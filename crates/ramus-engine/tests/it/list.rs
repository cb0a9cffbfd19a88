//! Listing, finding, paging, metadata, titles, settings.

use ramus_engine::settings::{Layer, Settings, Source, resolve_model, resolve_provider};
use ramus_engine::{ErrorKind, Filter, NewSession, Say, Treatment, WhichDirectory};
use ramus_store::Residence;
use serde_json::{Map, json};

use crate::homes::{homes, jsonl, path, saying};

#[test]
fn sessions_are_listed_newest_first_and_what_is_hidden_is_counted() {
    let home = jsonl();
    let make = |cwd: &str, title: &str, answered: bool| {
        let new = NewSession { cwd: cwd.into(), title: Some(title.into()), ..NewSession::default() };
        let mut session = home.engine.create(new).unwrap();
        if answered {
            home.engine.say(&mut session, Say::assistant("ok")).unwrap();
        }
        session
    };
    make("/a", "first", true);
    make("/a", "draft", false);
    make("/b", "elsewhere", true);
    let last = make("/a", "last", true);
    let here = Filter { directory: WhichDirectory::One("/a".into()), ..Filter::default() };
    let listing = home.engine.list(&here).unwrap();
    let titles: Vec<&str> = listing.sessions.iter().map(|info| info.title.as_str()).collect();
    assert_eq!(titles, ["last", "first"]);
    assert_eq!((listing.hidden.drafts, listing.hidden.other_directories), (1, 1));
    let all = home.engine.list(&Filter { drafts: true, ..Filter::default() }).unwrap();
    assert_eq!(all.sessions.len(), 4);
    let first = home.engine.list(&Filter { limit: Some(1), ..here.clone() }).unwrap();
    let rest = home.engine.list(&Filter { cursor: first.next_cursor, ..here }).unwrap();
    assert_eq!(rest.sessions[0].title, "first");
    let found = home.engine.list(&Filter { text: Some("ELSE".into()), ..Filter::default() }).unwrap();
    assert_eq!(found.sessions.len(), 1);
    assert_eq!(home.engine.open("last", "/a").unwrap().id(), last.id());
    let fresh = make("/a", "just started", false);
    assert_eq!(home.engine.open("last", "/a").unwrap().id(), fresh.id(), "a draft counts");
    let fork = home.fork(&last, last.log().leaf().unwrap());
    assert_eq!(home.engine.open("last", "/a").unwrap().id(), fork.id(), "so does a fork that nothing was said in yet");
    let nothing = home.engine.open("last", "/nowhere").map(drop).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::NotFound);
}

#[test]
fn sessions_are_found_by_unique_prefix() {
    for home in homes() {
        let session = home.session();
        let id = session.id().as_str();
        assert_eq!(home.engine.open(&id[..30], "/").unwrap().id(), session.id(), "{}", home.name);
        let _second = home.session();
        let ambiguous = home.engine.open(&id[..4], "/").map(drop).unwrap_err();
        assert_eq!(ambiguous.kind(), ErrorKind::Ambiguous);
        for missing in ["zzzz", "abc", "/no/such.jsonl", "x.jsonl"] {
            let missing = home.engine.open(missing, "/").map(drop).unwrap_err();
            assert_eq!(missing.kind(), ErrorKind::NotFound);
        }
    }
}

#[test]
fn a_damaged_file_is_listed_as_damaged() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    let file = session.location().path.clone().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"mess");
    std::fs::write(&file, bytes).unwrap();
    let listing = home.engine.list(&Filter::default()).unwrap();
    assert!(listing.sessions[0].damaged);
    let diagnosis = home.engine.doctor(session.id().as_str(), "/").unwrap();
    assert!(!diagnosis.is_clean());
    assert_eq!(diagnosis.findings[0].kind.name(), "torn-tail");
    assert_eq!(home.engine.doctor_all(Treatment::LookOnly).unwrap().len(), 1);
}

#[test]
fn messages_come_in_pages() {
    for home in homes() {
        let session = home.saying(&["1", "2", "3", "4", "5"]);
        let mut texts = Vec::new();
        let mut cursor = None;
        loop {
            let page = session.messages(session.log().leaf(), Some(2), cursor.as_deref()).unwrap();
            assert!(page.messages.len() <= 2);
            texts.extend(page.messages.iter().map(|view| view.message.text()));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(texts, ["1", "2", "3", "4", "5"], "{}", home.name);
        assert!(session.messages(session.log().leaf(), None, Some("bogus")).is_err());
        assert_eq!(session.last_user_message().unwrap().unwrap().message.text(), "5");
        let three = session.messages(Some(saying(&session, "3")), None, None).unwrap();
        assert_eq!(three.messages.len(), 3);
    }
}

#[test]
fn metadata_titles_and_directories_change_by_the_last_word() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        assert!(session.title().starts_with("New session - 20"), "{}", session.title());
        home.engine.rename(&mut session, "  A \n title ").unwrap();
        home.engine
            .set_metadata(
                &mut session,
                Map::from_iter([("k".to_owned(), json!({"n": 1})), ("gone".to_owned(), json!(1))]),
            )
            .unwrap();
        home.engine.set_metadata(&mut session, Map::from_iter([("gone".to_owned(), json!(null))])).unwrap();
        home.engine.move_to(&mut session, "/moved").unwrap();
        let session = home.reopened(&session);
        assert_eq!((session.title().as_str(), session.cwd()), ("A title", "/moved"), "{}", home.name);
        assert_eq!(session.metadata(), Map::from_iter([("k".to_owned(), json!({"n": 1}))]));
        assert_eq!(path(&session), ["1"], "metadata is not on the path");
    }
}

#[test]
fn a_published_session_moves_with_its_directory() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    home.engine.move_to(&mut session, "/other/place").unwrap();
    let session = home.reopened(&session);
    assert_eq!(session.residence(), Residence::Published);
    assert!(session.location().path.as_ref().unwrap().parent().unwrap().ends_with("--other-place--"));
}

#[test]
fn the_model_comes_from_the_call_the_path_or_the_settings() {
    let home = jsonl();
    let settings = Settings::defaults().unwrap();
    let session = home.session();
    let state = session.context(None).unwrap().state;
    assert_eq!(resolve_model(None, &state, "default", &settings), None);
    let saved = settings.with_user_file("default_model = \"openai/gpt\"\n", "config.toml").unwrap();
    let model = resolve_model(None, &state, "default", &saved).unwrap();
    assert_eq!((model.value.as_str(), model.source), ("openai/gpt", Source::Setting(Layer::User)));
    let new = NewSession { model: Some("google/gem".into()), ..NewSession::default() };
    let session = home.engine.create(new).unwrap();
    let state = session.context(session.log().leaf()).unwrap().state;
    let model = resolve_model(Some(""), &state, "smol", &saved).unwrap();
    assert_eq!((model.value.as_str(), model.source), ("google/gem", Source::Path));
    assert_eq!(resolve_provider(None, Some(&model), &saved).unwrap().value, "google");
    let called = resolve_model(Some("x/y"), &state, "default", &saved).unwrap();
    assert_eq!(called.source, Source::Call);
}
