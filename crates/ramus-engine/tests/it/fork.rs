//! Forks by reference, forks of forks, and exports that stand on their own.

use ramus_engine::{Children, ErrorKind, ForkOptions, NewSession, Say};
use ramus_store::Residence;

use crate::homes::{clean, homes, jsonl, path, saying};

#[test]
fn a_fork_starts_where_it_says_and_goes_its_own_way() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        let mut fork = home.engine.fork(&session, two, &ForkOptions::default()).unwrap();
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
        let mut fork = home.engine.fork(&session, two, &ForkOptions::default()).unwrap();
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
        let mut fork = home.engine.fork(&session, two, &ForkOptions { title: Some("A".into()) }).unwrap();
        home.engine.say(&mut fork, Say::user("a")).unwrap();
        let a = saying(&fork, "a");
        let mut second = home.engine.fork(&fork, a, &ForkOptions { title: Some("B".into()) }).unwrap();
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
        let fork = home.engine.fork(&session, three, &ForkOptions::default()).unwrap();
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
        let mut fork = home.engine.fork(&session, saying(&session, "2"), &ForkOptions::default()).unwrap();
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
fn what_forks_stand_on_cannot_be_deleted() {
    for home in homes() {
        let session = home.saying(&["1"]);
        let fork = home.engine.fork(&session, saying(&session, "1"), &ForkOptions::default()).unwrap();
        let refused = home.engine.delete(&session, Children::Orphan, false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{}", home.name);
        assert!(refused.to_string().contains(fork.id().as_str()));
        home.engine.delete(&fork, Children::Orphan, false).unwrap();
        home.engine.delete(&session, Children::Orphan, false).unwrap();
        let gone = home.engine.open(session.id().as_str(), "/proj").map(drop).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn a_fork_with_an_answer_is_published_at_once() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    let early = home.engine.fork(&session, saying(&session, "1"), &ForkOptions::default()).unwrap();
    let late = home.engine.fork(&session, saying(&session, "2"), &ForkOptions::default()).unwrap();
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
        let mut fork = home.engine.fork(&session, saying(&session, "2"), &ForkOptions::default()).unwrap();
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
        let mut fork = home.engine.fork(&session, saying(&session, "4"), &ForkOptions::default()).unwrap();
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
            session = home
                .engine
                .fork(&session, session.log().leaf().unwrap(), &ForkOptions { title: Some("x".into()) })
                .unwrap();
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
        let fork = home.engine.fork(&session, one, &ForkOptions { title: Some("x".repeat(4096)) }).unwrap();
        assert_eq!(path(&home.reopened(&fork)), ["1"]);
        assert!(home.engine.delete(&session, Children::Orphan, false).is_err());
    }
}
