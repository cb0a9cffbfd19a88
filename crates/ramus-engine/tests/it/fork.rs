//! Forks by reference, forks of forks, and exports that stand on their own.

use ramus_engine::{Children, ErrorKind, ForkOptions, NewSession, Say};
use ramus_store::Residence;

use crate::homes::{clean, homes, jsonl, path, saying};

#[test]
fn a_fork_starts_where_it_says_and_goes_its_own_way() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        let mut fork = home.fork(&session, two);
        assert_eq!(path(&fork), ["1", "2"], "{}", home.name);
        home.engine.say(&mut fork, Say::user("mine")).unwrap();
        home.engine.say(&mut session, Say::user("4")).unwrap();
        let (fork, session) = (home.reopened(&fork), home.reopened(&session));
        assert_eq!(path(&fork), ["1", "2", "mine"]);
        assert_eq!(path(&session), ["1", "2", "3", "4"]);
        assert_eq!(fork.lineage().forked_from.unwrap().session, *session.id());
        assert_eq!(fork.tree(ramus_model::Scope::Visible).entries.len(), 3, "siblings in the origin do not show");
        assert!(home.bytes(&fork).len() < 1024 + 512, "no entry is copied");
        let two = session.line(saying(&session, "2")).unwrap();
        assert_eq!(fork.line(saying(&fork, "2")).unwrap(), two);
    }
}

#[test]
fn seq_continues_and_ids_are_kept() {
    for home in homes() {
        let session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        let mut fork = home.fork(&session, two);
        assert_eq!(fork.entry_id(two), session.entry_id(two), "{}", home.name);
        let written = home.engine.say(&mut fork, Say::user("mine")).unwrap();
        assert!(written.seq.number() > 3);
        assert_eq!(written.parent, Some(session.entry_id(two)));
    }
}

#[test]
fn forks_of_forks_and_later_changes_of_the_origin() {
    for home in homes() {
        let mut session = home.saying(&["1", "2"]);
        let two = saying(&session, "2");
        home.engine.label(&mut session, two, Some("good")).unwrap();
        let mut fork = home.fork_called(&session, two, Some("A"));
        home.engine.say(&mut fork, Say::user("a")).unwrap();
        let a = saying(&fork, "a");
        let mut second = home.fork_called(&fork, a, Some("B"));
        home.engine.say(&mut second, Say::user("b")).unwrap();
        // The origin changes after the fork: the fork does not.
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        let second = home.reopened(&second);
        assert_eq!(path(&second), ["1", "2", "a", "b"], "{}", home.name);
        assert_eq!(second.resolve("good").unwrap(), two);
        assert_eq!(second.title(), "B");
        assert_eq!(path(&home.reopened(&session)), ["1", "short"]);
    }
}

#[test]
fn a_fork_of_replaced_entries_sees_the_replacement() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        let three = saying(&session, "3");
        let fork = home.fork(&session, three);
        assert_eq!(path(&fork), ["1", "short", "3"], "{}", home.name);
        let exported = home.engine.export(&fork).unwrap();
        let log = clean(&exported);
        assert_eq!(log.path(log.leaf()).len(), 3);
    }
}

#[test]
fn an_exported_fork_stands_on_its_own() {
    for home in homes() {
        let session = home.saying(&["1", "2", "3"]);
        let mut fork = home.fork(&session, saying(&session, "2"));
        home.engine.say(&mut fork, Say::user("mine")).unwrap();
        let exported = home.engine.export(&fork).unwrap();
        clean(&exported);
        let file = home.directory.path().join("exported.jsonl");
        std::fs::write(&file, exported).unwrap();
        let again = jsonl().engine.open(file.to_str().unwrap(), "/").unwrap();
        assert_eq!(path(&again), ["1", "2", "mine"], "{}", home.name);
        assert_eq!(again.id(), fork.id());
        assert_eq!(home.engine.export(&session).unwrap(), home.bytes(&session), "what stands alone is copied as it is");
    }
}

#[test]
fn a_fork_with_an_answer_is_published_at_once() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    let early = home.fork(&session, saying(&session, "1"));
    let late = home.fork(&session, saying(&session, "2"));
    assert_eq!((early.residence(), late.residence()), (Residence::Draft, Residence::Published));
}

#[test]
fn children_stay_or_go_with_their_parent() {
    for home in homes() {
        let parent = home.session();
        let spawn = |parent: &ramus_engine::Session| {
            let new = NewSession { cwd: "/proj".into(), parent: Some(parent.id().clone()), ..NewSession::default() };
            home.engine.create(new).unwrap()
        };
        let child = spawn(&parent);
        let grandchild = spawn(&child);
        let bystander = home.session();
        let would = home.engine.delete(&parent, Children::Cascade, true).unwrap();
        assert_eq!(would.children, [child.id().clone(), grandchild.id().clone()], "{}", home.name);
        assert_eq!(home.store.list().unwrap().len(), 4, "a dry run removes nothing");
        home.engine.delete(&grandchild, Children::Orphan, false).unwrap();
        let gone = home.engine.delete(&parent, Children::Orphan, false).unwrap();
        assert_eq!(gone.children, [child.id().clone()]);
        assert_eq!(home.store.list().unwrap().len(), 2, "the child stays");
        let parent = home.session();
        let _child = spawn(&parent);
        home.engine.delete(&parent, Children::Cascade, false).unwrap();
        let left: Vec<_> = home.store.list().unwrap().into_iter().map(|at| at.id).collect();
        assert!(left.contains(bystander.id()) && left.contains(child.id()) && left.len() == 2);
    }
}

