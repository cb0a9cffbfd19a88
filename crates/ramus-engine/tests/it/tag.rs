//! Tags and stars: rules, order, and writers that meet.

use std::thread;

use ramus_engine::{ErrorKind, TagChange};

use crate::homes::homes;

fn owned(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

#[test]
fn tags_are_added_removed_and_replaced() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let mut change = |change| home.engine.change_tags(&mut session, &change).unwrap();
        assert_eq!(change(TagChange::Add(owned(&["b", " a ", "b", "two\n words"]))), ["a", "b", "two words"]);
        assert_eq!(change(TagChange::Remove(owned(&["b", "none", "two  words"]))), ["a"]);
        assert_eq!(change(TagChange::Set(owned(&["z", "y"]))), ["y", "z"]);
        let before = home.bytes(&session);
        let mut change = |change| home.engine.change_tags(&mut session, &change).unwrap();
        change(TagChange::Add(owned(&["y"])));
        change(TagChange::Remove(owned(&["a"])));
        change(TagChange::Set(owned(&["y", "z"])));
        assert_eq!(home.bytes(&session), before, "{}: nothing is written for nothing", home.name);
        assert_eq!(home.reopened(&session).tags(), ["y", "z"]);
        home.engine.change_tags(&mut session, &TagChange::Set(Vec::new())).unwrap();
        assert_eq!(home.reopened(&session).tags(), Vec::<String>::new());
        assert_eq!(crate::homes::path(&session), ["1"], "tags are not on the path");
    }
}

#[test]
fn what_cannot_be_a_tag_is_refused() {
    for home in homes() {
        let mut session = home.session();
        let before = home.bytes(&session);
        let many = (0..101).map(|n| n.to_string()).collect();
        for bad in [vec![String::new()], owned(&[" \t"]), owned(&["ok", "a\u{1b}[31m"]), vec!["x".repeat(101)], many] {
            let error = home.engine.change_tags(&mut session, &TagChange::Add(bad)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
        assert_eq!(home.bytes(&session), before, "{}", home.name);
    }
}

#[test]
fn a_star_is_there_or_not() {
    for home in homes() {
        let mut session = home.session();
        home.engine.set_starred(&mut session, true).unwrap();
        let before = home.bytes(&session);
        home.engine.set_starred(&mut session, true).unwrap();
        assert_eq!(home.bytes(&session), before, "{}", home.name);
        assert!(home.reopened(&session).info().unwrap().starred);
        home.engine.set_starred(&mut session, false).unwrap();
        assert!(!home.reopened(&session).starred());
    }
}

#[test]
fn whoever_tags_at_the_same_time_loses_nothing() {
    const WRITERS: usize = 4;
    const EACH: usize = 10;
    for home in homes() {
        let session = home.saying(&["1"]);
        // Each opens before any writes, as processes would.
        let open: Vec<_> = (0..WRITERS).map(|_| home.reopened(&session)).collect();
        thread::scope(|scope| {
            for (writer, mut session) in open.into_iter().enumerate() {
                let engine = home.engine.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        let add = TagChange::Add(vec![format!("{writer}-{n}"), format!("gone-{writer}")]);
                        engine.change_tags(&mut session, &add).unwrap();
                        engine.change_tags(&mut session, &TagChange::Remove(vec![format!("gone-{writer}")])).unwrap();
                    }
                });
            }
        });
        let tags = home.reopened(&session).tags();
        assert_eq!(tags.len(), WRITERS * EACH, "{}: {tags:?}", home.name);
    }
}

#[test]
fn a_fork_starts_without_the_tags_of_its_origin() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        home.engine.change_tags(&mut session, &TagChange::Add(owned(&["a"]))).unwrap();
        home.engine.set_starred(&mut session, true).unwrap();
        let fork = home.fork(&session, session.log().leaf().unwrap());
        assert_eq!((fork.tags(), fork.starred()), (Vec::new(), false), "{}", home.name);
    }
}
