//! Which session a terminal was last in.

use std::process::{Command, Stdio};

use crate::world::World;

fn crumb(world: &World, terminal: &str) -> String {
    std::fs::read_to_string(world.path("home/terminal-sessions").join(terminal)).unwrap()
}

fn in_terminal(world: World, variable: &str, value: &str) -> World {
    world.with(variable, value)
}

#[test]
fn this_is_the_session_of_the_terminal_and_last_that_of_the_directory() {
    let world = World::new();
    let world = in_terminal(world, "TMUX_PANE", "%1");
    let mine = world.session();
    let theirs = String::from_utf8(world.command(&["new"]).env("TMUX_PANE", "%2").output().unwrap().stdout).unwrap();
    let theirs = theirs.trim();
    let id = |reference: &str| world.json(&["show", reference])["session"]["id"].as_str().unwrap().to_owned();
    assert_eq!((id("this"), id("last")), (mine.clone(), theirs.to_owned()));
    let text = crumb(&world, "tmux-%1");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], world.path("project").display().to_string());
    assert!(lines[1].ends_with(&format!("{mine}.jsonl")) && std::path::Path::new(lines[1]).is_file());
    // It is found again when it was published meanwhile, by someone else.
    world.say(&mine, "user", "hello");
    let mut other = world.command(&["say", &mine, "hello", "--role", "assistant"]);
    assert!(other.env_remove("TMUX_PANE").status().unwrap().success());
    assert!(crumb(&world, "tmux-%1").contains("/drafts/"));
    assert_eq!(id("this"), mine);
    assert_eq!(id("this@"), mine);
    world.say("this", "user", "again");
    assert!(crumb(&world, "tmux-%1").contains("/sessions/"), "whoever writes leaves a fresh one");
    // Elsewhere it is nobody's, and deleting takes it along.
    let elsewhere = world.command(&["show", "this"]).current_dir(world.path("user")).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(3));
    world.ok(&["delete", "this", "--yes"]);
    assert!(!world.path("home/terminal-sessions/tmux-%1").exists());
    assert_eq!(id("this"), theirs, "without a breadcrumb, it is the last one");
}

#[test]
fn a_fork_and_a_file_of_another_program_are_remembered_too() {
    let world = in_terminal(World::new(), "WEZTERM_PANE", "7");
    let session = world.branched();
    let fork = world.ok(&["fork", &session]);
    assert!(crumb(&world, "wezterm-7").contains(&fork));
    let header = r#"{"type":"session","version":3,"id":"t","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#;
    let file = world.file("theirs.jsonl", &format!("{header}\n"));
    world.ok(&["say", &file, "hello"]);
    assert_eq!(world.json(&["show", "this"])["session"]["path"], file);
}

#[test]
fn names_of_terminals_never_lead_elsewhere() {
    for (variable, value) in
        [("KITTY_WINDOW_ID", "../../../x"), ("TERM_SESSION_ID", "a\u{1b}b"), ("WT_SESSION", "/etc/x")]
    {
        let world = in_terminal(World::new(), variable, value);
        let session = world.session();
        let names: Vec<_> = std::fs::read_dir(world.path("home/terminal-sessions")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{variable}");
        assert_eq!(world.json(&["show", "this"])["session"]["id"], session);
    }
}

#[test]
fn a_terminal_is_known_by_its_device() {
    let world = World::new();
    let ramus = env!("CARGO_BIN_EXE_ramus");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{ramus} new; {ramus} show this --json"), "/dev/null"]);
    command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default());
    command.env("HOME", world.path("user")).env("RAMUS_HOME", world.path("home"));
    command.current_dir(world.path("project")).stdin(Stdio::null());
    let Ok(ran) = command.output() else {
        return eprintln!("skipped: there is no script(1) to make a terminal");
    };
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
    let names: Vec<_> = std::fs::read_dir(world.path("home/terminal-sessions")).unwrap().flatten().collect();
    let name = names[0].file_name().into_string().unwrap();
    assert!(names.len() == 1 && !name.contains('/') && name.starts_with("pts-"), "{name}");
}
