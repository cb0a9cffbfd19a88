//! Sessions of other agents come in: whole, once, growing with their files, and beside what a person did here.

use std::path::Path;

use ramus_engine::{ForeignImport, Say};
use ramus_model::json::Raw;

use crate::foreign_world::{CLAUDE, Machine, age, answered, asked, conversation};
use crate::homes::path;

fn append(file: &Path, text: &str) {
    let mut whole = std::fs::read(file).unwrap();
    whole.extend_from_slice(text.as_bytes());
    std::fs::write(file, whole).unwrap();
    age(file);
}

#[test]
fn h4_a_session_comes_in_and_says_where_it_came_from() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    let done = machine.import();
    assert_eq!((done.imported.len(), done.grown.len(), done.unchanged, done.failed.len()), (1, 0, 0, 0));
    assert_eq!((done.imported[0].id.as_str(), done.imported[0].agent), (CLAUDE, "claude"));
    let session = machine.session(CLAUDE);
    assert_eq!(path(&session), ["What is a ramus?", "A branch."]);
    let from = session.info().unwrap().lineage.imported_from.unwrap();
    assert_eq!((from.agent.as_str(), Path::new(&from.file)), ("claude", &*file));
    assert_eq!(session.cwd(), "/proj");
    assert!(machine.home.store.is_imported(session.id()).unwrap(), "what comes in is not trusted");
}

#[test]
fn h4_importing_again_changes_nothing_with_and_without_memory() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    machine.import();
    let before = machine.logs();
    let again = machine.import();
    assert_eq!((again.imported.len(), again.grown.len(), again.unchanged), (0, 0, 1));
    assert_eq!(machine.logs(), before);
    let memory = machine.home.directory.path().join("home/imports.json");
    assert!(memory.exists());
    for content in [None, Some("no JSON"), Some(r#"{"kind":"other","sources":{}}"#)] {
        std::fs::remove_file(&memory).unwrap();
        if let Some(content) = content {
            std::fs::write(&memory, content).unwrap();
        }
        let read = machine.import();
        assert_eq!((read.imported.len(), read.grown.len(), read.unchanged), (0, 0, 1), "{content:?}");
        assert_eq!(machine.logs(), before, "{content:?}");
    }
}

#[test]
fn h4_a_file_that_grew_adds_what_is_new_and_the_leaf_follows() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    machine.import();
    let before = machine.logs();
    append(&file, &format!("{}\n", asked("u2-0000", Some("a1-0000"), "And a leaf?")));
    append(&file, &format!("{}\n", answered("a2-0000", "u2-0000", "Its end.")));
    let done = machine.import();
    assert_eq!((done.imported.len(), done.grown.len()), (0, 1));
    assert_eq!(done.grown[0].added, 2);
    let session = machine.session(CLAUDE);
    assert_eq!(path(&session), ["What is a ramus?", "A branch.", "And a leaf?", "Its end."]);
    assert!(machine.logs()[0].1.starts_with(&before[0].1), "what was there stays as it was");
    let settled = machine.logs();
    assert_eq!(machine.import().unchanged, 1);
    assert_eq!(machine.logs(), settled);
}

#[test]
fn h4_what_a_person_did_here_stays_and_new_lines_become_a_branch() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    machine.import();
    let mut session = machine.session(CLAUDE);
    machine.engine.say(&mut session, Say::user("Mine.")).unwrap();
    append(&file, &format!("{}\n", asked("u2-0000", Some("a1-0000"), "Theirs.")));
    let done = machine.import();
    assert_eq!(done.grown.len(), 1);
    let session = machine.session(CLAUDE);
    assert_eq!(path(&session), ["What is a ramus?", "A branch.", "Mine."], "the leaf stays");
    assert_eq!(done.grown[0].branches, 2);
    let theirs = session.resolve("u2-0000").unwrap();
    let parent = session.log().record(theirs).unwrap().parent().unwrap();
    assert_eq!(session.log().id(parent), "a1-0000");
    let settled = machine.logs();
    assert_eq!(machine.import().unchanged, 1);
    assert_eq!(machine.logs(), settled);
}

