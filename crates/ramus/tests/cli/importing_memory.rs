//! What is imported may be of any size and made to do harm. It takes little memory all the same.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::importing::{SESSION, asked, claude_store, line, put};
use crate::world::World;

/// Runs a command that may not have more memory than this.
fn bounded(world: &World, arguments: &[&str]) -> (i32, String, String) {
    let binary = env!("CARGO_BIN_EXE_ramus");
    let mut command = world.command(&[]);
    let script = format!("ulimit -v 524288; exec {binary} \"$@\"");
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(script).arg("sh").args(arguments).current_dir(world.path("project")).env_clear();
    for (name, value) in command.stdin(Stdio::null()).get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let [told, complained] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (output.status.code().unwrap_or(-1), told, complained)
}

/// A frame of zstd that expands to so many blocks of 128 KiB, each of which takes four bytes.
fn expanding(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for at in 0..blocks {
        let last = u32::from(at + 1 == blocks);
        let header = last | 1 << 1 | (128 << 10) << 3;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

#[test]
fn h4_bombs_end_with_a_clear_error_in_little_memory() {
    let world = World::new();
    claude_store(&world);
    let deep = asked(&world, "d1-0000", "null", "DEEP").replace("\"DEEP\"", &"[".repeat(3_000_000));
    put(&world, ".claude/projects/-project/bbbbbbbb-0000-4000-8000-000000000002.jsonl", (deep + "\n").as_bytes());
    let id = "01a1de00-0000-7000-8000-00000000abcd";
    let rollout = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{id}.jsonl.zst");
    put(&world, &rollout, &expanding(10_000));
    for number in 0..500 {
        let link = world.path("user").join(format!(".claude/projects/-project/link{number}.jsonl"));
        std::os::unix::fs::symlink("/dev/zero", link).unwrap();
    }
    std::os::unix::fs::symlink(world.path("user").join(".claude"), world.path("user").join(".claude/projects/loop"))
        .unwrap();
    let (code, _, told) = bounded(&world, &["import", "--yes"]);
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("expands to more than"), "{told}");
    assert!(told.contains("links are not followed"), "{told}");
    assert!(world.ok(&["show", SESSION]).contains("A branch."));
}

#[test]
fn h4_a_line_of_more_than_four_gigabytes_is_passed_over() {
    let world = World::new();
    let file = claude_store(&world);
    // Nothing but its length is stored.
    let handle = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    handle.set_len((4 << 30) + (64 << 10)).unwrap();
    let (code, told, complained) = bounded(&world, &["import", "--yes", "--json"]);
    assert_eq!(code, 0, "{complained}");
    let told: Value = serde_json::from_str(&told).unwrap();
    let lossy = &told["imported"][0]["lossy"][0];
    assert!(lossy["why"].as_str().unwrap().contains("too long") && lossy["line"] == 3, "{told}");
    assert!(world.ok(&["show", SESSION]).contains("A branch."));
}

/// A database of goose in which a text is so long.
fn goose_store(world: &World, text: &str) {
    let path = put(world, ".local/share/goose/sessions/sessions.db", b"");
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
                 created_timestamp INTEGER, metadata_json TEXT);
             INSERT INTO sessions VALUES ('20261115_1', 'long', '/w', '2026-11-15 07:11:35');",
        )
        .unwrap();
    let content = json!([{"type": "text", "text": text}]).to_string();
    let row = "INSERT INTO messages VALUES (1, 'm1', '20261115_1', 'user', ?1, 1794726695, NULL)";
    database.execute(row, [content]).unwrap();
}

