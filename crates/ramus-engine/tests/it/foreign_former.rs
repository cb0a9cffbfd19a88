//! opencode and goose had a file for each session before they had a database: what is in both comes in once, and nothing is
//! passed over.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::foreign_world::{Machine, age};
use crate::homes::path;

const DATA: &str = ".local/share/opencode";

fn info(id: &str) -> Value {
    json!({"id": id, "projectID": "global", "directory": "/proj", "title": format!("About {id}"), "version": "1", "time": {"created": 1, "updated": 2}})
}

/// A message as an export has it.
fn message(session: &str, at: usize, text: &str) -> Value {
    let id = format!("msg_{session}_{at}");
    let part = json!({"type": "text", "text": text, "id": format!("prt_{session}_{at}"), "sessionID": session, "messageID": id});
    json!({"info": {"role": "user", "time": {"created": at}, "id": id, "sessionID": session}, "parts": [part]})
}

/// A session in the store of files.
fn file(machine: &Machine, id: &str, texts: &[&str]) -> PathBuf {
    for (at, text) in texts.iter().enumerate() {
        let message = message(id, at, text);
        let (info, part) = (&message["info"], &message["parts"][0]);
        let name = info["id"].as_str().unwrap();
        machine.write(&format!("{DATA}/storage/message/{id}/{name}.json"), info.to_string().as_bytes());
        let place = format!("{DATA}/storage/part/{name}/{}.json", part["id"].as_str().unwrap());
        machine.write(&place, part.to_string().as_bytes());
    }
    machine.write(&format!("{DATA}/storage/session/global/{id}.json"), info(id).to_string().as_bytes())
}

/// A database with sessions.
fn database(machine: &Machine, sessions: &[(&str, &[&str])]) -> PathBuf {
    let place = machine.path(&format!("{DATA}/opencode.db"));
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&place);
    let store = rusqlite::Connection::open(&place).unwrap();
    store
        .execute_batch(
            "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, directory TEXT, title TEXT, version TEXT,
                 time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);",
        )
        .unwrap();
    for (id, texts) in sessions {
        let title = format!("About {id}");
        let session = "INSERT INTO session VALUES (?1, 'global', '/proj', ?2, '1', 1, 3)";
        store.execute(session, [*id, &title]).unwrap();
        for (at, text) in texts.iter().enumerate() {
            let (name, part) = (format!("msg_{id}_{at}"), format!("prt_{id}_{at}"));
            let data = json!({"role": "user", "time": {"created": at}}).to_string();
            store.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", (&name, id, at.to_string(), data)).unwrap();
            let data = json!({"type": "text", "text": text}).to_string();
            store.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", (&part, &name, id, data)).unwrap();
        }
    }
    drop(store);
    age(&place);
    place
}

fn sessions(machine: &Machine) -> Vec<String> {
    let listed = machine.engine.list(&Default::default()).unwrap().sessions;
    let mut ids: Vec<String> = listed.iter().map(|session| session.id.to_string()).collect();
    ids.sort();
    ids
}

#[test]
fn h4_a_session_that_was_never_moved_to_the_database_comes_in() {
    for is_named in [false, true] {
        let machine = Machine::new();
        database(&machine, &[("ses_opencode1", &["One.", "Two."])]);
        // What was moved may have lost something since.
        file(&machine, "ses_opencode1", &["One, once.", "Two.", "Three."]);
        file(&machine, "ses_opencode2", &["Left behind."]);
        let import = || if is_named { machine.import_path(&machine.path(DATA)) } else { machine.import() };
        let done = import();
        assert_eq!((done.imported.len(), done.unchanged, done.failed.len()), (2, 1, 0), "{done:?}");
        assert_eq!(sessions(&machine), ["ses_opencode1", "ses_opencode2"]);
        assert_eq!(path(&machine.session("ses_opencode1")), ["One.", "Two."]);
        assert_eq!(path(&machine.session("ses_opencode2")), ["Left behind."]);
        let settled = machine.logs();
        for _ in 0..2 {
            let again = import();
            assert_eq!((again.imported.len(), again.grown.len(), again.unchanged), (0, 0, 3), "{again:?}");
            std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).ok();
        }
        assert_eq!(machine.logs(), settled);
    }
}