#[test]
fn h4_an_entry_that_changed_at_the_end_becomes_a_later_version() {
    let machine = Machine::new();
    let mut lines = conversation();
    let file = machine.claude(CLAUDE, &lines);
    machine.import();
    // The second block of the same answer: the entry becomes longer.
    lines.push(lines[1].replace("A branch.", "Of a tree.").replace(r#""uuid":"a1-0000""#, r#""uuid":"a1-0001""#));
    lines[2] = lines[2].replace(r#""parentUuid":"u1-0000""#, r#""parentUuid":"a1-0000""#);
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    age(&file);
    let done = machine.import();
    assert_eq!((done.grown.len(), done.grown[0].changed), (1, 1), "{:?}", done.grown);
    let session = machine.session(CLAUDE);
    let texts = path(&session).join(" ");
    assert!(texts.contains("A branch.") && texts.contains("Of a tree."), "{texts}");
    let settled = machine.logs();
    std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).ok();
    assert_eq!(machine.import().unchanged, 1, "a later version is known again");
    assert_eq!(machine.logs(), settled);
}

#[test]
fn h4_a_line_that_is_not_complete_waits() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    let next = asked("u2-0000", Some("a1-0000"), "And a leaf?");
    let (front, back) = next.split_at(next.len() / 2);
    append(&file, front);
    let done = machine.import();
    assert_eq!(path(&machine.session(CLAUDE)), ["What is a ramus?", "A branch."]);
    assert!(done.imported[0].losses.iter().any(|loss| loss.why.contains("not complete yet")), "{done:?}");
    append(&file, back);
    assert_eq!(machine.import().grown[0].added, 1, "a whole value needs no newline");
    append(&file, "\n");
    assert_eq!(machine.import().grown.len(), 0);
    assert_eq!(path(&machine.session(CLAUDE)).len(), 3);
}

#[test]
fn h4_agents_that_a_session_spawned_are_its_children() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let child =
        asked("c1-0000", None, "Look.").replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"b1""#);
    machine.claude(&format!("{CLAUDE}/subagents/agent-b1"), &[child]);
    let done = machine.import();
    assert_eq!(done.imported.len(), 2, "{done:?}");
    let child = machine.session(&format!("{CLAUDE}.b1"));
    assert_eq!(child.info().unwrap().lineage.parent.unwrap().as_str(), CLAUDE);
    assert_eq!(path(&child), ["Look."]);
}

#[test]
fn h4_agents_that_a_session_of_omp_spawned_are_its_children_wherever_they_are_read_from() {
    for is_named in [false, true] {
        let machine = Machine::new();
        let session = |id: &str, text: &str| {
            let header = format!(
                r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/proj"}}"#
            );
            let said = format!(
                r#"{{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
            );
            format!("{header}\n{said}\n").into_bytes()
        };
        let place = ".omp/agent/sessions/-proj";
        let name = "2026-11-01T09-00-00-000Z_parent-0001";
        machine.write(&format!("{place}/{name}.jsonl"), &session("parent-0001", "Do it."));
        machine.write(&format!("{place}/{name}/0-Task.jsonl"), &session("child-0001", "Part one."));
        machine.write(&format!("{place}/{name}/0-Task/1-Sub.jsonl"), &session("child-0002", "Part two."));
        let done = if is_named { machine.import_path(&machine.path(place)) } else { machine.import() };
        assert_eq!((done.imported.len(), done.failed.len()), (3, 0), "{done:?}");
        for child in ["child-0001", "child-0002"] {
            let parent = machine.session(child).info().unwrap().lineage.parent;
            assert_eq!(parent.unwrap().as_str(), "parent-0001", "{child}, named: {is_named}");
        }
        assert_eq!(machine.session("parent-0001").info().unwrap().lineage.parent, None);
    }
}

