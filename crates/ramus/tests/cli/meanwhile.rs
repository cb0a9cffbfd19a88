//! What a person and another session change while a command of an agent runs is none of the command's.

use std::process::Stdio;
use std::time::{Duration, Instant};

use ramus_tools::sandbox::{Sandbox, Status};
use serde_json::{Value, json};

use crate::turns::{events, world};
use crate::world::World;

fn script(world: &World, name: &str, answers: &Value) -> String {
    let path = world.path("user").join(name);
    std::fs::write(&path, json!({ "answers": answers }).to_string()).unwrap();
    path.display().to_string()
}

fn calling(name: &str, arguments: &Value) -> Value {
    json!([{"steps": [{"call": {"name": name, "arguments": arguments}}]}, {"steps": [{"text": "Done."}]}])
}

fn read(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.path("project").join(path)).ok()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it looks until a command has written a file")]
fn what_others_write_while_a_command_runs_stays_when_it_goes_back() {
    let world = world();
    world.file("notes", "before\n");
    world.file("both", "before\n");
    let hello = script(&world, "hello.json", &json!([{"steps": [{"text": "Hello."}]}]));
    let ran = world.run(&["run", "hello", "--script", &hello, "--json"]);
    let end = events(&ran.stdout).pop().unwrap();
    let (session, answer) = (end["session"].as_str().unwrap(), end["entry"].as_str().unwrap());
    let command = "echo agent > both; touch begun; while [ ! -e go ]; do sleep 0.05; done; echo agent > a";
    let work = script(&world, "work.json", &calling("bash", &json!({"command": command})));
    let arguments = ["run", "work", "-s", session, "--script", &work, "--json", "--permission", "all=allow"];
    let mut started = world.command(&arguments);
    let turn = started.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while read(&world, "begun").is_none() {
        assert!(Instant::now() < deadline, "the command does not run");
        std::thread::sleep(Duration::from_millis(10));
    }
    // A person, and another session with a process of its own.
    world.file("notes", "by hand\n");
    world.file("new", "by hand\n");
    let other = script(&world, "other.json", &calling("write", &json!({"path": "b", "content": "other\n"})));
    let ran = world.run(&["run", "other", "--script", &other, "--json", "--permission", "all=allow"]);
    let other = events(&ran.stdout).pop().unwrap();
    assert_eq!(other["summary"]["files"], 1, "{other}");
    world.file("go", "");
    let done = turn.wait_with_output().unwrap();
    let told = String::from_utf8(done.stdout).unwrap();
    if Sandbox::status() != Status::Enforced {
        return eprintln!("SKIPPED, which is not passed: {}", Sandbox::status().describe());
    }
    assert!(told.contains("in a sandbox"), "{told}");
    let end = events(&told).pop().unwrap();
    assert_eq!(end["summary"]["files"], 3, "{end}");
    let reverted = world.json(&["revert", &format!("{session}@{answer}")]);
    let plan = json!([
        {"path": "a", "action": "delete", "conflict": null},
        {"path": "begun", "action": "delete", "conflict": null},
        {"path": "both", "action": "overwrite", "conflict": null},
    ]);
    assert_eq!((&reverted["plan"], &reverted["applied"]), (&plan, &json!(true)));
    let others = ["notes", "new", "b", "both"].map(|path| read(&world, path).unwrap());
    assert_eq!(others, ["by hand\n", "by hand\n", "other\n", "before\n"]);
    world.json(&["unrevert", session]);
    assert_eq!((read(&world, "a").as_deref(), read(&world, "both").as_deref()), (Some("agent\n"), Some("agent\n")));
    // What the other session wrote goes back with that one.
    let undone = world.json(&["undo", other["session"].as_str().unwrap()]);
    assert_eq!(undone["operation"]["op"], "run");
    assert_eq!((read(&world, "b"), read(&world, "notes").as_deref()), (None, Some("by hand\n")));
}
