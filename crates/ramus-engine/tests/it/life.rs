//! The life of a session: seeded, archived, cleared, pruned and started over.

use std::fs;

use ramus_engine::{
    Boot, Cursor, Engine, ErrorKind, Filter, Purge, PurgeScope, RestoreOptions, Say, Session, TagChange,
};
use ramus_model::{Body, Draft};
use serde_json::json;

use crate::homes::{Home, clean, homes, jsonl, path, saying};

const SUBTREE: Purge = Purge { scope: PurgeScope::Subtree, dry_run: false };

fn answered(home: &Home, texts: &[&str]) -> Session {
    let mut session = home.saying(texts);
    home.engine.say(&mut session, Say::assistant("answer")).unwrap();
    session
}

fn listed(engine: &Engine, archived: bool) -> (usize, usize) {
    let listing = engine.list(&Filter { archived, ..Filter::default() }).unwrap();
    (listing.sessions.len(), listing.hidden.archived)
}

fn system(home: &Home, session: &mut Session, text: &str) {
    home.engine.say(session, Say { role: "system".into(), text: text.into(), ..Say::default() }).unwrap();
}

/// What a model is sent, in words.
fn sent(session: &Session) -> Vec<String> {
    let context = session.context(session.log().leaf()).unwrap();
    let lines = session.lines();
    let messages = ramus_model::context::provider::messages(session.log(), &context, &lines).unwrap();
    let spelled = |part: &Vec<u8>| String::from_utf8_lossy(part).into_owned();
    let said = |parts: &[Vec<u8>]| parts.iter().map(spelled).collect::<String>();
    messages.iter().map(|message| format!("{:?} {}", message.speaker, said(&message.parts))).collect()
}

#[test]
fn a18_archive_hides_and_unarchive_brings_back() {
    for home in homes() {
        let mut session = answered(&home, &["1"]);
        let one = saying(&session, "1");
        let _fork = home.fork(&session, one);
        let before = listed(&home.engine, false);
        home.engine.archive(&mut session).unwrap();
        let when = session.archived_at().unwrap();
        home.engine.archive(&mut session).unwrap();
        assert_eq!(home.reopened(&session).archived_at(), Some(when), "archiving twice is archiving once");
        let (shown, hidden) = listed(&home.engine, false);
        assert_eq!((shown, hidden), (before.0 - 1, 1), "{}: the fork is not touched", home.name);
        assert_eq!(listed(&home.engine, true).0, before.0);
        home.engine.say(&mut session, Say::user("it can be gone on with")).unwrap();
        home.engine.unarchive(&mut session).unwrap();
        assert_eq!((listed(&home.engine, false), session.archived_at()), (before, None));
    }
}

#[test]
fn a22_clear_keeps_only_system_messages_and_can_be_undone() {
    for home in homes() {
        let mut session = home.session();
        system(&home, &mut session, "be brief");
        home.engine.say(&mut session, Say::user("1")).unwrap();
        home.engine.say(&mut session, Say::assistant("2")).unwrap();
        system(&home, &mut session, "be kind");
        let before = sent(&session);
        let planned = home.engine.clear(&mut session, true).unwrap();
        assert_eq!((planned.messages, planned.kept, planned.entry), (2, 2, None));
        let cleared = home.engine.clear(&mut session, false).unwrap();
        assert_eq!((cleared.messages, cleared.kept), (2, 2));
        let after = sent(&home.reopened(&session));
        assert_eq!(after.len(), 1, "{after:?}");
        assert!(after[0].starts_with("System") && after[0].contains("be brief") && after[0].contains("be kind"));
        assert_eq!(home.engine.clear(&mut session, false).unwrap().entry, None, "there is nothing more to clear");
        home.engine.say(&mut session, Say::user("3")).unwrap();
        assert_eq!(sent(&session).len(), 2);
        for _ in 0..2 {
            home.engine.undo(&mut session, &RestoreOptions::default()).unwrap();
        }
        assert_eq!(sent(&session), before);
        clean(&home.bytes(&session));
    }
}

#[test]
fn a12_boot_seeds_once_and_a_reset_clears_it() {
    for home in homes() {
        let mut session = home.session();
        let seed = Boot { welcome: Some("Hello".into()), system: Some("be brief".into()) };
        let first = home.engine.boot(&mut session, &seed).unwrap().unwrap();
        assert!(first.is_new);
        let bytes = home.bytes(&session);
        let again = home.engine.boot(&mut home.reopened(&session), &Boot::default()).unwrap().unwrap();
        assert_eq!((again.entry, again.welcome.as_str(), again.is_new), (first.entry, "Hello", false));
        assert_eq!(home.bytes(&session), bytes, "booting again writes nothing");
        home.engine.say(&mut session, Say::user("1")).unwrap();
        assert!(!home.engine.boot(&mut session, &Boot::default()).unwrap().unwrap().is_new);
        home.engine.reset(&mut session, false).unwrap();
        assert!(home.engine.boot(&mut session, &Boot::default()).unwrap().unwrap().is_new);
        let mut said = home.saying(&["something"]);
        assert_eq!(home.engine.boot(&mut said, &Boot::default()).unwrap(), None, "too late to be the root");
    }
}

