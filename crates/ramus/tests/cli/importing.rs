//! Sessions of other agents, from the command line: found, imported, followed, exported and handed over.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::World;

pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

pub(crate) fn line(id: &str, parent: &str, kind: &str, message: &str, cwd: &str) -> String {
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"{cwd}","sessionId":"{SESSION}","version":"2.1.325","type":"{kind}","message":{message},"uuid":"{id}","timestamp":"2026-11-01T10:00:00.000Z"}}"#
    )
}

pub(crate) fn asked(world: &World, id: &str, parent: &str, text: &str) -> String {
    let cwd = world.path("project").display().to_string();
    line(id, parent, "user", &format!(r#"{{"role":"user","content":"{text}"}}"#), &cwd)
}

fn answered(world: &World, id: &str, parent: &str, text: &str) -> String {
    let message = format!(
        r#"{{"id":"msg_{id}","type":"message","role":"assistant","model":"claude-x","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"output_tokens":2}}}}"#
    );
    let cwd = world.path("project").display().to_string();
    line(id, parent, "assistant", &message, &cwd)
}

/// Writes a file of the user's.
pub(crate) fn put(world: &World, name: &str, content: &[u8]) -> PathBuf {
    let path = world.path("user").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

pub(crate) fn claude_store(world: &World) -> PathBuf {
    let lines =
        [asked(world, "u1-0000", "null", "What is a ramus?"), answered(world, "a1-0000", "\"u1-0000\"", "A branch.")];
    put(world, &format!(".claude/projects/-project/{SESSION}.jsonl"), (lines.join("\n") + "\n").as_bytes())
}

#[test]
fn h4_import_finds_asks_imports_and_imports_nothing_twice() {
    let world = World::new();
    let nothing = world.json(&["import", "--yes"]);
    assert_eq!((&nothing["found"], &nothing["imported"]), (&json!([]), &json!([])));
    let file = claude_store(&world);
    let dry = world.json(&["import", "--dry-run"]);
    assert_eq!((&dry["imported"][0]["id"], &dry["dry_run"]), (&json!(SESSION), &json!(true)));
    assert_eq!(world.run(&["show", SESSION]).code, 3);
    // Where nobody can be asked it needs no word: it removes nothing.
    let imported = world.json(&["import"]);
    assert_eq!(imported["found"][0]["agent"], "claude");
    assert_eq!((&imported["found"][0]["files"], &imported["unchanged"]), (&json!(1), &json!(0)));
    let session = &imported["imported"][0];
    assert_eq!(
        (&session["id"], &session["source"], &session["lossy"]),
        (&json!(SESSION), &json!("claude"), &json!([]))
    );
    assert_eq!(session["file"], file.display().to_string());
    let again = world.json(&["import", "--yes"]);
    assert_eq!((&again["imported"], &again["grown"], &again["unchanged"]), (&json!([]), &json!([]), &json!(1)));
    let skipped = json!([{
        "id": SESSION, "source": "claude", "file": file, "reason": "it is here already and did not change",
    }]);
    assert_eq!(again["skipped"], skipped);
    // `--from` takes a path too.
    let from = world.json(&["import", "--from", file.parent().unwrap().to_str().unwrap()]);
    assert_eq!(from["skipped"], skipped);
    let listed = world.json(&["list"]);
    assert_eq!(listed["sessions"][0]["imported_from"], json!({"agent": "claude", "file": file}));
    assert_eq!(world.json(&["show", SESSION])["session"]["imported_from"]["agent"], "claude");
    assert!(world.ok(&["show", SESSION]).contains("A branch."));
}

#[test]
fn h4_a_fork_says_what_it_was_forked_from() {
    let world = World::new();
    let file = claude_store(&world);
    let fork = "bbbbbbbb-0000-4000-8000-000000000002";
    let more = asked(&world, "u2-0000", "\"a1-0000\"", "And a leaf?");
    let copy = (std::fs::read_to_string(&file).unwrap() + &more + "\n").replace(SESSION, fork);
    put(&world, &format!(".claude/projects/-project/{fork}.jsonl"), copy.as_bytes());
    let told = world.ok(&["import", "--yes"]);
    assert!(told.contains(&format!("a fork of {SESSION}")), "{told}");
    let from = json!({"session": SESSION, "entry": "a1-0000"});
    assert_eq!(world.json(&["show", fork])["session"]["forked_from"], from);
    let listed = world.json(&["list"]);
    let forks: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().map(|session| &session["forked_from"]).collect();
    assert_eq!(forks.iter().filter(|found| **found == &from).count(), 1, "{forks:?}");
    // Somebody forks that too, later.
    let third = "cccccccc-0000-4000-8000-000000000003";
    put(&world, &format!(".claude/projects/-project/{third}.jsonl"), copy.replace(fork, third).as_bytes());
    let told = world.json(&["import", "--yes"]);
    assert_eq!(told["linked"], json!([{"id": third, "forked_from": {"session": fork, "entry": "u2-0000"}}]));
}

#[test]
fn h4_one_agent_can_be_named_and_a_wrong_name_is_told() {
    let world = World::new();
    claude_store(&world);
    put(&world, ".pi/agent/sessions/--p--/1_pi-session-1.jsonl", b"{\"type\":\"session\",\"version\":3,\"id\":\"pi-session-1\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"cwd\":\"/p\"}\n{\"type\":\"message\",\"id\":\"m1\",\"parentId\":null,\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n");
    let one = world.json(&["import", "--from", "pi"]);
    assert_eq!((one["imported"].as_array().unwrap().len(), &one["imported"][0]["source"]), (1, &json!("pi")));
    let wrong = world.run(&["import", "--from", "pixie"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("claude, codex"), "{}", wrong.stderr);
    assert_eq!(world.json(&["import", "--yes"])["imported"][0]["id"], SESSION);
}

#[test]
fn h4_a_bad_file_is_told_and_the_rest_comes_in() {
    let world = World::new();
    claude_store(&world);
    let database = put(&world, ".local/share/goose/sessions/sessions.db", b"SQLite format 3\0 and then nothing");
    let ran = world.run(&["import", "--yes", "--json"]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["imported"].as_array().unwrap().len(), 1);
    assert_eq!(told["failed"][0]["file"], database.display().to_string());
    assert!(!told["failed"][0]["reason"].as_str().unwrap().is_empty());
    let alone = world.run(&["import", &database.display().to_string()]);
    assert_eq!(alone.code, 1, "{}", alone.stderr);
    let notes = world.file("notes.json", "{\"not\":\"a session\"}");
    let unknown = world.run(&["import", &notes]);
    assert!(unknown.code == 1 && unknown.stderr.contains("no session of an agent"), "{}", unknown.stderr);
}

#[test]
fn h6_an_export_to_the_agent_it_came_from_is_the_same_file_and_others_are_told_what_is_lost() {
    let world = World::new();
    let file = claude_store(&world);
    world.ok(&["import", "--yes"]);
    let out = world.path("project").join("out.jsonl");
    world.ok(&["export", SESSION, "--to", "claude", "-o", out.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), std::fs::read_to_string(&file).unwrap());
    assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    let session = world.branched();
    for agent in ["codex", "gemini", "opencode", "goose", "shepherd", "okcvm", "atif"] {
        let ran = world.run(&["export", &session, "--to", agent]);
        assert_eq!(ran.code, 0, "{agent}: {}", ran.stderr);
        assert!(ran.stdout.contains("sorted(names)"), "{agent}: {}", ran.stdout);
        assert!(!ran.stdout.contains("And in reverse?"), "{agent} gets the path");
    }
    let told = world.json(&["export", &session, "--to", "shepherd", "-o", out.to_str().unwrap()]);
    assert!(!told["export"]["lossy"].as_array().unwrap().is_empty(), "{told}");
    let earlier = world.ok(&["export", &format!("{session}@bbbb0001"), "--to", "codex"]);
    assert!(earlier.contains("And in reverse?") && !earlier.contains("sorted(names)"));
    let directory = world.path("project").join("exported");
    world.ok(&["export", &session, "--to", "directory", "-o", directory.to_str().unwrap()]);
    assert!(std::fs::read_dir(&directory).unwrap().count() > 0);
    assert_eq!(world.run(&["export", &session, "--to", "word"]).code, 1);
}

#[test]
fn h7_a_session_is_handed_over_where_the_agent_looks_for_it() {
    let world = World::new();
    let session = world.branched();
    let project = world.path("project");
    for (agent, place) in [("claude", ".claude/projects"), ("codex", ".codex/sessions"), ("pi", ".pi/agent/sessions")] {
        let first = world.json(&["resume", &session, "--in", agent])["resume"].clone();
        let file = PathBuf::from(first["file"].as_str().unwrap());
        assert!(file.starts_with(world.path("user").join(place)), "{agent}: {}", file.display());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("sorted(names)") && !text.contains("And in reverse?"), "{agent}");
        assert_eq!(first["directory"], project.display().to_string());
        let second = world.json(&["resume", &session, "--in", agent])["resume"].clone();
        assert_ne!(first["file"], second["file"], "{agent}: every one has an id of its own");
        let names = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(names, 2, "{agent}: nothing else is left there");
    }
    let printed = world.ok(&["resume", &session, "--in", "claude", "--print"]);
    assert!(printed.starts_with(&format!("cd {} && claude --resume ", project.display())), "{printed}");
    let given = world.json(&["resume", &session, "--in", "opencode"])["resume"].clone();
    let import: Vec<&str> = given["import"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(import[..2], ["opencode", "import"]);
    assert!(std::fs::read_to_string(import[2]).unwrap().contains("sorted(names)"));
    assert!(!world.path("user").join(".local/share/opencode").exists(), "nobody else's database is written");
    assert_eq!(world.run(&["resume", &session, "--in", "atif"]).code, 2);
    std::fs::remove_dir_all(&project).unwrap();
    std::fs::create_dir(&project).unwrap();
    let gone = world.run(&["resume", &session, "--in", "claude", "--cwd", "/no/such/place"]);
    assert_eq!(gone.code, 3, "{}", gone.stderr);
}

#[test]
fn h7_what_is_handed_over_comes_back_with_the_next_import() {
    let world = World::new();
    let session = world.branched();
    let handed = world.json(&["resume", &session, "--in", "claude"])["resume"].clone();
    let imported = world.json(&["import", "--from", "claude"]);
    assert_eq!(imported["imported"][0]["file"], handed["file"]);
    let id = imported["imported"][0]["id"].as_str().unwrap();
    assert!(world.ok(&["show", id]).contains("sorted(names)"));
}

/// A process that is ended with the test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn h4_watching_imports_every_line_once_as_it_is_written() {
    let world = World::new();
    let file = claude_store(&world);
    let mut command = world.command(&["import", "--watch", "--yes", "--json"]);
    let mut child = Watching(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["imported"][0]["id"], SESSION);
    let mut writer = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    let mut parent = "a1-0000".to_owned();
    let mut seen = 0;
    for number in 2..6 {
        let id = format!("u{number}-0000");
        let whole = asked(&world, &id, &format!("\"{parent}\""), &format!("question {number}")) + "\n";
        // A line comes in two parts, as a slow writer writes it.
        let (front, back) = whole.split_at(whole.len() / 2);
        writer.write_all(front.as_bytes()).unwrap();
        writer.flush().unwrap();
        writer.write_all(back.as_bytes()).unwrap();
        parent = id;
        let until = Instant::now() + Duration::from_secs(30);
        while seen < number - 1 {
            assert!(Instant::now() < until, "the line did not arrive");
            let told = next();
            let added =
                told["grown"].as_array().unwrap().iter().map(|grown| grown["added"].as_u64().unwrap()).sum::<u64>();
            seen += added;
        }
    }
    drop(child);
    let shown = world.ok(&["show", SESSION]);
    for number in 2..6 {
        assert_eq!(shown.matches(&format!("question {number}")).count(), 1, "{shown}");
    }
}

/// What agents wrote is looked at without a trace, also where somebody names the file.
#[test]
fn h4_a_file_that_is_named_is_not_touched_either() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new();
    let file = claude_store(&world);
    let (read, changed) = [7200, 3600].map(|ago| std::time::SystemTime::now() - Duration::from_secs(ago)).into();
    let times = std::fs::FileTimes::new().set_accessed(read).set_modified(changed);
    std::fs::OpenOptions::new().append(true).open(&file).unwrap().set_times(times).unwrap();
    let seen = || std::fs::metadata(&file).map(|seen| (seen.atime(), seen.atime_nsec())).unwrap();
    let before = seen();
    assert_eq!(world.json(&["import", file.to_str().unwrap()])["imported"][0]["id"], SESSION);
    assert_eq!(seen(), before);
}

/// goose gives what it takes in an id of its own, and only its import says which.
#[test]
fn h7_goose_goes_on_with_the_session_that_was_handed_over() {
    let world = World::new();
    let session = world.branched();
    let handed = world.json(&["resume", &session, "--in", "goose"])["resume"].clone();
    assert_eq!(handed["id_from_import"], true);
    assert_eq!(handed["command"], json!(["goose", "session", "--resume", "--session-id", "{id}"]));
    assert_eq!(world.json(&["resume", &session, "--in", "claude"])["resume"]["id_from_import"], false);
    let goose = put(
        &world,
        "bin/goose",
        b"#!/bin/sh\nif [ \"$2\" = import ]; then echo \"took in $3 as 20261119_7.\"; else echo \"resumed $*\"; fi\n",
    );
    std::fs::set_permissions(&goose, std::fs::Permissions::from_mode(0o755)).unwrap();
    let printed = world.ok(&["resume", &session, "--in", "goose", "--print"]);
    let path = format!("{}:/usr/bin:/bin", goose.parent().unwrap().display());
    let ran = std::process::Command::new("sh").arg("-c").arg(&printed).env("PATH", path).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said, "resumed session --resume --session-id 20261119_7\n", "{printed}");
}

#[test]
fn h4_watching_tells_once_what_is_left_alone_and_goes_on_when_a_place_is_gone_for_a_while() {
    let world = World::new();
    let file = claude_store(&world);
    let place = file.parent().unwrap().to_owned();
    let mut command = world.command(&["import", "--watch", place.to_str().unwrap(), "--json"]);
    world.json(&["import", place.to_str().unwrap()]);
    let other = "bbbbbbbb-0000-4000-8000-000000000002";
    let more = |name: &str, text: &str| {
        let said = asked(&world, "u1-0000", "null", text).replace(SESSION, name);
        std::fs::write(place.join(format!("{name}.jsonl")), said + "\n").unwrap();
    };
    more(other, "one");
    let mut child = Watching(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut complaints = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("it still watches").unwrap()).unwrap() };
    let first = next();
    assert_eq!((&first["imported"][0]["id"], &first["skipped"][0]["id"]), (&json!(other), &json!(SESSION)));
    let away = world.path("user").join("away");
    std::fs::rename(&place, &away).unwrap();
    assert!(complaints.any(|line| line.unwrap().contains("tried again")), "it says what is in the way");
    std::fs::rename(&away, &place).unwrap();
    let third = "cccccccc-0000-4000-8000-000000000003";
    more(third, "two");
    let second = next();
    assert_eq!((&second["imported"][0]["id"], &second["skipped"]), (&json!(third), &json!([])), "{second}");
}