#[test]
fn h4_a_session_that_was_moved_to_the_database_goes_on_there() {
    let machine = Machine::new();
    file(&machine, "ses_opencode1", &["One.", "Two."]);
    assert_eq!(machine.import().imported.len(), 1);
    database(&machine, &[("ses_opencode1", &["One.", "Two.", "Three."])]);
    let done = machine.import();
    assert_eq!((done.imported.len(), done.grown.len(), done.failed.len()), (0, 1, 0), "{done:?}");
    assert_eq!(sessions(&machine), ["ses_opencode1"]);
    assert_eq!(path(&machine.session("ses_opencode1")), ["One.", "Two.", "Three."]);
}

#[test]
fn h4_what_opencode_exports_of_a_session_that_is_here_is_the_same_session() {
    let machine = Machine::new();
    database(&machine, &[("ses_opencode1", &["One.", "Two."])]);
    machine.import();
    let exported = |texts: &[&str]| {
        let messages: Vec<_> = texts.iter().enumerate().map(|(at, text)| message("ses_opencode1", at, text)).collect();
        let document = json!({"info": info("ses_opencode1"), "messages": messages});
        machine.write("export.json", serde_json::to_string_pretty(&document).unwrap().as_bytes())
    };
    let same = machine.import_path(&exported(&["One.", "Two."]));
    assert_eq!((same.imported.len(), same.grown.len(), same.unchanged), (0, 0, 1), "{same:?}");
    let longer = machine.import_path(&exported(&["One.", "Two.", "Three."]));
    assert_eq!((longer.imported.len(), longer.grown.len()), (0, 1), "{longer:?}");
    assert_eq!(sessions(&machine), ["ses_opencode1"]);
    // Something else is not.
    let other = machine.import_path(&exported(&["Once.", "Twice.", "Three."]));
    assert_eq!(other.imported.len(), 1, "{other:?}");
}

#[test]
fn h4_what_goose_moved_to_its_database_comes_in_once() {
    let machine = Machine::new();
    let place = ".local/share/goose/sessions";
    let lines = |text: &str| {
        let info = json!({"working_dir": "/proj", "description": "Before", "message_count": 1});
        let said = json!({"role": "user", "created": 1_754_900_000, "content": [{"type": "text", "text": text}]});
        format!("{info}\n{said}\n").into_bytes()
    };
    machine.write(&format!("{place}/20250811_1.jsonl"), &lines("Moved."));
    machine.write(&format!("{place}/20250811_2.jsonl"), &lines("Left behind."));
    let file = machine.path(&format!("{place}/sessions.db"));
    let store = rusqlite::Connection::open(&file).unwrap();
    store
        .execute_batch(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT);
             CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT,
                 content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
             INSERT INTO sessions VALUES ('20250811_1', 'Before', '/proj', '2025-08-11 10:00:00');
             INSERT INTO messages VALUES (1, 'msg_1', '20250811_1', 'user', '[{\"type\":\"text\",\"text\":\"Moved.\"}]',
                 1754900000, NULL);",
        )
        .unwrap();
    drop(store);
    age(&file);
    for (imported, unchanged) in [(2, 1), (0, 3)] {
        let done = machine.import();
        assert_eq!((done.imported.len(), done.unchanged, done.failed.len()), (imported, unchanged, 0), "{done:?}");
    }
    assert_eq!(sessions(&machine), ["goose-20250811_1", "goose-20250811_2"]);
    assert_eq!(path(&machine.session("goose-20250811_2")), ["Left behind."]);
}
