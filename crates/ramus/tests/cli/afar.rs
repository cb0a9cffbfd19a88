//! Every command twice: in the home, and with `--server` at a server of a home that is the same. Both must say the same.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::{Ran, World};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server that runs until it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a server of the home of a world.
    pub(crate) fn start(world: &World, more: &[&str]) -> Self {
        Self::of(world.command(&[&["serve", "--json"], more].concat()))
    }

    fn of(mut command: Command) -> Self {
        command.env("RAMUS_TOKEN", TOKEN);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { child, address: ready["address"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home with sessions in it: what every command of the table is about.
fn fill(world: &World) -> Names {
    let main = world.branched();
    world.file("notes.txt", "one\n");
    let snapshot = world.json(&["snapshot", &main, "--label", "first"]);
    let snapshot = snapshot["snapshot"]["id"].as_str().unwrap().to_owned();
    world.file("notes.txt", "one\ntwo\n");
    world.ok(&["tag", &main, "add", "blue"]);
    world.ok(&["meta", &main, "ticket=RAM-1"]);
    world.ok(&["todo", &main, "add", "write the tests"]);
    let fork = world.ok(&["fork", &format!("{main}@aaaa0004"), "--title", "Another way"]);
    let child = world.ok(&["new", "--parent", &main, "--title", "A child"]);
    world.say(&child, "user", "do a part of it");
    let other = world.ok(&["new", "--title", "To go"]);
    world.say(&other, "user", "hello there");
    world.say(&other, "assistant", "and hello to you");
    world.ok(&["share", &fork, "--yes"]);
    Names { main, fork, child, other, snapshot }
}

struct Names {
    main: String,
    fork: String,
    child: String,
    other: String,
    snapshot: String,
}

impl Names {
    fn put(&self, word: &str) -> String {
        let word = word.replace("MAIN", &self.main).replace("FORK", &self.fork).replace("CHILD", &self.child);
        word.replace("OTHER", &self.other).replace("SNAPSHOT", &self.snapshot)
    }
}

/// The commands, in an order in which each finds what it needs. A row that begins with `text` or `json` is run in that form
/// only; the others in both, first as text.
const READING: &[&[&str]] = &[
    &["gc", "--dry-run"],
    &["list", "--all"],
    &["list", "--all", "--drafts", "--sort", "title"],
    &["list", "--limit", "1", "--drafts"],
    &["list", "--all", "--tag", "blue"],
    &["show", "MAIN"],
    &["show", "MAIN@aaaa0004", "--limit", "2"],
    &["show", "FORK"],
    &["show", "MAIN", "--all"],
    &["show", "nosuchsession"],
    &["show", "MAIN@nosuch"],
    &["tree", "MAIN"],
    &["tree", "MAIN", "--all"],
    &["json", "tree", "FORK", "--all"],
    &["context", "MAIN"],
    &["context", "MAIN@aaaa0004", "--dialect", "provider"],
    &["entry", "MAIN@aaaa0002"],
    &["entry", "MAIN@"],
    &["entry", "MAIN"],
    &["state", "MAIN"],
    &["state", "MAIN", "--model", "demo/large"],
    &["log", "MAIN"],
    &["log", "MAIN", "--limit", "2"],
    &["log", "MAIN", "--all"],
    &["search", "sort"],
    &["search", "nothingatall"],
    &["search", "--session", "MAIN", "sorted"],
    &["search", "role:nobody"],
    &["history"],
    &["history", "hello"],
    &["usage"],
    &["usage", "--by", "session"],
    &["usage", "--by", "model"],
    &["children", "MAIN"],
    &["children", "MAIN", "--tree"],
    &["compare", "MAIN@bbbb0001", "MAIN@cccc0002"],
    &["compare", "MAIN", "FORK"],
    &["artifacts", "MAIN"],
    &["todo", "MAIN"],
    &["meta", "MAIN"],
    &["meta", "MAIN", "ticket"],
    &["meta", "MAIN", "nosuch"],
    &["tag", "MAIN"],
    &["snapshots", "MAIN"],
    &["diff", "MAIN"],
    &["diff", "MAIN", "SNAPSHOT", "--stat"],
    &["permissions", "MAIN"],
    &["permissions", "MAIN", "--agent", "plan"],
    &["workspace", "MAIN"],
    &["share", "--list"],
    &["share", "MAIN", "--dry-run"],
    &["doctor", "MAIN"],
    &["doctor"],
    &["tail", "MAIN", "-n", "3"],
    &["events", "MAIN", "--replay"],
    &["events", "MAIN", "--replay", "--from", "5"],
    &["export", "MAIN", "--to", "pi"],
    &["export", "MAIN", "--to", "md"],
    &["export", "MAIN", "--to", "claude"],
    &["export", "MAIN", "--to", "nosuch"],
    &["text", "export", "MAIN", "-o", "out.json"],
    &["resume", "MAIN", "--in", "claude", "--print"],
    &["retain", "--dry-run"],
    &["relocate", "WORLD/project", "WORLD/elsewhere", "--dry-run"],
    &["session", "list", "--all"],
];

/// Those that change something.
const WRITING: &[&[&str]] = &[
    &["new", "--title", "Made by the table"],
    &["new", "--model", "wrong"],
    &["boot", "CHILD"],
    &["text", "say", "OTHER", "what else?"],
    &["json", "say", "OTHER", "what else?", "--role", "assistant"],
    &["append", "OTHER", "WORLD/lines.jsonl"],
    &["append", "OTHER", "WORLD/lines.jsonl", "--stream"],
    &["append", "OTHER", "WORLD/wrong.jsonl"],
    &["label", "MAIN@aaaa0001", "start"],
    &["label", "MAIN@start"],
    &["label", "MAIN"],
    &["rename", "OTHER", "Renamed"],
    &["tag", "OTHER", "add", "red", "green"],
    &["tag", "OTHER", "remove", "red"],
    &["tag", "OTHER", "set"],
    &["star", "OTHER"],
    &["unstar", "OTHER"],
    &["archive", "OTHER"],
    &["unarchive", "OTHER"],
    &["meta", "OTHER", "attempts:=3"],
    &["todo", "OTHER", "add", "one more"],
    &["todo", "OTHER", "done", "1"],
    &["todo", "OTHER", "done", "nosuch"],
    &["move", "OTHER", "--cwd", "WORLD/user"],
    &["branch", "MAIN@bbbb0001"],
    &["branch", "MAIN@cccc0002", "--summary", "It was longer."],
    &["branch", "MAIN@aaaa0004", "--files", "--dry-run"],
    &["undo", "MAIN", "--dry-run"],
    &["undo", "MAIN"],
    &["redo", "MAIN"],
    &["fork", "MAIN@aaaa0004"],
    &["merge-back", "MAIN", "CHILD", "--summary", "It is done."],
    &["merge-back", "MAIN", "OTHER", "--dry-run"],
    &["compact", "MAIN", "--keep-messages", "2", "--dry-run"],
    &["compact", "MAIN", "--keep-messages", "2"],
    &["clear", "MAIN", "--dry-run"],
    &["clear", "MAIN"],
    &["evict", "OTHER", "--tokens", "1", "--dry-run"],
    &["evict", "OTHER", "--tokens", "1000000"],
    &["text", "replace-segment", "FORK", "aaaa0002", "aaaa0003", "--text", "looked"],
    &["reset-leaf", "CHILD"],
    &["snapshot", "MAIN", "--label", "second"],
    &["restore", "MAIN", "first", "--dry-run"],
    &["restore", "MAIN", "first", "--force"],
    &["restore", "MAIN", "nosuch"],
    &["revert", "FORK@aaaa0003"],
    &["unrevert", "FORK"],
    &["text", "share", "FORK", "--yes", "--include", "messages"],
    &["unshare", "FORK"],
    &["permissions", "MAIN", "revoke", "nosuch"],
    &["recover", "MAIN"],
    &["doctor", "MAIN", "--repair"],
    &["purge", "MAIN@bbbb0001", "--dry-run"],
    &["purge", "MAIN@bbbb0001"],
    &["text", "purge", "MAIN@bbbb0001", "--yes"],
    &["reset", "CHILD", "--dry-run"],
    &["reset", "CHILD", "--yes"],
    &["text", "import", "WORLD/bundle.json", "--dry-run"],
    &["import", "WORLD/bundle.json"],
    &["import", "WORLD/nosuch.json"],
    &["import", "WORLD/codex", "--dry-run"],
    &["delete", "OTHER"],
    &["delete", "OTHER", "--dry-run"],
    &["text", "delete", "OTHER", "--yes"],
    &["delete", "OTHER", "--yes"],
];

/// What can only be done here, and is refused at a server. `run`, `chat` and `login` have tests of their own.
const HERE: &[&str] = &["catalogue", "config", "trust", "models", "serve", "open", "demo", "completions"];
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
        &["models"],
        &["serve"],
        &["open"],
        &["demo"],
        &["completions", "bash"],
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

/// Puts the files back that both work on.
fn settle(world: &World) {
    world.file("notes.txt", "one\ntwo\n");
    let _ = std::fs::remove_file(world.path("project/out.json"));
}

fn prepare(world: &World) {
    let line = r#"{"type":"message","message":{"role":"user","content":"from a file"}}"#;
    std::fs::write(world.path("lines.jsonl"), format!("{line}\n\n{line}\n")).unwrap();
    std::fs::write(world.path("wrong.jsonl"), format!("{line}\n{{\"type\":\n")).unwrap();
    let elsewhere = World::new();
    let session = elsewhere.branched();
    elsewhere.ok(&["export", &session, "-o", world.path("bundle.json").to_str().unwrap()]);
    std::fs::create_dir_all(world.path("codex")).unwrap();
    let another = elsewhere.branched();
    elsewhere.ok(&["export", &another, "--to", "codex", "-o", world.path("codex/rollout.jsonl").to_str().unwrap()]);
}

/// What a command said, without what may differ: times, new ids, where the home is; and of stderr only of which kind it is.
fn told(world: &World, server: &Server, words: &[&str], ran: &Ran) -> String {
    let out = ran
        .stdout
        .replace(&server.address, "http://127.0.0.1:7347")
        .replace(&world.path("there").display().to_string(), &world.path("home").display().to_string());
    let is_json = words.contains(&"--json");
    let mut lines: Vec<String> = out
        .lines()
        .map(|line| match serde_json::from_str::<Value>(line) {
            Ok(value) if is_json => tamed(value).to_string(),
            _ => line.to_owned(),
        })
        .collect();
    // How much a catalogue takes depends on when it was last tidied.
    lines.retain(|line| !line.starts_with("the home takes"));
    if words.contains(&"export") {
        // When it was exported is in it.
        lines.retain(|line| !line.contains("exported"));
    }
    let text = numbered(&lines.join("\n"));
    let class: BTreeSet<&str> = ["error:", "warning:", "hint:", "\"error\"", "\"warning\""]
        .into_iter()
        .filter(|class| *class != "hint:" && ran.stderr.contains(class))
        .collect();
    let kind = serde_json::from_str::<Value>(ran.stderr.lines().last().unwrap_or_default());
    let kind = kind.ok().and_then(|value| Some(value["error"]["kind"].as_str()?.to_owned()));
    format!("exit {}\nstderr {class:?} {kind:?}\n{text}", ran.code)
}

/// Replaces ids and times by the order they appear in, and what is counted in bytes or seconds.
fn numbered(text: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut token = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric()
            || c == '-'
            || (c == ':' && token.starts_with("20"))
            || (c == '.' && token.contains(':'))
        {
            token.push(c);
            continue;
        }
        let word = std::mem::take(&mut token);
        let name = word.strip_prefix("ramus-").unwrap_or(&word);
        let is_hex = name.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-'));
        let is_made_up = ["aaaa0", "bbbb0", "cccc0"].iter().any(|start| name.starts_with(start));
        let is_time = name.starts_with("20") && name.contains('T') && (name.contains(':') || name.ends_with('Z'));
        if (is_hex && name.len() >= 8 && !is_made_up) || is_time {
            let at = known.iter().position(|other| other == name).unwrap_or_else(|| {
                known.push(name.to_owned());
                known.len() - 1
            });
            out.push_str(&format!("[{at}]"));
        } else {
            out.push_str(&word);
        }
        out.push(c);
    }
    out
}

/// Takes out of an object what depends on when and where something was done.
fn tamed(value: Value) -> Value {
    const MOVING: [&str; 14] = [
        "timestamp",
        "created",
        "updated",
        "time",
        "bytes",
        "disk",
        "size",
        "url",
        "secret",
        "share",
        "client",
        "duration_ms",
        "archived_at",
        "token_file",
    ];
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !MOVING.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, tamed(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tamed).collect()),
        other => other,
    }
}

fn ended(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
