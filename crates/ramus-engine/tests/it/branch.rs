//! Moving the leaf: back, away, to nothing, and with a summary; always durable.

use ramus_engine::{EngineError, ErrorKind, Say};
use serde_json::Value;

use crate::homes::{clean, homes, path, saying};

#[test]
fn branch_at_three_of_four_and_go_on_then_come_back() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3", "4"]);
        let three = saying(&session, "3");
        home.engine.branch(&mut session, three).unwrap();
        let mut session = home.reopened(&session);
        assert_eq!(path(&session), ["1", "2", "3"], "{}: the leaf survives", home.name);
        for text in ["5", "6"] {
            home.engine.say(&mut session, Say::user(text)).unwrap();
        }
        let mut session = home.reopened(&session);
        assert_eq!(path(&session), ["1", "2", "3", "5", "6"], "{}", home.name);
        let four = saying(&session, "4");
        home.engine.branch(&mut session, four).unwrap();
        let session = home.reopened(&session);
        assert_eq!(path(&session), ["1", "2", "3", "4"], "{}", home.name);
        assert_eq!(session.leaves().len(), 2);
        clean(&home.bytes(&session));
    }
}

#[test]
fn branching_to_the_leaf_writes_nothing() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        let before = home.bytes(&session);
        let leaf = session.log().leaf().unwrap();
        home.engine.branch(&mut session, leaf).unwrap();
        assert_eq!(home.bytes(&session), before, "{}", home.name);
    }
}

#[test]
fn a_reset_leaf_starts_a_new_root() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        home.engine.reset_leaf(&mut session).unwrap();
        let mut session = home.reopened(&session);
        assert_eq!(session.leaf(), None, "{}", home.name);
        assert!(session.context(session.log().leaf()).unwrap().items.is_empty());
        home.engine.say(&mut session, Say::user("afresh")).unwrap();
        assert_eq!(path(&session), ["afresh"]);
        assert_eq!(session.tree(ramus_model::Scope::Visible).roots.len(), 2);
    }
}

#[test]
fn a_summary_of_the_path_left_becomes_the_leaf() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let one = saying(&session, "1");
        let id = home.engine.branch_with_summary(&mut session, Some(one), "tried two and three").unwrap();
        assert_eq!(session.leaf(), Some(id.clone()), "{}", home.name);
        assert_eq!(path(&session), ["1", "tried two and three"]);
        let line: Value =
            serde_json::from_slice(&session.line(session.log().seq_of(id.as_str()).unwrap()).unwrap()).unwrap();
        assert_eq!(line["fromId"], line["parentId"]);
        let id = home.engine.branch_with_summary(&mut session, None, "everything").unwrap();
        let line: Value =
            serde_json::from_slice(&session.line(session.log().seq_of(id.as_str()).unwrap()).unwrap()).unwrap();
        assert_eq!((&line["fromId"], &line["parentId"]), (&Value::from("root"), &Value::Null));
    }
}

#[test]
fn what_is_not_in_the_conversation_cannot_be_branched_to() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let one = saying(&session, "1");
        let label = home.engine.label(&mut session, one, Some("start")).unwrap();
        let before = home.bytes(&session);
        let refused = home.engine.branch(&mut session, label.seq);
        assert!(matches!(refused, Err(EngineError::Invalid(_))), "{}", home.name);
        let unknown = session.resolve("nowhere").unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        assert_eq!(home.bytes(&session), before);
    }
}

#[test]
fn labels_name_entries_and_can_be_cleared() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        let one = saying(&session, "1");
        home.engine.label(&mut session, one, Some("start")).unwrap();
        let mut session = home.reopened(&session);
        assert_eq!(session.resolve("start").unwrap(), one, "{}", home.name);
        assert_eq!(path(&session), ["1", "2"], "a label is not a leaf");
        home.engine.label(&mut session, one, None).unwrap();
        assert!(home.reopened(&session).resolve("start").is_err());
        for bad in ["", "  ", "a@b", "#1", "--", "x\u{1b}[0m"] {
            assert!(home.engine.label(&mut session, one, Some(bad)).is_err(), "{bad:?}");
        }
        let id = session.entry_id(saying(&session, "2"));
        assert!(home.engine.label(&mut session, one, Some(id.as_str())).is_err(), "an id is no label");
    }
}
