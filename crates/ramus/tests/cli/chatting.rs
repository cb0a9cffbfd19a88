//! `chat`: lines from a pipe and from a terminal, and the slash commands.

use std::io::Write as _;

use crate::turns::{in_terminal, read_until, world};
use crate::world::World;

fn chat(world: &World, lines: &str, script: &str) -> crate::world::Ran {
    let script = world.file("script.toml", script);
    world.run_with(lines, &["chat", "--script", &script])
}

fn texts(world: &World) -> Vec<String> {
    let shown = world.json(&["show", "last"]);
    shown["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

const THREE: &str = r#"
[[answers]]
steps = [{ text = "One." }]
[[answers]]
steps = [{ text = "Two." }]
[[answers]]
steps = [{ text = "Three." }]
"#;

#[test]
fn every_line_is_a_turn_of_one_session() {
    let world = world();
    let ran = chat(&world, "first\n\nsecond \\\nline\n/quit\nnever said\n", THREE);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, "One.\nTwo.\n");
    assert_eq!(texts(&world), ["first", "One.", "second \nline", "Two."]);
    assert_eq!(world.json(&["list", "--drafts"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_chat_in_which_nothing_is_said_leaves_nothing() {
    let world = world();
    let ran = chat(&world, "/help\n/tree\n", THREE);
    assert!(ran.stderr.contains("/regenerate") && ran.stderr.contains("nothing was said yet"), "{}", ran.stderr);
    assert_eq!(world.json(&["list", "--drafts"])["sessions"].as_array().unwrap().len(), 0);
}

#[test]
fn slash_commands_work_on_the_tree() {
    let world = world();
    let lines = "first\n/label start\nsecond\n/undo\n/regenerate\n/tree\n/cost\n/tools\n/nonsense\n";
    let ran = chat(&world, lines, THREE);
    assert_eq!(texts(&world), ["first", "Three."]);
    assert!(
        ran.stdout.contains("start") && ran.stdout.contains("tokens") && ran.stdout.contains("bash"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("there is no command /nonsense"), "{}", ran.stderr);
    assert_eq!(ran.code, 1, "the last line went wrong");
    // Going on with it: another branch, other words, another model.
    let script = world.file("more.toml", THREE);
    let ran =
        world.run_with("/branch start\n/edit other words\n/model a/b\n", &["chat", "-s", "last", "--script", &script]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(texts(&world), ["other words", "One."]);
    assert_eq!(world.json(&["context", "last"])["models"]["default"], "a/b");
}

#[test]
fn what_is_typed_while_the_model_answers_is_told_to_it() {
    let world = world();
    let script = world.file(
        "script.toml",
        "[[answers]]\nsteps = [{ text = \"Working\" }, { delay_ms = 4000 }, { call = { name = \"list\", arguments = {} } }]\n\
         [[answers]]\nsteps = [{ text = \"Heard.\" }]\n[[answers]]\nsteps = [{ text = \"Later heard.\" }]\n",
    );
    let ramus = env!("CARGO_BIN_EXE_ramus");
    let Some(mut child) = in_terminal(&world, &format!("{ramus} chat --script {script}")) else {
        return eprintln!("skipped: there is no script(1) to make a terminal");
    };
    let mut shown = String::new();
    let mut keys = child.stdin.take().unwrap();
    read_until(&mut child, &mut shown, "> ");
    keys.write_all(b"hello\r").unwrap();
    read_until(&mut child, &mut shown, "Working");
    keys.write_all(b"> and then\rin between\r").unwrap();
    read_until(&mut child, &mut shown, "Later heard.");
    read_until(&mut child, &mut shown, "session ");
    // Whether the editor is there again or not: a line is taken either way.
    keys.write_all(b"/quit\r").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{shown}");
    let said = texts(&world);
    let words: Vec<&str> = said.iter().map(String::as_str).filter(|text| !text.ends_with('\n')).collect();
    assert_eq!((words[0], words[1]), ("hello", "Working"));
    assert_eq!(&words[words.len() - 4..], ["in between", "Heard.", "and then", "Later heard."]);
}
