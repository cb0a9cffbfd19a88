//! Children: sessions that do part of the work of another one.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::turns::{events, world};
use crate::world::World;

/// Two children side by side, and what they say.
const SIDE_BY_SIDE: &str = r#"
[[answers]]
steps = [
    { call = { name = "task", arguments = { agent = "explore", prompt = "find a", description = "Find a" } } },
    { call = { name = "task", arguments = { agent = "explore", prompt = "find b", description = "Find b" } } },
]
[[answers]]
steps = [{ delay_ms = 200 }, { text = "Found it." }]
[[answers]]
steps = [{ delay_ms = 200 }, { text = "Found it." }]
[[answers]]
steps = [{ text = "Both found." }]
"#;

#[test]
fn f1_f3_f4_f7_children_work_side_by_side_and_come_back_with_one_result_each_in_the_order_of_calls() {
    let world = world();
    let script = world.file("script.toml", SIDE_BY_SIDE);
    let ran = world.run(&["run", "find both", "--script", &script, "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let events = events(&ran.stdout);
    let at = |kind: &str| -> Vec<usize> {
        events.iter().enumerate().filter(|(_, event)| event["type"] == kind).map(|(at, _)| at).collect()
    };
    let (started, finished) = (at("child.started"), at("child.finished"));
    assert_eq!((started.len(), finished.len()), (2, 2));
    assert!(started.iter().max() < finished.iter().min(), "they run at the same time");
    assert!(events.iter().any(|event| event["type"] == "child.event" && event["event"]["type"] == "message.delta"));
    let parent = events.last().unwrap()["session"].as_str().unwrap();
    let shown = world.json(&["show", parent]);
    let results: Vec<&Value> =
        shown["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "toolResult").collect();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result["text"] == "@explore: Found it."), "{results:?}");
    let context = world.json(&["context", parent, "--dialect", "provider"])["messages"].as_array().unwrap().clone();
    let called: Vec<&Value> = context[1]["content"].as_array().unwrap().iter().map(|part| &part["id"]).collect();
    let answered: Vec<&Value> = context[2..4].iter().map(|message| &message["toolCallId"]).collect();
    assert_eq!(called, answered, "a model gets results in the order of its calls, whoever was first");
    let children = world.json(&["children", parent])["children"].as_array().unwrap().clone();
    let mut titles: Vec<&str> = children.iter().map(|child| child["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Find a", "Find b"]);
    assert!(children.iter().all(|child| child["parent"] == parent && child["messages"] == 2), "{children:?}");
    let named: Vec<&Value> = started.iter().map(|at| &events[*at]["child"]).collect();
    assert!(children.iter().all(|child| named.contains(&&child["id"])));
    assert_eq!(world.ok(&["children", children[0]["id"].as_str().unwrap()]), "no children");
}

/// A child that tries what its parent may not, what its kind may not, and to have children without end.
const GREEDY: &str = r#"
[[answers]]
steps = [{ call = { name = "task", arguments = { agent = "general", prompt = "write", description = "Write" } } }]
[[answers]]
steps = [
    { call = { name = "write", arguments = { path = "x.txt", content = "x" } } },
    { call = { name = "task", arguments = { agent = "explore", prompt = "write", description = "Deeper" } } },
]
[[answers]]
steps = [
    { call = { name = "bash", arguments = { command = "touch y.txt" } } },
    { call = { name = "edit", arguments = { path = "a", old = "a", new = "b" } } },
    { call = { name = "task", arguments = { agent = "explore", prompt = "x", description = "Deepest" } } },
]
[[answers]]
steps = [{ text = "Not allowed." }]
[[answers]]
steps = [{ text = "Nor I." }]
[[answers]]
steps = [{ text = "Well." }]
"#;

#[test]
fn f2_f6_a_child_never_may_more_than_its_parent() {
    let world = world();
    world.ok(&["config", "set", "child_depth", "2"]);
    let script = world.file("script.toml", GREEDY);
    let allowed = ["--permission", "all=allow", "--permission", "write=deny"];
    let ran = world.run(&[&["run", "go", "--script", &script, "--json"], allowed.as_slice()].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for name in ["x.txt", "y.txt"] {
        assert!(!world.path("project").join(name).exists(), "{name}");
    }
    let parent = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
    let child = world.json(&["children", &parent])["children"][0]["id"].as_str().unwrap().to_owned();
    let denied = |session: &str| -> Vec<String> {
        let shown = world.json(&["show", session]);
        let results = shown["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "toolResult");
        results.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    };
    assert!(denied(&child).iter().any(|text| text.contains("deny write *")), "{:?}", denied(&child));
    let deeper = world.json(&["children", &child])["children"][0]["id"].as_str().unwrap().to_owned();
    let refusals = denied(&deeper);
    assert_eq!(refusals.len(), 3, "{refusals:?}");
    assert!(refusals.iter().all(|text| text.starts_with("[Denied") || text.starts_with("[Error: there is no tool")));
    // The whole family, from the top.
    let tree = world.json(&["children", &parent, "--tree"]);
    assert_eq!(tree["children"][0]["id"], child);
    assert_eq!(tree["children"][0]["children"][0]["id"], deeper);
    assert_eq!(tree["children"][0]["children"][0]["children"], serde_json::json!([]));
    let drawn = world.ok(&["children", &parent, "--tree"]);
    let lines: Vec<&str> = drawn.lines().collect();
    assert!(lines[0].starts_with(&child) && lines[1].starts_with(&format!("  {deeper}")), "{drawn}");
}

#[test]
fn f6_f8_children_have_no_children_unless_the_settings_say_so() {
    let world = world();
    let script = world.file("script.toml", GREEDY);
    let ran = world.run(&["run", "go", "--script", &script, "--json", "--permission", "all=allow"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let parent = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
    let tree = world.json(&["children", &parent, "--tree"]);
    assert_eq!(tree["children"].as_array().unwrap().len(), 1);
    assert_eq!(tree["children"][0]["children"], serde_json::json!([]));
    let child = tree["children"][0]["id"].as_str().unwrap();
    let shown = world.json(&["show", child]).to_string();
    assert!(shown.contains("there is no tool"), "{shown}");
    for wrong in ["0", "9", "", "many"] {
        assert_eq!(world.run(&["config", "set", "child_depth", wrong]).code, 2, "{wrong:?}");
    }
}

/// Runs a turn whose child works apart, writes a file and then does this.
fn apart(world: &World, end: &str) -> (String, String) {
    let script = world.file(
        "apart.toml",
        &format!(
            "[[answers]]\nsteps = [{{ call = {{ name = \"task\", arguments = {{ agent = \"general\", prompt = \"write\", description = \"Write\", apart = true }} }} }}]\n\
             [[answers]]\nsteps = [{{ call = {{ name = \"write\", arguments = {{ path = \"made.txt\", content = \"made apart\" }} }} }}]\n\
             [[answers]]\nsteps = [{{ call = {{ name = \"bash\", arguments = {{ command = \"pwd > where.txt\" }} }} }}]\n\
             [[answers]]\nsteps = [{end}]\n\
             [[answers]]\nsteps = [{{ text = \"Good.\" }}]\n"
        ),
    );
    world.file("project.txt", "of the project\n");
    let ran = world.run(&["run", "go", "--script", &script, "--json", "--permission", "all=allow"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let parent = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
    let shown = world.json(&["show", &parent]);
    let result = shown["messages"].as_array().unwrap().iter().find(|message| message["role"] == "toolResult").unwrap();
    (parent, result["text"].as_str().unwrap().to_owned())
}

/// What is left of copies.
fn copies(world: &World) -> usize {
    std::fs::read_dir(world.path("user").join(".cache/ramus/children")).map_or(0, |entries| entries.count())
}

#[test]
fn f5_what_a_child_changed_apart_is_applied_when_it_succeeds() {
    let world = world();
    let (parent, result) = apart(&world, "{ text = \"Written.\" }");
    assert!(result.contains("@general: Written.\n[Its changes were applied: made.txt, where.txt]"), "{result}");
    let read = |name: &str| std::fs::read_to_string(world.path("project").join(name)).ok();
    assert_eq!(read("made.txt").as_deref(), Some("made apart"));
    let worked = read("where.txt").unwrap();
    assert!(worked.contains(".cache/ramus/children/"), "it worked in a copy: {worked}");
    assert_eq!(copies(&world), 0, "the copy is gone");
    let child = world.json(&["children", &parent])["children"][0].clone();
    assert_eq!(child["cwd"], world.path("project").display().to_string());
    // It counts as what the turn did, and is taken back with it.
    assert_eq!(world.json(&["show", &parent])["session"]["summary"]["files"], 2);
    let first = world.json(&["show", &parent])["messages"][0]["id"].as_str().unwrap().to_owned();
    world.json(&["revert", &format!("{parent}@{first}")]);
    assert_eq!((read("made.txt"), read("project.txt").as_deref()), (None, Some("of the project\n")));
}

#[test]
fn f5_what_a_child_changed_apart_is_dropped_when_it_fails() {
    let world = world();
    let (_, result) = apart(&world, "{ error = \"denied\" }");
    assert!(result.contains("[Failed") && result.contains("[What it changed was dropped]"), "{result}");
    assert!(!world.path("project").join("made.txt").exists() && !world.path("project").join("where.txt").exists());
    assert_eq!(copies(&world), 0);
}

/// Starts a turn whose child waits for a minute, and returns it when the child has said something.
fn waiting(world: &World) -> Child {
    let script = world.file(
        "slow.toml",
        "[[answers]]\nsteps = [{ call = { name = \"task\", arguments = { agent = \"general\", prompt = \"wait\", description = \"Wait\" } } }]\n\
         [[answers]]\nsteps = [{ text = \"Waiting\" }, { delay_ms = 60000 }]\n",
    );
    let mut command = world.command(&["run", "hello", "--script", &script, "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("message.delta") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut output, &mut line).unwrap() > 0, "nothing was said");
    }
    // Closing the pipe would end it.
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    child
}

/// The session that has no parent.
fn parent(world: &World) -> String {
    let sessions = world.json(&["list", "--drafts"])["sessions"].as_array().unwrap().clone();
    sessions.iter().find(|session| session["parent"].is_null()).unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn f9_who_stops_a_turn_stops_its_children() {
    let world = world();
    let mut child = waiting(&world);
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let parent = parent(&world);
    let result = &world.json(&["show", &parent])["messages"][2];
    assert!(result["text"].as_str().unwrap().starts_with("@general: Waiting\n[Cancelled"), "{result}");
    let work = world.json(&["children", &parent])["children"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.json(&["show", &work])["messages"][1]["text"], "Waiting");
}

#[test]
fn after_a_crash_nothing_is_done_again_and_both_sessions_go_on() {
    let world = world();
    let mut child = waiting(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    let parent = parent(&world);
    let work = world.json(&["children", &parent])["children"][0]["id"].as_str().unwrap().to_owned();
    let more = world.file("more.toml", "answers = [{ steps = [{ text = \"Going on.\" }] }]");
    for session in [&parent, &work] {
        world.ok(&["run", "go on", "-s", session, "--script", &more]);
    }
    let shown = world.json(&["show", &parent]);
    let result = shown["messages"].as_array().unwrap().iter().find(|message| message["role"] == "toolResult").unwrap();
    assert!(result["text"].as_str().unwrap().contains("may or may not have taken effect"), "{result}");
    assert_eq!(world.json(&["children", &parent])["children"].as_array().unwrap().len(), 1);
}