#[test]
fn h4_an_agents_file_beside_its_session_is_a_child_and_outputs_are_never_looked_for_outside() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let child = asked("c1-0000", None, "Look.").replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    machine.claude("agent-b1", &[child]);
    let secret = machine.write("secret.txt", b"a secret");
    let call = answered("a2-0000", "u1-0000", "x")
        .replace(r#"{"type":"text","text":"x"}"#, r#"{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}"#);
    let result = |name: &str, parent: &str, file: &str| {
        let told = format!("<persisted-output>\\nFull output saved to: /x/tool-results/{file}\\n");
        let block = format!(r#"[{{"type":"tool_result","tool_use_id":"toolu_1","content":"{told}"}}]"#);
        asked(name, Some(parent), "x").replace(r#""content":"x""#, &format!(r#""content":{block}"#))
    };
    let lines = [
        asked("u1-0000", None, "Go."),
        call,
        result("r1-0000", "a2-0000", "good.txt"),
        result("r2-0000", "a2-0000", "bad.txt"),
    ];
    let other = "dddddddd-0000-4000-8000-000000000004";
    let lines: Vec<String> = lines.iter().map(|line| line.replace(CLAUDE, other)).collect();
    machine.claude(other, &lines);
    machine.write(&format!(".claude/projects/-proj/{other}/tool-results/good.txt"), b"all of it");
    let link = machine.path(&format!(".claude/projects/-proj/{other}/tool-results/bad.txt"));
    std::os::unix::fs::symlink(&secret, link).unwrap();
    let done = machine.import();
    assert_eq!((done.imported.len(), done.failed.len()), (3, 0), "{done:?}");
    let child = machine.session(&format!("{CLAUDE}.b1"));
    assert_eq!(child.info().unwrap().lineage.parent.unwrap().as_str(), CLAUDE);
    let logs = machine.logs().into_iter().map(|(_, log)| String::from_utf8(log).unwrap()).collect::<String>();
    assert!(logs.contains("all of it") && !logs.contains("a secret"));
    let lossy = done.imported.iter().find(|session| session.id.as_str() == other).unwrap();
    assert!(lossy.losses.iter().any(|loss| loss.why.contains("not a regular file")), "{:?}", lossy.losses);
}

#[test]
fn h4_files_of_one_session_of_gemini_are_one_session() {
    let machine = Machine::new();
    let id = "368f7678-0000-4000-8000-000000000001";
    let head = format!(
        r#"{{"sessionId":"{id}","projectHash":"p","startTime":"2026-11-01T09:00:00.000Z","lastUpdated":"2026-11-01T09:00:00.000Z","kind":"main"}}"#
    );
    let said = |id: &str, kind: &str, text: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-11-01T09:00:01.000Z","type":"{kind}","content":"{text}"}}"#)
    };
    let place = ".gemini/tmp/proj/chats";
    let chat = [head.clone(), said("m1", "user", "Hello."), said("m2", "gemini", "Hi.")].join("\n");
    machine.write(&format!("{place}/session-2026-11-01T09-00-368f7678.jsonl"), format!("{chat}\n").as_bytes());
    // Resuming left a file with nothing but a head, later one that goes on.
    machine.write(&format!("{place}/session-2026-11-01T09-10-368f7678.jsonl"), format!("{head}\n").as_bytes());
    let done = machine.import();
    assert_eq!((done.imported.len(), done.failed.len()), (1, 0), "{done:?}");
    let more = [head, said("m3", "user", "More."), said("m4", "gemini", "Yes.")].join("\n");
    machine.write(&format!("{place}/session-2026-11-01T09-20-368f7678.jsonl"), format!("{more}\n").as_bytes());
    let done = machine.import();
    assert_eq!((done.imported.len(), done.grown.len(), done.failed.len()), (0, 1, 0), "{done:?}");
    assert_eq!(machine.engine.list(&Default::default()).unwrap().sessions.len(), 1);
    let session = machine.session(id);
    assert!(["m1", "m2", "m3", "m4"].iter().all(|id| session.resolve(id).is_ok()));
    assert_eq!(machine.import().unchanged, 3, "nothing changes any more");
}

#[test]
fn h4_a_copy_elsewhere_is_the_same_session_and_another_one_is_not() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    machine.import();
    // Moved, and longer.
    let mut longer = conversation();
    longer.push(asked("u2-0000", Some("a1-0000"), "And a leaf?"));
    std::fs::remove_file(file).unwrap();
    let moved =
        machine.write(&format!(".claude/projects/-other/{CLAUDE}.jsonl"), (longer.join("\n") + "\n").as_bytes());
    let done = machine.import();
    assert_eq!((done.imported.len(), done.grown.len()), (0, 1), "{done:?}");
    assert_eq!(path(&machine.session(CLAUDE)).len(), 3);
    // It is still what the session follows.
    longer[2] = asked("u2-0000", Some("a1-0000"), "And a leaf, or two?");
    std::fs::write(&moved, longer.join("\n") + "\n").unwrap();
    age(&moved);
    assert_eq!(machine.import().grown[0].changed, 1);
    assert_eq!(path(&machine.session(CLAUDE))[2], "And a leaf, or two?");
    // An older copy adds nothing and takes nothing away.
    let settled = machine.logs();
    machine.claude(CLAUDE, &conversation()[..1]);
    assert_eq!(machine.import().unchanged, 2);
    assert_eq!(machine.logs(), settled);
    // Something else under the same id is a session of its own.
    let other = [asked("x1-0000", None, "Something else."), answered("a1-0000", "x1-0000", "Quite.")];
    std::fs::write(&moved, other.join("\n") + "\n").unwrap();
    age(&moved);
    let done = machine.import();
    assert_eq!(done.imported.len(), 1, "{done:?}");
    let other = done.imported[0].id.to_string();
    assert!(other.starts_with(CLAUDE) && other != CLAUDE);
    assert_eq!(path(&machine.session(&other)), ["Something else.", "Quite."]);
    assert_eq!(path(&machine.session(CLAUDE)).len(), 3);
    assert_eq!(machine.import().imported.len(), 0);
}

