//! What an import leaves alone, and says so.

use ramus_engine::{ForeignImport, ForeignImported};
use ramus_interchange::Format;

use crate::foreign_world::{CLAUDE, Machine, answered, asked, conversation};

fn skipped(done: &ForeignImported) -> Vec<(Option<&str>, Option<&str>, String)> {
    let name = |file: &std::path::Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    let skipped = done.skipped.iter();
    skipped.map(|skip| (skip.id.as_ref().map(|id| id.as_str()), skip.agent, name(&skip.file))).collect()
}

#[test]
fn a_file_is_known_however_long_its_first_lines_are() {
    let machine = Machine::new();
    let picture = format!("look {}", "x".repeat(300_000));
    let claude = [asked("u1-0000", None, &picture), answered("a1-0000", "u1-0000", "I see.")];
    machine.write("backup/picture.jsonl", (claude.join("\n") + "\n").as_bytes());
    let codex = format!(
        r#"{{"type":"session_meta","payload":{{"base_instructions":"{}","id":"01a1de00-0000-7000-8000-00000000aaaa","cwd":"/proj"}}}}
{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"hi"}}]}}}}
"#,
        "x".repeat(90_000)
    );
    machine.write("backup/rollout.jsonl", codex.as_bytes());
    let done = machine.import_path(&machine.path("backup"));
    let mut agents: Vec<_> = done.imported.iter().map(|session| session.agent).collect();
    agents.sort_unstable();
    assert_eq!((agents, done.skipped.len()), (vec!["claude", "codex"], 0));
    let machine = Machine::new();
    let file = machine.write("picture.jsonl", (claude.join("\n") + "\n").as_bytes());
    assert_eq!(machine.import_path(&file).imported.len(), 1);
}

#[test]
fn what_is_no_session_is_told() {
    let machine = Machine::new();
    machine.write("backup/some.jsonl", (conversation().join("\n") + "\n").as_bytes());
    machine.write("backup/notes.json", b"{\"not\":\"a session\"}");
    machine.write("backup/lines.jsonl", b"{\"not\":\"a session\"}\n".repeat(10_000).as_slice());
    machine.write("backup/deep/other.db", b"no database");
    machine.write("backup/words.txt", b"hello");
    let done = machine.import_path(&machine.path("backup"));
    assert_eq!((done.imported.len(), done.failed.len(), done.unchanged), (1, 0, 0));
    let names = ["lines.jsonl", "other.db"].map(|name| (None, None, name.to_owned()));
    assert_eq!(skipped(&done), names);
}

#[test]
fn what_is_here_already_is_told() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    assert_eq!(machine.import().skipped, []);
    let known = vec![(Some(CLAUDE), Some("claude"), format!("{CLAUDE}.jsonl"))];
    // From what is remembered, and by reading it again.
    let done = machine.import();
    assert_eq!((skipped(&done), done.unchanged), (known.clone(), 1));
    std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).unwrap();
    let done = machine.import();
    assert_eq!((skipped(&done), done.unchanged), (known, 1));
}

/// A source that shares one of its sessions with another gives its others all the same.
#[test]
fn a_dry_run_tells_what_stands_behind_a_shared_session() {
    let machine = Machine::new();
    let lines = conversation().join("\n") + "\n";
    let child = lines.replace("\"isSidechain\":false", "\"isSidechain\":true");
    machine.claude(CLAUDE, &conversation());
    machine.write(&format!("copy/{CLAUDE}.jsonl"), lines.as_bytes());
    machine.write(&format!("copy/{CLAUDE}/subagents/agent-a1.jsonl"), child.as_bytes());
    let stores = || {
        let here = machine.engine.find_foreign_at(&machine.path(".claude"), None).unwrap();
        [here, machine.engine.find_foreign_at(&machine.path("copy"), None).unwrap()]
    };
    let ids = |done: &ForeignImported| {
        let mut ids: Vec<_> = done.imported.iter().map(|session| session.id.to_string()).collect();
        ids.sort_unstable();
        ids
    };
    let options = ForeignImport { threads: 1, ..ForeignImport::default() };
    let dry = ForeignImport { dry_run: true, ..options };
    let dry = machine.engine.import_foreign(&stores(), dry, &mut |_| {}).unwrap();
    assert_eq!(skipped(&dry), [(Some(CLAUDE), Some(Format::Claude.name()), format!("{CLAUDE}.jsonl"))]);
    let real = machine.engine.import_foreign(&stores(), options, &mut |_| {}).unwrap();
    assert_eq!((ids(&dry), dry.unchanged), (ids(&real), real.unchanged));
    assert_eq!(ids(&dry).len(), 2);
}