#[test]
fn a21_reset_wipes_the_history_and_counts_messages_anew() {
    for home in homes() {
        let mut session = answered(&home, &["secret one", "two"]);
        home.engine.rename(&mut session, "Kept").unwrap();
        home.engine.change_tags(&mut session, &TagChange::Add(vec!["kept".into()])).unwrap();
        let old = format!("{}-0001", session.namespace());
        assert!(session.resolve(&old).is_ok());
        let bytes = home.bytes(&session);
        let planned = home.engine.reset(&mut session, true).unwrap();
        assert_eq!((home.bytes(&session), planned.messages), (bytes, 3));
        let reset = home.engine.reset(&mut session, false).unwrap();
        assert_eq!((reset.messages, reset.workspace), (3, None));
        let mut session = home.reopened(&session);
        assert!(!String::from_utf8_lossy(&home.bytes(&session)).contains("secret"));
        assert_eq!((session.title().as_str(), session.tags()), ("Kept", vec!["kept".to_owned()]));
        assert_eq!((path(&session), session.leaf()), (Vec::new(), None));
        home.engine.say(&mut session, Say::user("anew")).unwrap();
        assert_ne!(session.namespace(), old.trim_end_matches("-0001"));
        assert!(session.resolve(&old).is_err(), "an old number never names a new message");
        assert!(session.resolve(&format!("{}-0001", session.namespace())).is_ok());
        home.engine.undo(&mut session, &RestoreOptions::default()).unwrap();
        let error = home.engine.undo(&mut session, &RestoreOptions::default()).unwrap_err();
        assert!(error.to_string().contains("reset"), "{error}");
        clean(&home.bytes(&session));
    }
}

#[test]
fn a21_a_session_that_was_forked_is_not_reset() {
    for home in homes() {
        let mut session = answered(&home, &["1"]);
        let mut fork = home.fork(&session, saying(&session, "1"));
        let bytes = home.bytes(&session);
        let error = home.engine.reset(&mut session, false).unwrap_err();
        assert!(error.to_string().contains(fork.id().as_str()), "{error}");
        assert_eq!((error.kind(), home.bytes(&session)), (ErrorKind::Conflict, bytes));
        assert_eq!(home.engine.reset(&mut fork, false).unwrap_err().kind(), ErrorKind::Conflict);
    }
}

/// 1 - 2 - secret - below, and another branch from 2.
fn with_secret(home: &Home) -> Session {
    let mut session = home.saying(&["1", "2", "secret"]);
    let secret = saying(&session, "secret");
    home.engine.label(&mut session, secret, Some("named")).unwrap();
    home.engine.rename(&mut session, "Title given there").unwrap();
    home.engine.say(&mut session, Say::assistant("secret answer")).unwrap();
    let two = saying(&session, "2");
    home.engine.branch(&mut session, two).unwrap();
    home.engine.say(&mut session, Say::user("other")).unwrap();
    session
}

#[test]
fn c18_purge_erases_a_subtree_and_keeps_the_rest_as_it_was() {
    for home in homes() {
        let mut session = with_secret(&home);
        let other = session.leaf().unwrap();
        let (seq, alias) = (session.resolve(other.as_str()).unwrap(), format!("{}-0005", session.namespace()));
        let before = home.bytes(&session);
        let secret = saying(&session, "secret");
        let planned = home.engine.purge(&mut session, secret, Purge { dry_run: true, ..SUBTREE }).unwrap();
        assert_eq!(home.bytes(&session), before);
        let purged = home.engine.purge(&mut session, secret, SUBTREE).unwrap();
        assert_eq!((purged.entries.len(), purged.messages, &purged.entries), (2, 2, &planned.entries));
        let mut session = home.reopened(&session);
        let bytes = home.bytes(&session);
        clean(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("secret") && !text.contains("named"), "{text}");
        assert_eq!(
            (path(&session), session.title()),
            (vec!["1".into(), "2".into(), "other".into()], "Title given there".into())
        );
        assert_eq!(session.resolve(other.as_str()).unwrap(), seq, "positions stay");
        assert_eq!(session.resolve(&alias).unwrap(), seq, "numbers stay");
        assert_eq!(session.tree(ramus_model::Scope::Visible).entries.len(), 3);
        // What comes later can be undone; the purge cannot.
        home.engine.say(&mut session, Say::user("more")).unwrap();
        home.engine.undo(&mut session, &RestoreOptions::default()).unwrap();
        assert_eq!(path(&session), ["1", "2", "other"]);
        let error = home.engine.undo(&mut session, &RestoreOptions::default()).unwrap_err();
        assert!(error.to_string().contains("purged"), "{error}");
    }
}

