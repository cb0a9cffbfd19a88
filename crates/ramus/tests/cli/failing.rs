//! What happens when it cannot be done: messages, kinds and exit codes, always on stderr.

use serde_json::Value;

use crate::world::{World, snapshot};

#[test]
fn every_kind_of_failure() {
    let world = World::new();
    let session = world.branched();
    let second = world.session();
    let at = |entry: &str| format!("{session}@{entry}");
    let (nowhere, long, shared) = (at("nowhere"), at("#99"), at("aaaa00"));
    let cases: Vec<(i32, Vec<&str>)> = vec![
        (2, vec!["show"]),
        (2, vec!["frobnicate"]),
        (2, vec!["list", "--limit", "0"]),
        (2, vec!["branch", &session]),
        (2, vec!["tree", &nowhere]),
        (2, vec!["delete", &session]),
        (2, vec!["meta", &session, "x:={"]),
        (2, vec!["config", "get", "defualt_model"]),
        (2, vec!["config", "set", "layout", "flat"]),
        (3, vec!["show", "ffff"]),
        (3, vec!["show", "no/such/file.jsonl"]),
        (3, vec!["branch", &nowhere]),
        (3, vec!["entry", &long]),
        (3, vec!["meta", &session, "nothing"]),
        (3, vec!["state", "ffff@-"]),
        (1, vec!["entry", &shared]),
        (1, vec!["fork", &second]),
        (1, vec!["label", &shared, "x"]),
        (1, vec!["new", "--model", "nameless"]),
        (1, vec!["new", "--title", " "]),
        (1, vec!["show", &session, "--cursor", "nope"]),
        (1, vec!["list", "--cursor", "nope"]),
        (1, vec!["replace-segment", &session, "cccc0001", "bbbb0001", "--text", "x"]),
        (1, vec!["replace-segment", &session, "aaaa0001", "aaaa0002", "--text", ""]),
        (1, vec!["export", &session, "--to", "claude"]),
    ];
    let mut said = String::new();
    for (code, arguments) in cases {
        let ran = world.run(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {}", ran.stderr);
        let ran_json = world.run(&[arguments.as_slice(), &["--json"]].concat());
        assert_eq!((ran_json.code, ran_json.stdout.as_str()), (code, ""), "{arguments:?}");
        let answer: Value = serde_json::from_str(&ran_json.stderr).unwrap();
        assert_eq!(answer["schema_version"], 1);
        let kind = answer["error"]["kind"].as_str().unwrap();
        said.push_str(&format!("$ ramus {}\n[{code}, {kind}]\n{}\n", arguments.join(" "), ran.stderr));
    }
    snapshot!("failures", world.tame(&said));
}

#[test]
fn wrong_usage_is_told_to_programs_too() {
    let answer = World::new().run(&["show", "--json"]).stderr;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"]["kind"], "usage");
    assert!(answer["error"]["message"].as_str().unwrap().contains("SESSION"), "{answer}");
}

#[test]
fn an_ambiguous_prefix_names_its_candidates() {
    let world = World::new();
    let (one, two) = (world.session(), world.session());
    let ran = world.run(&["show", &one[..4]]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains(&one) && ran.stderr.contains(&two), "{}", ran.stderr);
}

#[test]
fn causes_are_told() {
    let world = World::new();
    let session = world.branched();
    let ran = world.run(&["export", &session, "--to", "pi", "-o", "no/such/directory.jsonl"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.starts_with("error: cannot write no/such/directory.jsonl\ncaused by: "), "{}", ran.stderr);
    let ran = world.run(&["export", &session, "--to", "pi", "-o", "no/such/directory.jsonl", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(answer["error"]["causes"].as_array().map(Vec::len), Some(1));
}