#[test]
fn h4_a_bad_file_is_reported_and_the_rest_comes_in() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    machine.write(
        ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-01a1de00-0000-7000-8000-00000000abcd.jsonl.zst",
        b"\x28\xb5\x2f\xfdno frame",
    );
    machine.write(".local/share/goose/sessions/sessions.db", b"SQLite format 3\0 and then nothing");
    let target = machine.write("elsewhere.jsonl", b"{}\n");
    std::os::unix::fs::symlink(&target, machine.path(".claude/projects/-proj/link.jsonl")).unwrap();
    let pipe = machine.path(".claude/projects/-proj/pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let done = machine.import();
    assert_eq!(done.imported.len(), 1);
    let mut failed: Vec<_> = done.failed.iter().map(|one| one.file.file_name().unwrap().to_string_lossy()).collect();
    failed.sort();
    assert_eq!(failed.len(), 4, "{done:?}");
    assert!(done.failed.iter().all(|failure| !failure.reason.is_empty()));
}

/// Makes directories in one another whose names are too long to be opened at once, by anybody.
fn too_deep(at: &Path) {
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
    let name = "d".repeat(255);
    let mut directory = open(at, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..17 {
        mkdirat(&directory, &*name, Mode::RWXU).unwrap();
        directory = openat(&directory, &*name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
}

#[test]
fn h4_a_directory_that_cannot_be_looked_into_hides_no_other() {
    let machine = Machine::new();
    machine.write(".pi/agent/sessions/--proj--/2026_pi-session-1.jsonl", b"{\"type\":\"session\",\"version\":3,\"id\":\"pi-session-1\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"cwd\":\"/proj\"}\n{\"type\":\"message\",\"id\":\"m1\",\"parentId\":null,\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n");
    too_deep(&machine.path(".pi/agent/sessions"));
    let environment = machine.environment();
    let mut roots = ramus_interchange::place::roots(ramus_interchange::Format::Pi, &environment);
    roots.iter_mut().for_each(|root| root.depth = 32);
    let stores = machine.engine.find_foreign(&roots);
    let done = machine.engine.import_foreign(&stores, ForeignImport::default(), &mut |_| {}).unwrap();
    assert_eq!((done.imported.len(), done.failed.len()), (1, 1), "{done:?}");
    assert!(done.failed[0].file.starts_with(machine.path(".pi/agent/sessions")));
    assert_eq!(done.failed[0].agent, Some("pi"));
}

#[test]
fn h4_a_link_to_a_directory_of_sessions_is_told() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let elsewhere = machine.write("elsewhere/x.jsonl", (conversation().join("\n") + "\n").as_bytes());
    let projects = machine.path(".claude/projects");
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, projects.join(name)).unwrap();
    link(elsewhere.parent().unwrap(), "-linked");
    // What is looked at anyway, and what is no place for sessions, is not worth a word.
    link(&projects.join("-proj"), "-again");
    link(elsewhere.parent().unwrap(), "-proj/memory");
    link(Path::new("/nowhere"), "-gone");
    let told = |done: &ramus_engine::ForeignImported| -> Vec<std::path::PathBuf> {
        assert!(done.failed.iter().all(|failure| failure.reason.contains("link to a directory")), "{done:?}");
        done.failed.iter().map(|failure| failure.file.clone()).collect()
    };
    let done = machine.import();
    assert_eq!((done.imported.len(), told(&done)), (1, vec![projects.join("-linked")]));
    let named = machine.import_path(&projects);
    assert_eq!((named.unchanged, told(&named)), (1, vec![projects.join("-linked"), projects.join("-proj/memory")]));
}

#[test]
fn h4_nothing_of_another_agent_is_touched() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let database = machine.path(".local/share/goose/sessions/sessions.db");
    std::fs::create_dir_all(database.parent().unwrap()).unwrap();
    let writer = rusqlite::Connection::open(&database).unwrap();
    writer
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE schema_version (version INTEGER);
             INSERT INTO schema_version VALUES (16);
             CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT, updated_at TEXT,
                 extension_data TEXT, session_type TEXT, provider_name TEXT, model_config_json TEXT);
             CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
                 created_timestamp INTEGER, tokens INTEGER, metadata_json TEXT);
             INSERT INTO sessions (id, name, working_dir, created_at, updated_at)
                 VALUES ('20261101_1', 'A talk', '/proj', '2026-11-01 10:00:00', '2026-11-01 10:00:00');
             INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
                 VALUES ('m1', '20261101_1', 'user', '[{\"type\":\"text\",\"text\":\"hi\"}]', 1793527200);",
        )
        .unwrap();
    let contents = machine.contents();
    let traces = machine.traces();
    let done = machine.import();
    assert_eq!((done.imported.len(), done.failed.len()), (2, 0), "{done:?}");
    let talk = done.imported.iter().find(|session| session.agent == "goose").unwrap();
    assert_eq!(path(&machine.session(talk.id.as_str())), ["hi"], "what is only in the write-ahead log counts");
    assert_eq!(machine.import().unchanged, 2);
    assert_eq!(machine.traces(), traces);
    assert_eq!(machine.contents(), contents);
    let scratch = machine.home.directory.path().join("home/scratch");
    assert_eq!(std::fs::read_dir(scratch).unwrap().count(), 0, "copies are removed");
    drop(writer);
}

