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
