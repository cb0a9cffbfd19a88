//! Replacing a segment, on every branch that hung from it.

use ramus_engine::{Cursor, ErrorKind, Say};
use ramus_model::Draft;

use crate::homes::{clean, homes, path, path_to, saying};

#[test]
fn every_branch_off_the_segment_hangs_from_the_replacement() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3", "4"]);
        let two = saying(&session, "2");
        home.engine.branch(&mut session, two).unwrap();
        home.engine.say(&mut session, Say::user("b")).unwrap();
        let four = saying(&session, "4");
        home.engine.branch(&mut session, four).unwrap();
        let three = saying(&session, "3");
        let done = home.engine.replace_segment(&mut session, two, three, "2 and 3 in short").unwrap();
        assert_eq!(done.replaced.len(), 2);
        let session = home.reopened(&session);
        assert_eq!(path(&session), ["1", "2 and 3 in short", "4"], "{}", home.name);
        assert_eq!(path_to(&session, Some(saying(&session, "b"))), ["1", "2 and 3 in short", "b"]);
        let reparented: Vec<_> = done
            .reparented
            .iter()
            .map(|id| session.message(session.resolve(id.as_str()).unwrap()).unwrap().unwrap().text())
            .collect();
        assert_eq!(reparented, ["4", "b"]);
        clean(&home.bytes(&session));
        let context = session.context(session.log().leaf()).unwrap();
        assert_eq!(context.items.len(), 3);
    }
}

#[test]
fn a_replaced_leaf_moves_to_the_replacement() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let (two, three) = (saying(&session, "2"), saying(&session, "3"));
        let done = home.engine.replace_segment(&mut session, two, three, "short").unwrap();
        assert_eq!(home.reopened(&session).leaf(), Some(done.replacement), "{}", home.name);
        let one = saying(&session, "1");
        let root = home.engine.replace_segment(&mut session, one, one, "start").unwrap();
        let session = home.reopened(&session);
        assert_eq!(path(&session), ["start", "short"]);
        assert_eq!(root.reparented.len(), 1);
    }
}

#[test]
fn bad_segments_change_nothing() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let (one, three) = (saying(&session, "1"), saying(&session, "3"));
        let before = home.bytes(&session);
        let backwards = home.engine.replace_segment(&mut session, three, one, "x").unwrap_err();
        assert_eq!(backwards.kind(), ErrorKind::Invalid);
        for bad in [vec![], vec![one, one], vec![one, three]] {
            assert_eq!(home.engine.replace_entries(&mut session, &bad, "x").unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert!(home.engine.replace_segment(&mut session, one, one, "  ").is_err());
        assert_eq!(home.bytes(&session), before, "{}", home.name);
    }
}

#[test]
fn what_was_replaced_cannot_be_replaced_or_branched_to_again() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        assert!(home.engine.replace_segment(&mut session, two, two, "again").is_err(), "{}", home.name);
        assert!(home.engine.branch(&mut session, two).is_err());
    }
}

#[test]
fn a_compaction_that_kept_from_inside_keeps_from_the_replacement() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3", "4"]);
        let kept = session.entry_id(saying(&session, "3"));
        let compaction =
            format!(r#"{{"type":"compaction","summary":"S","firstKeptEntryId":"{kept}","tokensBefore":9}}"#);
        home.engine.append(&mut session, &[Draft::parse(compaction.as_bytes()).unwrap()], &Cursor::Leaf).unwrap();
        home.engine.say(&mut session, Say::user("5")).unwrap();
        assert_eq!(session.context(session.log().leaf()).unwrap().items.len(), 4);
        let (two, three) = (saying(&session, "2"), saying(&session, "3"));
        home.engine.replace_segment(&mut session, two, three, "short").unwrap();
        let session = home.reopened(&session);
        // The summary, the replacement, 4 and 5.
        assert_eq!(session.context(session.log().leaf()).unwrap().items.len(), 4, "{}", home.name);
        clean(&home.bytes(&session));
    }
}

#[test]
fn titles_and_labels_keep_their_last_word() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        let (one, two) = (saying(&session, "1"), saying(&session, "2"));
        home.engine.rename(&mut session, "OLD").unwrap();
        home.engine.label(&mut session, one, Some("old")).unwrap();
        home.engine.say(&mut session, Say::user("3")).unwrap();
        home.engine.rename(&mut session, "NEW").unwrap();
        home.engine.label(&mut session, one, Some("new")).unwrap();
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        // Readers that know nothing of later versions take the last title and the last label in the file.
        let text = String::from_utf8(home.bytes(&session)).unwrap();
        let last = |needle: &str| text.lines().rfind(|line| line.contains(needle)).unwrap().to_owned();
        assert!(last("session_info").contains("NEW"), "{}", home.name);
        assert!(last("\"type\":\"label\"").contains("\"new\""));
        assert_eq!(home.reopened(&session).title(), "NEW");
    }
}

#[test]
fn a_prefix_still_names_one_entry_when_there_is_a_later_version() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let (two, three) = (saying(&session, "2"), saying(&session, "3"));
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        let prefix = session.entry_id(three).as_str()[..7].to_owned();
        assert_eq!(session.resolve(&prefix).unwrap(), three, "{}", home.name);
    }
}