#[test]
fn h4_a_dry_run_says_what_would_come_and_changes_nothing() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let dry = machine.import_with(ForeignImport { dry_run: true, ..ForeignImport::default() });
    assert_eq!(dry.imported.len(), 1);
    assert_eq!(machine.logs().len(), 0);
    assert!(machine.home.store.list().unwrap().is_empty());
}

#[test]
fn h4_a_file_or_directory_is_known_by_what_is_in_it() {
    let machine = Machine::new();
    let file = machine.write("backup/some.jsonl", (conversation().join("\n") + "\n").as_bytes());
    machine.write("backup/notes.json", b"{\"not\":\"a session\"}");
    machine.write("backup/deep/x/pi.jsonl", b"{\"type\":\"session\",\"version\":3,\"id\":\"pi-session-1\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"cwd\":\"/proj\"}\n{\"type\":\"message\",\"id\":\"m1\",\"parentId\":null,\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n");
    let done = machine.import_path(file.parent().unwrap());
    let mut agents: Vec<_> = done.imported.iter().map(|session| session.agent).collect();
    agents.sort();
    assert_eq!((agents, done.failed.len()), (vec!["claude", "pi"], 0), "{:?}", done.failed);
    let notes = machine.import_path(&machine.path("backup/notes.json"));
    assert!(notes.failed[0].reason.contains("no session of an agent"), "{notes:?}");
}

