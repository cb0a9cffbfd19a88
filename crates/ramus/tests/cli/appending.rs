//! `append`: batches that are all or nothing, streams that acknowledge as they go.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::world::World;

fn entry(name: &str) -> String {
    format!(r#"{{"type":"custom","customType":"{name}"}}"#)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entries(world: &World, session: &str) -> usize {
    world.json(&["tree", session, "--all"])["entries"].as_array().unwrap().len()
}

#[test]
fn a_batch_is_acknowledged_entry_by_entry() {
    let world = World::new();
    let session = world.session();
    let batch = format!("{}\n\n{}\n{}", entry("a"), entry("b"), r#"{"type":"custom","id":"mine","customType":"c"}"#);
    let written = lines(&world.run_with(&batch, &["append", &session]).stdout);
    let numbers: Vec<&Value> = written.iter().map(|line| &line["seq"]).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(written[0]["parent"], Value::Null);
    assert_eq!(written[1]["parent"], written[0]["id"]);
    assert_eq!(written[2]["id"], "mine");
    assert!(written.iter().all(|line| line["schema_version"] == 1));
    // With and without --json, from stdin by either name, and from a file.
    let more = world.run_with(&entry("d"), &["append", &session, "-", "--json"]);
    assert_eq!(lines(&more.stdout)[0]["parent"], "mine");
    let file = world.file("batch.jsonl", &entry("e"));
    assert_eq!(lines(&world.ok(&["append", &session, &file]))[0]["seq"], 5);
}

#[test]
fn a_batch_with_a_wrong_line_changes_nothing() {
    let world = World::new();
    let session = world.session();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    let before = std::fs::read(&path).unwrap();
    for (line, reason) in [
        ("nonsense", "line 3: not a JSON object"),
        ("[]", "line 3: not a JSON object"),
        ("{}", "line 3: an entry needs a textual \"type\""),
        (r#"{"type":"session","id":"x"}"#, "line 3: the type \"session\" belongs to the header, not to an entry"),
        (r#"{"type":"message"}"#, "line 3: a message entry needs an object \"message\" with a textual \"role\""),
        (r#"{"type":"custom","customType":"x","id":"first"}"#, "line 3: the id first is taken"),
        (r#"{"type":"custom","customType":"x","parentId":"gone"}"#, "line 3: the parent gone is not in the session"),
        (
            r#"{"type":"label","targetId":"gone","label":"x"}"#,
            "line 3: targetId names gone, which is not in the session",
        ),
    ] {
        let batch = format!("{}\n\n{line}\n", r#"{"type":"custom","customType":"x","id":"first"}"#);
        let ran = world.run_with(&batch, &["append", &session]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{line}");
        assert_eq!(ran.stderr, format!("error: {reason}\n"), "{line}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{line}");
    }
}

#[test]
fn a_stream_acknowledges_each_line_before_it_reads_the_next() {
    let world = World::new();
    let session = world.session();
    let mut command = world.command(&["append", &session, "--stream"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 1..=5_usize {
        writeln!(input, "{}", entry("step")).unwrap();
        let mut line = String::new();
        // This would wait forever if the acknowledgement came only with the end of the input.
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["seq"], number);
        assert_eq!(entries(&world, &session), number);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_stream_tells_what_others_do_to_the_file_when_it_happens() {
    let world = World::new();
    let session = world.session();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    let mut command = world.command(&["append", &session, "--stream"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut append = || {
        let mut line = String::new();
        writeln!(input, "{}", entry("step")).unwrap();
        output.read_line(&mut line).unwrap();
        line
    };
    append();
    let whole = std::fs::read(&path).unwrap();
    append();
    // Something else leaves half a line behind.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"mess").unwrap();
    append();
    // Something else takes back what was acknowledged.
    std::fs::write(&path, whole).unwrap();
    append();
    append();
    drop(input);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    let told = String::from_utf8(ended.stderr).unwrap();
    let [aside, gone] = told.lines().collect::<Vec<_>>()[..] else { panic!("each is told once: {told}") };
    assert!(aside.contains("were no whole entry and were set aside"), "{aside}");
    assert!(gone.contains("entries that were in it are gone"), "{gone}");
    assert_eq!(entries(&world, &session), 3);
}

#[test]
fn a_wrong_line_ends_a_stream_and_keeps_what_was_acknowledged() {
    let world = World::new();
    let session = world.session();
    let input = [entry("a"), String::new(), entry("b"), "wrong".into(), entry("c")].join("\n");
    let ran = world.run_with(&input, &["append", &session, "--stream"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: line 4: not a JSON object\n"));
    assert_eq!(lines(&ran.stdout).len(), 2);
    assert_eq!(entries(&world, &session), 2);
}

#[test]
fn a_named_parent_makes_a_sibling_when_someone_was_faster() {
    let world = World::new();
    let session = world.branched();
    for (arguments, parents) in [
        (&["append", &session, "--parent", "answer"][..], ["aaaa0004", "first"]),
        (&["append", &session, "--parent", "answer", "--stream", "--json"], ["aaaa0004", "first"]),
    ] {
        let input = [entry("x"), entry("y")].join("\n");
        let ran = world.run_with(&input, arguments);
        let written = lines(&ran.stdout);
        assert_eq!(written[0]["parent"], parents[0], "{arguments:?}");
        assert_eq!(written[1]["parent"], written[0]["id"], "{arguments:?}");
        assert!(ran.stderr.contains("the leaf stayed where it was"), "{}", ran.stderr);
        assert!(ran.stderr.contains("session has "), "{}", ran.stderr);
    }
    assert_eq!(world.json(&["tree", &session])["leaf"], "cccc0002");
    // At the leaf there is no one to be faster, and nothing to say.
    let ran = world.run_with(&entry("z"), &["append", &session, "--parent", ""]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn missing_input_is_not_found() {
    let world = World::new();
    let session = world.session();
    let ran = world.run(&["append", &session, "missing.jsonl"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.starts_with("error: cannot open missing.jsonl\ncaused by: "), "{}", ran.stderr);
}
