//! Every command twice: in the home, and with `--server` at a server of a home that is the same. Both must say the same.

mod home;
mod server;
mod table;
mod told;

use std::collections::BTreeSet;
use std::process::Command;

use crate::world::{Ran, World};
use home::{copy, fill, prepare, settle};
pub(crate) use server::{Server, TOKEN};
use table::{READING, WRITING};
use told::told;

/// What can only be done here, and is refused at a server. `run`, `chat` and `login` have tests of their own.
const HERE: &[&str] = &["catalogue", "config", "trust", "serve", "open", "demo", "completions", "man"];
const APART: &[&str] = &["run", "chat", "login"];

/// Every command that there is, as the program itself lists them.
fn commands() -> BTreeSet<String> {
    crate::help::commands(&World::new().ok(&["--help"])).into_iter().collect()
}

#[test]
fn every_command_is_compared_refused_or_tested_apart() {
    let first = |row: &&[&str]| {
        let word = row.iter().find(|word| !matches!(**word, "text" | "json"));
        (*word.unwrap()).to_owned()
    };
    let mut known: BTreeSet<String> = READING.iter().chain(WRITING).map(first).collect();
    known.extend(HERE.iter().chain(APART).map(|name| (*name).to_owned()));
    let all = commands();
    assert!(all.len() > 60, "{all:?}");
    assert_eq!(all.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "neither compared nor refused");
    assert_eq!(known.difference(&all).collect::<Vec<_>>(), Vec::<&String>::new(), "no such command");
}

#[test]
fn what_can_only_be_done_here_is_refused_and_says_why() {
    let world = World::new();
    let arguments: [&[&str]; 8] = [
        &["catalogue", "path"],
        &["config", "show"],
        &["trust", "--list"],
        &["serve"],
        &["open"],
        &["demo"],
        &["completions", "bash"],
        &["man"],
    ];
    assert_eq!(arguments.len(), HERE.len());
    for arguments in arguments {
        let there = world.run(&[&["--server", "http://127.0.0.1:9"], arguments].concat());
        assert_eq!(there.code, 2, "{arguments:?}: {}", there.stderr);
        assert!(there.stderr.contains("cannot be done at a server"), "{arguments:?}: {}", there.stderr);
    }
    // Who only has a server in the environment can still do it here.
    let world = World::new().with("RAMUS_SERVER", "http://127.0.0.1:9");
    assert_eq!(world.run(&["config", "show"]).code, 0);
}

#[test]
fn commands_that_read_say_the_same_here_and_at_a_server() {
    compare(READING);
}

#[test]
fn commands_that_write_say_the_same_here_and_at_a_server() {
    compare(WRITING);
}

fn compare(table: &[&[&str]]) {
    let here = World::new();
    let names = fill(&here);
    prepare(&here);
    // The same home, with the same sessions, for the server; directories are those of the sessions.
    let home = here.path("there");
    copy(&here.path("home"), &home);
    let server = {
        let mut command = here.command(&["serve", "--json", "--port", "0"]);
        command.env("RAMUS_HOME", &home);
        Server::of(command)
    };
    let mut differences = Vec::new();
    for row in table {
        let (forms, row): (&[&[&str]], &[&str]) = match row {
            ["text", rest @ ..] => (&[&[]], rest),
            ["json", rest @ ..] => (&[&["--json"]], rest),
            row => (&[&[], &["--json"]], row),
        };
        for form in forms {
            let words: Vec<String> =
                row.iter().map(|word| names.put(word).replace("WORLD", &here.path("").display().to_string())).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).chain(form.iter().copied()).collect();
            settle(&here);
            let local = here.run(&words);
            settle(&here);
            let mut command = here.command(&[&["--server", &server.address], words.as_slice()].concat());
            command.env("RAMUS_HOME", here.path("client")).env("RAMUS_TOKEN", TOKEN);
            let remote = ended(command);
            let (a, b) = (told(&here, &server, &words, &local), told(&here, &server, &words, &remote));
            if a != b {
                differences.push(format!(
                    "$ ramus {}\n--- here\n{a}\n--- there\n{b}\n{}",
                    words.join(" "),
                    remote.stderr
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}

fn ended(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}
