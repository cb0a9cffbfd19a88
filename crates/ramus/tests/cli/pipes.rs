//! Readers that stop reading, and disks that are full.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::world::World;

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let world = World::new();
    let session = world.session();
    let long: String =
        (0..2000).map(|_| format!("{{\"type\":\"custom\",\"customType\":\"{}\"}}\n", "x".repeat(200))).collect();
    assert_eq!(world.run_with(&long, &["append", &session]).code, 0);
    for arguments in
        [&["tree", &session, "--all"][..], &["tree", &session, "--json"], &["export", &session, "--to", "pi"]]
    {
        let mut command = world.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::with_capacity(16, child.stdout.take().unwrap());
        output.fill_buf().unwrap();
        drop(output);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(
            (ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_stream_whose_acknowledgements_nobody_reads_stops() {
    let world = World::new();
    let session = world.session();
    let mut command = world.command(&["append", &session, "--stream"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    for _ in 0..1000 {
        if writeln!(input, "{{\"type\":\"custom\",\"customType\":\"x\"}}").is_err() {
            break;
        }
    }
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(said, "error: nobody reads the acknowledgements any more; stopped after line 1\n");
    assert_eq!(world.json(&["tree", &session])["entries"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_full_disk_is_an_error() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let world = World::new();
    for arguments in [&["list", "--json"][..], &["--help"], &["demo"]] {
        let mut command = world.command(arguments);
        let output = command.stdout(std::fs::File::create(full).unwrap()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if arguments[0] != "--help" {
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
            assert!(said.contains("No space left"), "{arguments:?}: {said}");
        }
    }
}

const SCRIPT: &str = "answers = [{ steps = [{ text = \"Yes.\" }] }]";

/// What was said to a model in the last session.
fn said(world: &World) -> String {
    world.json(&["show", "last"])["messages"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_piped_in_is_said_behind_the_prompt() {
    let world = World::new();
    let script = world.file("script.toml", SCRIPT);
    let ran = world.run_with("from a pipe\n", &["run", "look at this", "--script", &script]);
    assert_eq!((ran.code, said(&world).as_str()), (0, "look at this\n\nfrom a pipe"), "{}", ran.stderr);
    let mut command = world.command(&["run", "--script", &script]);
    let file = world.file("prompt.txt", "from a file\n");
    let ended = command.stdin(std::fs::File::open(file).unwrap()).output().unwrap();
    assert_eq!((ended.status.code(), said(&world).as_str()), (Some(0), "from a file"));
}

#[test]
fn a_pipe_that_stays_silent_is_not_waited_for() {
    let world = World::new();
    let script = world.file("script.toml", SCRIPT);
    let mut command = world.command(&["run", "hello", "--script", &script]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It stays open until the end.
    let input = child.stdin.take();
    let ended = child.wait_with_output().unwrap();
    drop(input);
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), said(&world).as_str()), (Some(0), "hello"), "{told}");
    assert!(told.contains("nothing came through the pipe"), "{told}");
}

#[test]
fn a_loop_of_a_shell_keeps_its_lines() {
    let world = World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let script = world.file("script.toml", SCRIPT);
    world.file("lines.txt", "one\ntwo\nthree\n");
    let ramus = env!("CARGO_BIN_EXE_ramus");
    let looped = format!("while read -r line; do {ramus} run \"$line\" --script {script}; done < lines.txt");
    let mut command = world.command(&[]);
    let environment: Vec<_> = command.get_envs().map(|(k, v)| (k.to_owned(), v.unwrap().to_owned())).collect();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &looped]).current_dir(world.path("project")).env_clear().envs(environment);
    let ended = shell.output().unwrap();
    command.stdin(Stdio::null());
    assert_eq!(world.json(&["list", "--all"])["sessions"].as_array().unwrap().len(), 3);
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(told.matches("is not read beside a PROMPT").count(), 2, "{told}");
}