#[test]
fn a_fork_cannot_be_taken_to_what_it_does_not_show() {
    for home in homes() {
        let session = home.saying(&["1", "2", "3", "4"]);
        let four = saying(&session, "4");
        let mut fork = home.fork(&session, saying(&session, "2"));
        assert_eq!(fork.resolve("#4").unwrap_err().kind(), ErrorKind::NotFound, "{}", home.name);
        assert_eq!(fork.resolve(session.entry_id(four).as_str()).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(home.engine.branch(&mut fork, four).is_err());
        let line = format!(
            r#"{{"type":"message","parentId":"{}","message":{{"role":"user","content":"x"}}}}"#,
            session.entry_id(four)
        );
        let draft = ramus_model::Draft::parse(line.as_bytes()).unwrap();
        assert!(home.engine.append(&mut fork, &[draft], &ramus_engine::Cursor::Leaf).is_err());
    }
}

#[test]
fn an_export_has_every_entry_once_and_its_labels() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3", "4"]);
        let two = saying(&session, "2");
        home.engine.label(&mut session, two, Some("here")).unwrap();
        let mut fork = home.fork(&session, saying(&session, "4"));
        let three = saying(&fork, "3");
        home.engine.replace_segment(&mut fork, three, three, "short").unwrap();
        let log = clean(&home.engine.export(&fork).unwrap());
        let named: Vec<_> = log.facts().labelled("here").map(ToString::to_string).collect();
        assert_eq!(named, [session.entry_id(two).to_string()], "{}", home.name);
        let file = home.directory.path().join("exported.jsonl");
        std::fs::write(&file, home.engine.export(&fork).unwrap()).unwrap();
        assert_eq!(path(&jsonl().engine.open(file.to_str().unwrap(), "/").unwrap()), ["1", "2", "short", "4"]);
    }
}

#[test]
fn forks_of_forks_have_no_end() {
    for home in homes() {
        let mut session = home.saying(&["0"]);
        for n in 1..70 {
            session = home.fork_called(&session, session.log().leaf().unwrap(), Some("x"));
            home.engine.say(&mut session, Say::user(n.to_string())).unwrap();
        }
        assert_eq!(path(&home.reopened(&session)).len(), 70, "{}", home.name);
        assert!(!home.reopened(&session).log().is_damaged());
    }
}

#[test]
fn titles_that_would_hide_the_fork_link_are_refused() {
    for home in homes() {
        let session = home.saying(&["1"]);
        let one = saying(&session, "1");
        let long = ForkOptions { title: Some("x".repeat(5000)) };
        assert!(home.engine.fork(&session, one, &long).is_err(), "{}", home.name);
        let fork = home.fork_called(&session, one, Some(&"x".repeat(4096)));
        assert_eq!(path(&home.reopened(&fork)), ["1"]);
        let deleted = home.engine.delete(&session, Children::Orphan, true).unwrap();
        assert_eq!(deleted.kept[0].forks, [fork.id().clone()], "its header is still found");
    }
}

#[test]
fn what_is_torn_at_the_end_of_the_origin_is_no_part_of_a_fork() {
    let home = jsonl();
    let session = home.saying(&["1", "2"]);
    let path = session.location().path.clone().unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], br#"{"type":"message","id":"torn","parentId":null,"timestamp":"2026"#].concat())
        .unwrap();
    let mut origin = home.reopened(&session);
    let mut fork = home.fork(&origin, saying(&origin, "2"));
    let own = home.engine.say(&mut fork, Say::user("mine")).unwrap();
    // The next append cuts the tail off and writes where it was.
    home.engine.say(&mut origin, Say::user("3")).unwrap();
    let again = home.reopened(&fork);
    assert_eq!(again.log().seq_of(own.id.as_str()), Some(own.seq), "nothing came in between");
}

#[test]
fn a_fork_is_made_without_reading_its_origin() {
    let home = jsonl();
    let origin = home.saying(&["1", "2"]);
    let path = origin.location().path.clone().unwrap();
    let mut garbled = std::fs::read(&path).unwrap();
    let length = garbled.len();
    garbled[200..].fill(b'x');
    std::fs::write(&path, &garbled).unwrap();
    let forked = home.engine.fork(&origin, origin.log().leaf().unwrap(), &ForkOptions::default()).unwrap();
    let file = std::fs::read(forked.location.path.unwrap()).unwrap();
    assert!(file.len() < 1024, "{} bytes", file.len());
    assert!(String::from_utf8(file).unwrap().contains(&format!("\"offset\":{length}")));
}

#[test]
fn a_fork_is_not_made_of_a_file_that_was_replaced() {
    let home = jsonl();
    let session = home.saying(&["one", "two", "three"]);
    let file = session.location().path.clone().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    // Records without a byte between them: a repair moves what follows.
    let (header, entries) = text.split_once('\n').unwrap();
    std::fs::write(&file, format!("{header}\n{}\n", entries.replace('\n', ""))).unwrap();
    let stale = home.reopened(&session);
    let three = saying(&stale, "three");
    assert!(!home.engine.repair(session.id().as_str(), "/proj").unwrap().actions.is_empty());
    let refused = home.engine.fork(&stale, three, &ForkOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let fork = home.fork(&home.reopened(&session), three);
    assert_eq!(path(&fork), ["one", "two", "three"]);
}