#[test]
fn h7_what_no_command_goes_on_with_is_exported_instead() {
    let world = World::new();
    claude_store(&world);
    world.ok(&["import", "--yes"]);
    let refused = world.run(&["resume", SESSION, "--in", "okcvm"]);
    assert!(refused.code == 2 && refused.stderr.contains("ramus export SESSION --to okcvm"), "{}", refused.stderr);
    let listed = world.json(&["list", "--all"]);
    assert_eq!(listed["sessions"][0]["title"], "What is a ramus?");
}

#[test]
fn h4_many_sessions_are_told_by_agent() {
    let world = World::new();
    let question = asked(&world, "u1-0000", "null", "What is a ramus?");
    for number in 10..31 {
        let id = format!("aaaaaaaa-0000-4000-8000-0000000000{number}");
        let file = format!(".claude/projects/-project/{id}.jsonl");
        put(&world, &file, (question.replace(SESSION, &id) + "\n").as_bytes());
    }
    let header =
        r#"{"type":"session","version":3,"id":"pi-session-1","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/x"}"#;
    let said = r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    put(&world, ".pi/agent/sessions/--x--/2026_pi-session-1.jsonl", format!("{header}\n{said}\n").as_bytes());
    let told = world.ok(&["import", "--yes"]);
    assert!(told.contains("21 sessions, 21 entries") && told.contains(" 1 session, "), "{told}");
}