#[test]
fn c18_purging_the_leaf_goes_on_from_above_and_a_branch_goes_whole() {
    for home in homes() {
        let mut session = with_secret(&home);
        let answer = saying(&session, "secret answer");
        let purged =
            home.engine.purge(&mut session, answer, Purge { scope: PurgeScope::Branch, dry_run: false }).unwrap();
        assert_eq!(purged.messages, 2, "the branch begins where it parts from the other");
        let other = saying(&session, "other");
        home.engine.purge(&mut session, other, SUBTREE).unwrap();
        assert_eq!(path(&home.reopened(&session)), ["1", "2"]);
        let one = saying(&session, "1");
        home.engine.purge(&mut session, one, SUBTREE).unwrap();
        let mut session = home.reopened(&session);
        assert_eq!((path(&session), session.leaf()), (Vec::new(), None));
        home.engine.say(&mut session, Say::user("a new root")).unwrap();
        clean(&home.bytes(&session));
    }
}

#[test]
fn c18_forks_read_on_and_what_they_show_is_not_erased() {
    for home in homes() {
        let mut session = with_secret(&home);
        let (two, secret) = (saying(&session, "2"), saying(&session, "secret"));
        let fork = home.fork(&session, two);
        home.engine.say(&mut session, Say::user("later")).unwrap();
        let late = home.fork(&session, saying(&session, "later"));
        home.engine.purge(&mut session, secret, SUBTREE).unwrap();
        let text = home.bytes(&session);
        assert!(!String::from_utf8_lossy(&text).contains("secret"));
        assert_eq!(path(&home.reopened(&fork)), ["1", "2"]);
        assert_eq!(path(&home.reopened(&late)), ["1", "2", "other", "later"]);
        assert!(!home.reopened(&late).log().is_damaged());
        let error = home.engine.purge(&mut session, two, SUBTREE).unwrap_err();
        assert!(error.to_string().contains(fork.id().as_str()), "{error}");
        assert_eq!((error.kind(), home.bytes(&session)), (ErrorKind::Conflict, text));
        let mut fork = home.reopened(&fork);
        let shared = saying(&fork, "1");
        assert_eq!(home.engine.purge(&mut fork, shared, SUBTREE).unwrap_err().kind(), ErrorKind::Conflict);
    }
}

#[test]
fn c18_copies_blobs_and_replaced_segments_go_too() {
    let home = jsonl();
    let mut session = answered(&home, &["1", "2"]);
    let long = "long secret ".repeat(60_000);
    home.engine.say(&mut session, Say::user(&long)).unwrap();
    home.engine.say(&mut session, Say::user("end")).unwrap();
    let file = session.location().path.clone().unwrap();
    let backup = file.with_file_name(format!("{}.v1.bak", file.file_name().unwrap().to_str().unwrap()));
    fs::write(&backup, "an old secret").unwrap();
    home.store.set_aside(session.location(), 7, b"a torn secret", "test").unwrap();
    let blobs = home.directory.path().join("home/blobs");
    let count = || fs::read_dir(&blobs).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    assert_eq!(count(), 1);
    let (first, last) = (session.log().path(session.log().leaf())[3], saying(&session, "end"));
    let replaced = home.engine.replace_segment(&mut session, first, last, "in short").unwrap();
    let target = session.resolve(replaced.replacement.as_str()).unwrap();
    let purged = home.engine.purge(&mut session, target, SUBTREE).unwrap();
    assert_eq!((purged.copies.files.len(), purged.blobs), (3, 1));
    assert_eq!((backup.exists(), count()), (false, 0));
    assert_eq!(fs::read_dir(home.directory.path().join("home/quarantine")).unwrap().count(), 0);
    assert!(!String::from_utf8_lossy(&home.bytes(&session)).contains("secret"));
    assert_eq!(path(&home.reopened(&session)), ["1", "2", "answer"]);
    clean(&home.bytes(&session));
}

#[test]
fn what_another_program_writes_meanwhile_is_not_lost_by_a_purge() {
    let home = jsonl();
    let mut session = with_secret(&home);
    let secret = saying(&session, "secret");
    let mut late = home.reopened(&session);
    let message = json!({"role": "user", "content": "late"});
    home.engine.append(&mut late, &[Draft::new(Body::new("message", [("message", message)]))], &Cursor::Leaf).unwrap();
    home.engine.purge(&mut session, secret, SUBTREE).unwrap();
    assert_eq!(path(&home.reopened(&session)), ["1", "2", "other", "late"]);
}
