//! What a person sees of a turn and does with it: pictures, saying it again, titles, artefacts, long output, a terminal.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::world::World;

pub(crate) fn world() -> World {
    World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin")
}

pub(crate) fn events(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a turn with a script that must succeed, and returns its last event.
fn turn(world: &World, script: &str, arguments: &[&str]) -> Value {
    let script = world.file("script.toml", script);
    let ran = world.run(&[&["run", "--script", &script, "--json"], arguments].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let events = events(&ran.stdout);
    assert!(events.iter().all(|event| event["schema_version"] == 1), "every line says its version");
    events.last().unwrap().clone()
}

fn texts(world: &World, session: &str) -> Vec<String> {
    let shown = world.json(&["show", session]);
    shown["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

const LOOK: &str = r##"
[[answers]]
steps = [
    { thinking = "They want\nto see it." },
    { text = ["# Plan\n\nI **lo", "ok**.\n"] },
    { call = { name = "read", arguments = { path = "a.txt" } } },
    { call = { name = "bash", arguments = { command = "exit 3" } } },
]
[[answers]]
steps = [{ call = { name = "edit", arguments = { path = "a.txt", old = "world", new = "\u001B[2Jthere" } } }]
[[answers]]
steps = [{ text = "Done. \u001B]0;owned\u0007" }, { usage = { input = 1000, output = 234 } }]
"##;

#[test]
fn through_a_pipe_a_turn_is_plain_text_and_a_line_for_each_call() {
    let world = world();
    world.file("a.txt", "hello world\n");
    let script = world.file("script.toml", LOOK);
    let ran = world.run(&["run", "look", "--script", &script, "--permission", "all=allow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, "# Plan\n\nI **look**.\nDone. ]0;owned\n");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "∴ They want to see it.");
    assert!(lines[1].starts_with("✓ read a.txt · 1 line · "), "{}", ran.stderr);
    assert!(lines[2].starts_with("✗ bash exit 3 · exit 3 · "), "{}", ran.stderr);
    assert!(lines[3].starts_with("✓ edit a.txt · +1 -1 · "), "{}", ran.stderr);
    assert_eq!(&lines[4..7], ["    @@ -1,1 +1,1 @@", "    -hello world", "    +hello there"]);
    assert!(lines[7].starts_with("scripted · 1,234 tokens · "), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'));
}

#[test]
fn what_was_said_is_said_and_answered_again_on_branches_of_its_own() {
    let world = world();
    let say = |text: &str| format!("answers = [{{ steps = [{{ text = {text:?} }}] }}]");
    let end = turn(&world, &say("Use sort()."), &["how do I sort?"]);
    let session = end["session"].as_str().unwrap();
    turn(&world, &say("Use sorted()."), &["-s", session, "--regenerate"]);
    assert_eq!(texts(&world, session), ["how do I sort?", "Use sorted()."]);
    let asked = world.json(&["show", session])["messages"][0]["id"].as_str().unwrap().to_owned();
    turn(&world, &say("Use sort_by."), &["-s", session, "--edit", &asked, "how do I sort by length?"]);
    assert_eq!(texts(&world, session), ["how do I sort by length?", "Use sort_by."]);
    let tree = world.json(&["tree", session]);
    assert_eq!((tree["leaves"].as_array().unwrap().len(), tree["roots"].as_array().unwrap().len()), (3, 2));
    let script = world.file("none.toml", &say("x"));
    let answer = world.json(&["show", session])["messages"][1]["id"].as_str().unwrap().to_owned();
    let refused = world.run(&["run", "x", "-s", session, "--edit", &answer, "--script", &script]);
    assert!(refused.code != 0 && refused.stderr.contains("not something a person said"), "{}", refused.stderr);
    assert_eq!(world.run(&["run", "--regenerate", "--script", &script]).code, 2);
}

#[test]
fn pictures_and_what_comes_through_a_pipe_are_part_of_the_prompt() {
    let world = world();
    let picture = world.path("project").join("dot.png");
    let png = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2, 3];
    std::fs::write(&picture, png).unwrap();
    let picture = picture.to_str().unwrap();
    let script = world.file("script.toml", "answers = [{ steps = [{ text = \"A dot.\" }] }]");
    let arguments = ["run", "what is this?", "--image", picture, "--script", &script, "--json"];
    let ran = world.run_with("some\ndiff\n", &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let session = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
    let said = &world.json(&["show", &session])["messages"][0];
    assert_eq!(said["text"], "what is this?\n\nsome\ndiff");
    assert_eq!(said["parts"][1], json!({"type": "image", "mime": "image/png", "data": "iVBORw0KGgoAAQID"}));
    let refused = world.run(&["run", "x", "--image", &script, "--script", &script]);
    assert!(refused.code == 1 && refused.stderr.contains("is no picture"), "{}", refused.stderr);
}

#[test]
fn a_session_gets_a_title_after_its_first_turn_and_only_then() {
    let world = world();
    let titled = "title = \" \\\"Sorting names.\\\"\\nmore\"\nanswers = [{ steps = [{ text = \"x\" }] }]";
    let end = turn(&world, titled, &["how do I sort?"]);
    let session = end["session"].as_str().unwrap();
    let title = |session: &str| world.json(&["show", session])["session"]["title"].as_str().unwrap().to_owned();
    assert_eq!(title(session), "Sorting names");
    turn(&world, &titled.replace("Sorting", "Other"), &["-s", session, "again"]);
    assert_eq!(title(session), "Sorting names");
    // A script without one is asked for none, and a setting turns it off.
    let end = turn(&world, "answers = [{ steps = [{ text = \"x\" }] }]", &["hello"]);
    assert!(title(end["session"].as_str().unwrap()).starts_with("New session - "));
    world.ok(&["config", "set", "titles", "off"]);
    let end = turn(&world, titled, &["hello"]);
    assert!(title(end["session"].as_str().unwrap()).starts_with("New session - "));
}

const MAKE: &str = r#"
[[answers]]
steps = [
    { call = { name = "deploy", arguments = { source = "site", name = "My Site" } } },
    { call = { name = "slides", arguments = { title = "The <plan>", slides = [{ title = "One", points = ["a & b"] }] } } },
    { call = { name = "deploy", arguments = { source = "../..", name = "out" } } },
]
[[answers]]
steps = [{ text = "Made." }]
"#;

#[test]
fn artefacts_are_files_entries_and_part_of_the_end() {
    let world = world();
    std::fs::create_dir_all(world.path("project/site/css")).unwrap();
    world.file("site/page.html", "<p>hello");
    world.file("site/css/a.css", "p{}");
    let end = turn(&world, MAKE, &["make it", "--permission", "deploy=allow", "--permission", "slides=allow"]);
    let session = end["session"].as_str().unwrap();
    let artifacts = end["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), 2, "{end:#}");
    // They are made side by side: either may be done first.
    let (webs, others): (Vec<&Value>, Vec<&Value>) = artifacts.iter().partition(|artifact| artifact["type"] == "web");
    let ([web], [slides]) = (webs.as_slice(), others.as_slice()) else { panic!("{end:#}") };
    assert_eq!(web["session_id"], session);
    let read = |path: &str| std::fs::read_to_string(world.path("project").join(path)).unwrap();
    assert_eq!(web["url"], format!("deployments/{session}/my-site/index.html"));
    assert_eq!(read(web["url"].as_str().unwrap()), "<p>hello");
    assert_eq!(read(&format!("deployments/{session}/my-site/css/a.css")), "p{}");
    let page = read(slides["url"].as_str().unwrap());
    assert!(page.contains("The &lt;plan&gt;") && page.contains("a &amp; b") && !page.contains("<plan>"), "{page}");
    let index: Value = serde_json::from_str(&read("deployments/manifest.json")).unwrap();
    assert_eq!(index["artifacts"][0], **web);
    let tree = world.json(&["tree", session, "--all"]);
    let stored = tree["entries"].as_array().unwrap().iter().filter(|entry| entry["type"] == "custom").filter(|entry| {
        world.ok(&["entry", &format!("{session}@{}", entry["id"].as_str().unwrap())]).contains("ramus.artifact")
    });
    assert_eq!(stored.count(), 2);
    let refused = texts(&world, session).into_iter().find(|text| text.contains("outside")).unwrap();
    assert!(refused.contains("outside the workspace"), "{refused}");
}

#[test]
fn long_output_is_kept_whole_and_can_be_read() {
    let world = world();
    let script = "[[answers]]\nsteps = [{ call = { name = \"bash\", arguments = { command = \"seq 1 30000\" } } }]\n\
                  [[answers]]\nsteps = [{ text = \"Long.\" }]";
    let end = turn(&world, script, &["count"]);
    let session = end["session"].as_str().unwrap();
    let result = texts(&world, session)[2].clone();
    let path = result.split("with the path ").nth(1).unwrap().trim_end().trim_end_matches(']').to_owned();
    assert!(result.contains("bytes left out") && path.starts_with("blob:sha256:"), "{path}");
    let script = format!(
        "[[answers]]\nsteps = [{{ call = {{ name = \"read\", arguments = {{ path = \"{path}\", offset = 15000, limit = 2 }} }} }}]\n\
         [[answers]]\nsteps = [{{ text = \"Read.\" }}]"
    );
    turn(&world, &script, &["-s", session, "look"]);
    let read = texts(&world, session).into_iter().find(|text| text.starts_with("15000\n")).unwrap();
    assert!(read.starts_with("15000\n15001\n\n[Lines 15000 to 15001 of 30000"), "{read}");
    // What a session refers to is no garbage, and a name that was made up is refused.
    world.ok(&["gc", "--yes"]);
    let script = script.replace(&path, &format!("blob:sha256:{}", "0".repeat(64)));
    turn(&world, &script, &["-s", session, "look"]);
    assert!(texts(&world, session).iter().any(|text| text.contains("is not kept here")));
}

/// Starts a command in a terminal; none when there is no script(1) to make one.
pub(crate) fn in_terminal(world: &World, command: &str) -> Option<Child> {
    let mut child = Command::new("script");
    child.args(["-qec", command, "/dev/null"]).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    child.env("HOME", world.path("user")).env("RAMUS_HOME", world.path("home")).env("TERM", "xterm");
    child.current_dir(world.path("project")).stdin(Stdio::piped()).stdout(Stdio::piped());
    child.spawn().ok()
}

/// Reads what a terminal shows until it shows `wanted`.
pub(crate) fn read_until(child: &mut Child, shown: &mut String, wanted: &str) {
    let stdout = child.stdout.as_mut().unwrap();
    let mut buffer = [0; 1024];
    while !shown.contains(wanted) {
        let count = stdout.read(&mut buffer).unwrap();
        assert!(count > 0, "{wanted:?} was not shown: {shown}");
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

#[test]
fn a_terminal_sees_text_as_it_comes_and_an_interrupt_stops_it() {
    let world = world();
    let script = world.file(
        "slow.toml",
        "answers = [{ steps = [{ text = \"The **begin\" }, { text = \"ning** \\u0007\" }, { delay_ms = 60000 }] }]",
    );
    let ramus = env!("CARGO_BIN_EXE_ramus");
    let Some(mut child) = in_terminal(&world, &format!("{ramus} run hello --script {script}")) else {
        return eprintln!("skipped: there is no script(1) to make a terminal");
    };
    let mut shown = String::new();
    read_until(&mut child, &mut shown, "\u{1b}[1mbeginning\u{1b}[0m ");
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    read_until(&mut child, &mut shown, "stopped");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let session = world.json(&["list", "--drafts"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(texts(&world, &session), ["hello", "The **beginning** \u{7}"]);
}

#[test]
fn a_second_interrupt_ends_a_program_that_cannot_stop() {
    let world = world();
    let script = world.file(
        "stuck.toml",
        "[[answers]]\nsteps = [{ call = { name = \"bash\", arguments = { command = \"trap '' TERM; echo on > on; sleep 60\" } } }]",
    );
    let mut command = world.command(&["run", "hello", "--script", &script, "--permission", "all=allow", "--json"]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let on = world.path("project").join("on");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !on.exists() {
        assert!(std::time::Instant::now() < deadline && child.try_wait().unwrap().is_none(), "it never started");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