/// What a file is can be said, where it does not say so itself.
#[test]
fn a25_a_path_is_read_as_the_agent_that_is_named() {
    let world = World::new();
    let chat =
        br#"{"messages":[{"role":"user","content":"what is \"ses_1\"?"},{"role":"assistant","content":"an id"}]}"#;
    let file = put(&world, "chat.json", chat);
    let path = file.to_str().unwrap();
    let imported = world.json(&["import", path, "--from", "shepherd"]);
    let id = imported["imported"][0]["id"].as_str().unwrap();
    assert_eq!(world.json(&["show", id])["messages"].as_array().unwrap().len(), 2);
    assert_eq!(world.run(&["import", path, "--from", "nobody"]).code, 2);
    assert_ne!(world.run(&["import", path, "--from", "opal"]).code, 0);
    assert_eq!(world.run(&["import", "/no/such/file", "--from", "codex"]).code, 3);
}

/// What another agent's session becomes for pi is what comes of it again, and what pi is not told is said the first time.
#[test]
fn a25_a_session_of_another_agent_for_pi_is_the_same_the_second_time() {
    let world = World::new();
    let thoughts = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"A branch."}],"stop_reason":"end_turn"}"#;
    let cwd = world.path("project").display().to_string();
    let lines = [
        asked(&world, "u1-0000", "null", "What is a ramus?"),
        line("a1-0000", "\"u1-0000\"", "assistant", thoughts, &cwd),
    ];
    let file = put(&world, ".claude/projects/-project/one.jsonl", (lines.join("\n") + "\n").as_bytes());
    world.json(&["import", file.to_str().unwrap()]);
    let first = put(&world, "first.jsonl", b"");
    let told = world.json(&["export", SESSION, "--to", "pi", "-o", first.to_str().unwrap()]);
    assert!(told["export"]["lossy"].to_string().contains("thought"), "{told}");
    let other = World::new();
    other.json(&["import", first.to_str().unwrap(), "--from", "pi"]);
    let second = put(&other, "second.jsonl", b"");
    let told = other.json(&["export", SESSION, "--to", "pi", "-o", second.to_str().unwrap()]);
    assert_eq!(told["export"]["lossy"], json!([]), "{told}");
    assert_eq!(std::fs::read_to_string(first).unwrap(), std::fs::read_to_string(second).unwrap());
}
