//! The catalogue of a home: kept private, killed in the middle, shared by processes, done without.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use ramus_engine::{Engine, Filter};
use ramus_store::{JsonlStore, Layout};
use serde_json::Value;

use crate::world::World;

/// Id, title, messages and the time of every session, by reading them all.
fn read(world: &World) -> Vec<(String, String, usize, String)> {
    let engine = Engine::new(Arc::new(JsonlStore::new(world.path("home"), Layout::Pi)), "test");
    let listing = engine.list_by_reading(&Filter { drafts: true, ..Filter::default() }).unwrap();
    let told = |info: ramus_engine::SessionInfo| (info.id.to_string(), info.title, info.messages, info.updated);
    listing.sessions.into_iter().map(told).collect()
}

fn listed(answer: &Value) -> Vec<(String, String, usize, String)> {
    let text = |session: &Value, name: &str| session[name].as_str().unwrap().to_owned();
    let told = |session: &Value| {
        let messages = usize::try_from(session["messages"].as_u64().unwrap()).unwrap();
        (text(session, "id"), text(session, "title"), messages, text(session, "updated"))
    };
    answer["sessions"].as_array().unwrap().iter().map(told).collect()
}

fn filled(sessions: usize) -> World {
    let world = World::new();
    for number in 0..sessions {
        let id = world.ok(&["new", "--title", &format!("session {number}")]);
        world.ok(&["say", &id, "hello", "--role", "assistant"]);
    }
    world
}

const LIST: [&str; 3] = ["list", "--all", "--drafts"];

#[test]
fn a_process_that_is_killed_while_it_writes_the_catalogue_harms_no_answer() {
    let world = filled(6);
    for round in 0..40_u64 {
        world.ok(&["say", "last", &format!("message {round}")]);
        let verb: &[&str] = if round.is_multiple_of(2) { &["catalogue", "rebuild"] } else { &LIST };
        let mut child = world.command(verb).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait(Duration::from_micros(round * 977 % 25_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = world.run(&[&LIST[..], &["--json"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "round {round}");
        assert_eq!(listed(&serde_json::from_str(&ran.stdout).unwrap()), read(&world), "round {round}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the child is to be killed at any moment, not at an event")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

#[test]
fn processes_share_the_catalogue() {
    let world = filled(4);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let world = &world;
            scope.spawn(move || {
                for number in 0..12 {
                    let ran = world.run(&["say", "last", &format!("{writer} {number}")]);
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
                }
            });
        }
        for _ in 0..3 {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..12 {
                    let ran = world.run(&[&LIST[..], &["--json"]].concat());
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
                    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
                    assert_eq!(answer["sessions"].as_array().unwrap().len(), 4);
                }
            });
        }
    });
    assert_eq!(listed(&world.json(&LIST)), read(&world));
}

#[test]
fn the_files_of_the_catalogue_are_private() {
    let world = filled(1);
    world.ok(&LIST);
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm", "catalogue.seal", "catalogue.lock"] {
        let mode = world.path("home").join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn the_catalogue_can_be_looked_at_and_made_anew() {
    let world = filled(2);
    assert_eq!(world.ok(&["catalogue", "path"]), world.path("home/catalogue.db").to_str().unwrap());
    let status = world.json(&["catalogue", "status"]);
    assert_eq!(status["catalogue"]["stale"], 2);
    world.ok(&LIST);
    assert_eq!(world.json(&["catalogue", "status"])["catalogue"]["exists"], true);
    assert_eq!(world.json(&["catalogue", "rebuild"])["catalogue"]["files"], 2);
    // What was written a moment ago is looked at twice.
    wait(Duration::from_millis(30));
    world.ok(&LIST);
    let status = world.json(&["catalogue", "status"]);
    assert_eq!((&status["catalogue"]["known"], &status["catalogue"]["stale"]), (&2.into(), &0.into()));
    assert_eq!(world.ok(&["catalogue", "status"]), "it knows 2 logs and is up to date");
}

/// A limit on the size of files is what a full disk looks like to SQLite.
#[test]
fn a_disk_without_room_for_the_catalogue_still_has_answers() {
    let world = filled(2);
    std::fs::remove_file(world.path("home/catalogue.db")).ok();
    let limited = format!("ulimit -f 1; exec {} list --all --drafts --json", env!("CARGO_BIN_EXE_ramus"));
    let mut command = world.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).current_dir(world.path("project")).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    command.stdin(Stdio::null());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed(&answer), read(&world));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the catalogue was done without"), "{told}");
}

#[test]
fn lists_are_sorted_and_chosen() {
    let world = World::new();
    let ids: Vec<String> = ["beta", "Alpha", "gamma"]
        .iter()
        .map(|title| {
            let id = world.ok(&["new", "--title", title]);
            world.ok(&["say", &id, "hello", "--role", "assistant"]);
            id
        })
        .collect();
    let child = world.ok(&["new", "--title", "child", "--parent", &ids[0]]);
    let titles = |arguments: &[&str]| -> Vec<String> {
        let answer = world.json(&[&LIST[..], arguments].concat());
        listed(&answer).into_iter().map(|(_, title, ..)| title).collect()
    };
    assert_eq!(titles(&["--sort", "title"]), ["Alpha", "beta", "child", "gamma"]);
    assert_eq!(titles(&["--sort", "title", "--reverse"]), ["gamma", "child", "beta", "Alpha"]);
    assert_eq!(titles(&["--sort", "created", "--reverse"]), ["beta", "Alpha", "gamma", "child"]);
    assert_eq!(titles(&["--sort", "messages", "--limit", "3"]).len(), 3);
    assert_eq!(titles(&["--parent", &ids[0]]), ["child"]);
    assert_eq!(titles(&["--starred"]), Vec::<String>::new());
    assert_eq!(world.run(&["list", "--sort", "size"]).code, 2);
    assert_eq!(world.run(&["list", "--parent", "nothing"]).code, 3);
    let page = world.json(&["list", "--all", "--limit", "1"]);
    world.ok(&["delete", page["sessions"][0]["id"].as_str().unwrap(), "--yes"]);
    let next = world.json(&["list", "--all", "--limit", "1", "--cursor", page["next_cursor"].as_str().unwrap()]);
    assert_eq!(listed(&next)[0].1, "Alpha");
    assert!(!child.is_empty());
}

#[test]
fn a_list_that_is_watched_is_printed_when_it_changes() {
    use std::io::{BufRead as _, BufReader};
    let world = filled(1);
    let mut child = world.command(&["list", "--all", "--watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || listed(&serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    assert_eq!(next()[0].2, 1);
    world.ok(&["say", "last", "more"]);
    assert_eq!(next()[0].2, 2);
    child.kill().unwrap();
    child.wait().unwrap();
}