#[test]
fn h4_pictures_leave_the_log_and_every_record_is_kept() {
    let machine = Machine::new();
    let picture = "iVBORw0K".repeat(500);
    let shown = asked("u1-0000", None, "x").replace(
        r#""content":"x""#,
        &format!(
            r#""content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{picture}"}}}}]"#
        ),
    );
    let file = machine.claude(CLAUDE, &[shown.clone(), answered("a1-0000", "u1-0000", "A picture.")]);
    machine.import();
    let log = &machine.logs()[0].1;
    assert!(log.len() < picture.len(), "the picture is a blob: {} bytes", log.len());
    let session = machine.session(CLAUDE);
    let mut written = Vec::new();
    let start = session.start();
    let extent = ramus_engine::Extent::Path(None);
    let format = ramus_interchange::Format::Claude;
    machine.engine.convert(&session, format, extent, start, &mut ramus_engine::OneFile::new(&mut written)).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), std::fs::read_to_string(file).unwrap());
    assert!(Raw::parse(shown.as_bytes()).is_some());
}

/// OKCVM stores what counts now as a whole, and the mark that says where it ends is one entry that moves.
#[test]
fn h4_a_conversation_that_went_on_stands_at_its_end() {
    let machine = Machine::new();
    let save = |texts: &[&str]| {
        let said = |(at, text): (usize, &&str)| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            serde_json::json!({"id": format!("m{at}"), "role": role, "content": text, "timestamp": "2026-11-01T10:00:00.000Z"})
        };
        let messages: Vec<_> = texts.iter().enumerate().map(said).collect();
        let conversation =
            serde_json::json!({"id": "conversation-1", "title": "Slides", "messages": messages, "branches": {}});
        machine.import_path(&machine.write("there/conversation.json", conversation.to_string().as_bytes()))
    };
    save(&["Three slides.", "Here."]);
    let done = save(&["Three slides.", "Here.", "A fourth.", "There."]);
    assert_eq!((done.grown.len(), done.grown[0].added), (1, 2), "{done:?}");
    assert_eq!(path(&machine.session("conversation-1")), ["Three slides.", "Here.", "A fourth.", "There."]);
}

/// One variable moves pi and omp to the same place. What is there is read once, as what it is.
#[test]
fn a_place_that_agents_share_is_looked_at_once() {
    use ramus_interchange::Format;
    use ramus_interchange::place::roots;
    let machine = Machine::new();
    let said = r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    let header = |id: &str| {
        format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"}}"#)
    };
    let title = r#"{"type":"title","v":1,"title":"Shop","updatedAt":"2026-11-01T10:00:00.000Z","pad":"   "}"#;
    let (pi, omp, child) = ("pi-session-1", "omp-session-1", "omp-child-1");
    machine.write("both/sessions/--w--/1_pi-session-1.jsonl", format!("{}\n{said}\n", header(pi)).as_bytes());
    machine.write("both/sessions/-w/1_omp-session-1.jsonl", format!("{title}\n{}\n{said}\n", header(omp)).as_bytes());
    machine
        .write("both/sessions/-w/1_omp-session-1/0.jsonl", format!("{title}\n{}\n{said}\n", header(child)).as_bytes());
    let environment = machine.environment().with("PI_CODING_AGENT_DIR", machine.path("both"));
    let all: Vec<_> = Format::ALL.iter().flat_map(|format| roots(*format, &environment)).collect();
    let import = || {
        let stores = machine.engine.find_foreign(&all);
        let files: usize = stores.iter().map(|store| store.files()).sum();
        (files, machine.engine.import_foreign(&stores, ForeignImport::default(), &mut |_| {}).unwrap())
    };
    let (files, done) = import();
    let mut agents: Vec<_> = done.imported.iter().map(|session| (session.id.as_str(), session.agent)).collect();
    agents.sort_unstable();
    assert_eq!((files, agents), (3, vec![(child, "omp"), (omp, "omp"), (pi, "pi")]), "{done:?}");
    assert_eq!((done.unchanged, done.failed.len()), (0, 0), "{done:?}");
    let (_, again) = import();
    assert_eq!((again.imported.len(), again.unchanged), (0, 3), "{again:?}");
}