/// A table of Opal that nobody closed, with one message.
fn opal_table(text: &str) -> Vec<u8> {
    let atom = |name: &str| [&[119, u8::try_from(name.len()).unwrap()][..], name.as_bytes()].concat();
    let binary = |text: &str| [&[109][..], &u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
    let members = [
        (atom("__struct__"), atom("Elixir.Opal.Message")),
        (atom("role"), atom("user")),
        (atom("content"), binary(text)),
    ];
    let members: Vec<u8> = members.into_iter().flat_map(|(name, value)| [name, value].concat()).collect();
    let term = [&[131, 104, 2][..], &binary("m1"), &[116, 0, 0, 0, 3], &members].concat();
    let mut table = vec![0; 1336];
    for (at, value) in [(4, 0x00ab_cdef_u32), (12, 1), (16, 9), (24, 256), (28, 1), (32, 1)] {
        table[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    let used = u32::try_from(term.len() + 12).unwrap();
    for word in [used, 0x1234_5678, used - 8] {
        table.extend(word.to_be_bytes());
    }
    table.extend(term);
    table
}

/// What is nearly as long as it may be, or swells most, in every way that sessions are stored, and twice: two are read at a time.
#[test]
fn h4_what_is_as_long_as_it_may_be_takes_little_memory() {
    let long = "x".repeat(28 << 20);
    let table = 28 << 20;
    let world = World::new();
    for number in 1..3 {
        let id = format!("cccccccc-0000-4000-8000-00000000000{number}");
        let said = asked(&world, "l1-0000", "null", &long).replace(SESSION, &id);
        put(&world, &format!(".claude/projects/-project/{id}.jsonl"), format!("{said}\n").as_bytes());
        let time = "2026-11-01T10:00:00.000Z";
        let meta = format!(
            r#"{{"timestamp":"{time}","type":"session_meta","payload":{{"id":"{id}","timestamp":"{time}","cwd":"/w"}}}}"#
        );
        let said = format!(
            r#"{{"timestamp":"{time}","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{long}"}}]}}}}"#
        );
        let rollout = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{id}.jsonl");
        put(&world, &rollout, format!("{meta}\n{said}\n").as_bytes());
        let id = id.replace('c', "e");
        let head = format!(r#"{{"sessionId":"{id}","projectHash":"f7da","startTime":"{time}"}}"#);
        let said =
            |kind: &str| format!(r#"{{"id":"{kind}1","timestamp":"{time}","type":"{kind}","content":"{long}"}}"#);
        let chat = format!(".gemini/tmp/w/chats/session-2026-11-01T10-0{number}-cccccccc.jsonl");
        put(&world, &chat, format!("{head}\n{}\n", said("gemini")).as_bytes());
        put(&world, &format!(".opal/sessions/long{number}.dets"), &opal_table(&"x".repeat(table)));
        put(&world, &format!(".opal/sessions/swells{number}.dets"), &opal_table(&"\u{1}".repeat(table)));
    }
    goose_store(&world, &long);
    for (agent, imported, failed) in
        [("claude", 2, 0), ("codex", 2, 0), ("gemini", 2, 0), ("goose", 1, 0), ("opal", 2, 2)]
    {
        let (code, told, complained) = bounded(&world, &["import", "--from", agent, "--json"]);
        let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{agent} {code}: {complained}"));
        let count = |name: &str| told[name].as_array().unwrap().len();
        assert_eq!((count("imported"), count("failed")), (imported, failed), "{told}");
        assert_eq!(code, if failed > 0 { 5 } else { 0 }, "{told}");
    }
}

/// Where readers are quicker than the disk, what they have read waits, and many pictures are much.
#[test]
fn h4_many_pictures_and_long_lines_on_their_way_take_little_memory() {
    let world = World::new();
    for number in 0..6 {
        let id = format!("dddddddd-0000-4000-8000-00000000000{number}");
        let mut lines = Vec::new();
        let mut parent = "null".to_owned();
        for at in 0..24 {
            let own = format!("p{at}-0000");
            let picture = format!("{number}{at:03}").repeat(300_000);
            let message = format!(
                r#"{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{picture}"}}}}]}}"#
            );
            lines.push(line(&own, &parent, "user", &message, "/w").replace(SESSION, &id));
            parent = format!("\"{own}\"");
        }
        lines.push(format!(r#"{{"type":"unknown","sessionId":"{id}","x":"{}"}}"#, "y".repeat(16 << 20)));
        put(&world, &format!(".claude/projects/-project/{id}.jsonl"), (lines.join("\n") + "\n").as_bytes());
    }
    let (code, told, complained) = bounded(&world, &["import", "--yes", "--json"]);
    assert_eq!(code, 0, "{complained}");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["imported"].as_array().unwrap().len(), 6, "{told}");
}
