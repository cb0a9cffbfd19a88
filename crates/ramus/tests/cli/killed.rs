//! A turn that is killed in the middle of a call: what the call had changed can be looked at and taken back.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::turns::{events, world};
use crate::world::World;

fn script(world: &World, answers: &Value) -> String {
    let path = world.path("user").join("script.json");
    std::fs::write(&path, json!({ "answers": answers }).to_string()).unwrap();
    path.display().to_string()
}

/// A turn in which nothing changes; returns its session and its answer.
fn quiet_turn(world: &World) -> (String, String) {
    let script = script(world, &json!([{"steps": [{"text": "Hello."}]}]));
    let ran = world.run(&["run", "hello", "--script", &script, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let end = events(&ran.stdout).pop().unwrap();
    (end["session"].as_str().unwrap().to_owned(), end["entry"].as_str().unwrap().to_owned())
}

/// Kills a turn, and the command that it runs, once the command has done this and waits.
#[expect(clippy::disallowed_methods, reason = "the pulse beats by the clock, and no beat shows outside")]
fn killed_turn(world: &World, session: &str, command: &str) {
    let command = format!("{command}; echo $$ > pid; sleep 60");
    let call = json!({"call": {"name": "bash", "arguments": {"command": command}}});
    let script = script(world, &json!([{"steps": [call]}]));
    let arguments = ["run", "work", "-s", session, "--script", &script, "--permission", "all=allow"];
    let mut command = world.command(&arguments);
    let mut turn = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = wait_for(&world.path("project/pid"));
    // Beats of the pulse later, so that it is known that the command had done it.
    std::thread::sleep(Duration::from_millis(1500));
    turn.kill().unwrap();
    turn.wait().unwrap();
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "it looks until a command has written a file")]
fn wait_for(path: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().to_owned();
        }
        assert!(Instant::now() < deadline, "{} did not come", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn read(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.path("project").join(path)).ok()
}

fn files(world: &World) -> [Option<String>; 3] {
    ["a", "k1", "pid"].map(|path| read(world, path))
}

#[test]
fn what_a_killed_call_changed_goes_back_and_comes_again() {
    let world = world();
    world.file("a", "base\n");
    let (session, answer) = quiet_turn(&world);
    killed_turn(&world, &session, "echo agent > a; echo agent > k1");
    let target = format!("{session}@{answer}");
    let before = files(&world);
    // Looking changes nothing, and finds what was there before.
    let listed = world.json(&["snapshots", &session]);
    assert_eq!(listed["snapshots"].as_array().unwrap().len(), 1, "{listed}");
    let old = &listed["snapshots"][0];
    assert_eq!((&old["cause"], &old["label"]), (&json!("before"), &json!("Before bash")));
    let changed = world.json(&["diff", &session]);
    assert_eq!(changed["files"], 3, "{changed}");
    // Nothing of it goes while nothing else names it.
    world.ok(&["gc", "--yes"]);
    let done = world.json(&["revert", &target]);
    let plan = json!([
        {"path": "a", "action": "overwrite", "conflict": null},
        {"path": "k1", "action": "delete", "conflict": null},
        {"path": "pid", "action": "delete", "conflict": null},
    ]);
    assert_eq!((&done["plan"], &done["applied"]), (&plan, &json!(true)));
    assert_eq!(files(&world), [Some("base\n".to_owned()), None, None]);
    world.json(&["unrevert", &session]);
    assert_eq!(files(&world), before);
    let listed = world.json(&["snapshots", &session]);
    let labels: Vec<&str> =
        listed["snapshots"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"Before bash") && labels.contains(&"After bash, interrupted"), "{labels:?}");
    // The turn counts as one step, with what is known about its call.
    for _ in 0..2 {
        world.json(&["undo", &session]);
    }
    let undone = world.json(&["undo", &session]);
    assert_eq!(undone["operation"]["op"], "run", "{undone}");
    assert_eq!(files(&world), [Some("base\n".to_owned()), None, None]);
    world.json(&["redo", &session]);
    assert_eq!(files(&world), before);
    let shown = world.json(&["show", &session]);
    let result = shown["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(result["changed"]["files"], 3, "{result}");
    assert!(result["text"].as_str().unwrap().contains("may or may not"), "{result}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is told apart is what came later, by the clock")]
fn what_a_person_writes_after_the_kill_is_not_lost() {
    let world = world();
    world.file("a", "base\n");
    world.file("gone", "base\n");
    world.file("mine", "base\n");
    let (session, answer) = quiet_turn(&world);
    killed_turn(&world, &session, "echo agent > a; mkdir d; echo agent > d/k; echo agent > k1");
    std::thread::sleep(Duration::from_millis(1200));
    world.file("a", "mine\n");
    world.file("new", "mine\n");
    std::fs::remove_file(world.path("project/gone")).unwrap();
    std::fs::rename(world.path("project/d"), world.path("project/e")).unwrap();
    // Whatever is written next notes what there is; what a person does then is known to be theirs.
    world.ok(&["rename", &session, "Killed"]);
    world.file("mine", "mine\n");
    let target = format!("{session}@{answer}");
    let done = world.json_of(&["revert", &target]);
    let plan = json!([
        {"path": "a", "action": "overwrite", "conflict": "changed"},
        {"path": "e/k", "action": "delete", "conflict": "changed"},
        {"path": "gone", "action": "create", "conflict": null},
        {"path": "k1", "action": "delete", "conflict": null},
        {"path": "new", "action": "delete", "conflict": "changed"},
        {"path": "pid", "action": "delete", "conflict": null},
    ]);
    assert_eq!(done["plan"], plan);
    let kept = ["a", "e/k", "new", "mine"].map(|path| read(&world, path));
    assert_eq!(kept.map(Option::unwrap), ["mine\n", "agent\n", "mine\n", "mine\n"]);
    assert_eq!((read(&world, "gone").as_deref(), read(&world, "k1")), (Some("base\n"), None));
}
