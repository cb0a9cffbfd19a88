//! What has happened to the files of others: each incident in its smallest form, what doctor says to it, and what is left
//! after a repair. Nothing that could be read before is missing afterwards.

use std::path::PathBuf;

use serde_json::Value;

use crate::world::{World, snapshot, transcript};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"theirs","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/x"}"#;

fn entry(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:20:31.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn first() -> String {
    entry("aaaa0001", "", "first")
}

fn second() -> String {
    entry("aaaa0002", "aaaa0001", "second")
}

fn third() -> String {
    entry("aaaa0003", "aaaa0002", "third")
}

fn fourth() -> String {
    entry("aaaa0004", "aaaa0003", "fourth")
}

fn write(world: &World, name: &str, content: &[u8]) -> String {
    let path = world.path("project").join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

fn texts(world: &World, path: &str) -> Vec<String> {
    let shown = world.json(&["show", path, "--all"]);
    // What stands for an entry with damaged content has none, like the damaged one.
    let text = |message: &Value| message["text"].as_str().unwrap_or_default().replace("ramus.damaged", "");
    shown["messages"].as_array().unwrap().iter().map(text).collect()
}

/// The files in a directory.
fn files(directory: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A transcript of the examination, the repair, and the examination after it. Looking changes nothing, and the second
/// repair neither.
fn treated(name: &str, content: &[u8]) -> String {
    let world = World::new();
    let path = write(&world, "theirs.jsonl", content);
    let before = texts(&world, &path);
    let mut said = format!("=== {name}\n{}", transcript(&world, &["doctor", &path]));
    assert_eq!(std::fs::read(&path).unwrap(), content, "{name}: a look changes nothing");
    assert_eq!(files(world.path("home/quarantine")), Vec::<String>::new());
    said.push_str(&transcript(&world, &["doctor", "--repair", &path]));
    assert_eq!(texts(&world, &path), before, "{name}: what could be read can still be read");
    let repaired = std::fs::read(&path).unwrap();
    let kept = files(world.path("project"));
    let again = world.json_of(&["doctor", "--repair", &path]);
    assert_eq!(again["actions"], serde_json::json!([]), "{name}: once is enough");
    assert_eq!((std::fs::read(&path).unwrap(), files(world.path("project"))), (repaired.clone(), kept.clone()));
    if repaired != content {
        // Every byte of the old file is in its backup, or it was only cut or ended.
        let backups = kept.iter().filter(|name| name.starts_with("theirs.jsonl.corrupt-"));
        let mut backups = backups.map(|name| std::fs::read(world.path("project").join(name)).unwrap());
        assert!(
            backups.any(|backup| backup == content) || content.starts_with(&repaired) || repaired.starts_with(content),
            "{name}: the old file is kept"
        );
    }
    said.push_str(&format!("after: {}, {} entries\n\n", again["status"], again["entries"]));
    world.tame(&said)
}

#[test]
fn storage_incidents() {
    let line = |text: &str| format!("{text}\n").into_bytes();
    let sound = |parts: &[&str]| parts.iter().flat_map(|part| line(part)).collect::<Vec<u8>>();
    let (one, two, three, four) = (first(), second(), third(), fourth());
    let torn = &two[..40];
    let incidents: Vec<(&str, Vec<u8>)> = vec![
        ("the last line is torn", [sound(&[HEADER, &one]), torn.into()].concat()),
        (
            "a fragment and the next record share a line",
            sound(&[HEADER, &one, &format!("{torn}{}", entry("aaaa0003", "aaaa0001", "third")), &four]),
        ),
        ("two whole records share a line", sound(&[HEADER, &format!("{one}{two}"), &three])),
        ("days of history behind one bad line", sound(&[HEADER, &one, "#!@", &two, &three, &four])),
        (
            "a block of zeros in the middle",
            [sound(&[HEADER, &one]), vec![0; 4096], sound(&[&two, &three, &four])].concat(),
        ),
        ("zeros at the end", [sound(&[HEADER, &one, &two]), vec![0; 512]].concat()),
        (
            "a byte order mark and text that is not UTF-8",
            [
                b"\xef\xbb\xbf".to_vec(),
                sound(&[HEADER, &one]),
                two.bytes().flat_map(|byte| if byte == b'c' { vec![0xff, 0xfe] } else { vec![byte] }).collect(),
                b"\n".to_vec(),
                sound(&[&three]),
            ]
            .concat(),
        ),
        ("the header cannot be parsed", sound(&[&HEADER.replace("\"version\":3", "\"version\":"), &one, &two])),
        (
            "an entry in the middle of the path has damaged content",
            sound(&[HEADER, &one, &two.replace("second", "sec\u{1}nd"), &three, &four]),
        ),
        ("no newline at the end", [sound(&[HEADER, &one]), two.clone().into()].concat()),
    ];
    let said: String = incidents.iter().map(|(name, content)| treated(name, content)).collect();
    snapshot!("incidents_storage", said);
}

#[test]
fn strange_but_valid_lines() {
    let odd = [
        r#""half \ud83d pair""#,
        r#""zero \u0000 inside""#,
        "\"line\u{2028}separator\"",
        r#""x","n":1e400"#,
        r#""x","n":1000000000000000000000000000000"#,
        r#""x","content":"the last one counts""#,
    ];
    let mut content = format!("{HEADER}\r\n");
    for (at, text) in odd.iter().enumerate() {
        content.push_str(&entry(&format!("aaaa000{at}"), "", "@").replace("\"@\"", text));
        content.push_str("\r\n");
    }
    let deep = entry("aaaa0009", "", "deep")
        .replace("\"content\"", &format!("\"deep\":{}1{},\"content\"", "[".repeat(5000), "]".repeat(5000)));
    content.push_str(&format!("{deep}\r\n"));
    let mut said = treated("valid, if unusual", content.as_bytes());
    let not_json = entry("aaaa0002", "aaaa0001", "@").replace("\"@\"", "NaN");
    said.push_str(&treated("NaN is not JSON", format!("{HEADER}\n{}\n{not_json}\n", first()).as_bytes()));
    snapshot!("incidents_lines", said);
}

#[test]
fn headers() {
    let slot = format!(r#"{{"type":"title","v":1,"title":"Named","updatedAt":"","pad":"{}"}}"#, " ".repeat(40));
    let broken = HEADER.replacen('{', "\0", 1);
    let said: String = [
        ("only entries", format!("{}\n{}\n", first(), second()).into_bytes()),
        ("a title slot and a broken header", format!("{slot}\n{broken}\n{}\n", first()).into_bytes()),
        ("an unusable header", format!("{{\"type\":\"session\",\"id\":7}}\n{}\n", first()).into_bytes()),
        ("an empty file", Vec::new()),
        ("only zeros", vec![0; 64]),
        ("something else", b"Dear diary,\nnothing happened.\n".to_vec()),
    ]
    .iter()
    .map(|(name, content)| treated(name, content))
    .collect();
    // A header that nothing is left of gets a new id.
    snapshot!("incidents_headers", said);
}

#[test]
fn trees_that_are_none() {
    let lines = [
        HEADER.to_owned(),
        entry("aaaa0001", "aaaa0002", "circle"),
        entry("aaaa0002", "aaaa0001", "circle"),
        entry("aaaa0003", "aaaa0003", "its own parent"),
        entry("aaaa0004", "gone", "orphan"),
        entry("aaaa0005", "", "once"),
        entry("aaaa0005", "", "twice"),
    ];
    snapshot!("incidents_trees", treated("circles, orphans and twins", (lines.join("\n") + "\n").as_bytes()));
}

#[test]
fn one_damaged_file_hides_no_other_and_is_repaired_with_the_rest() {
    let world = World::new();
    let sessions: Vec<String> = (0..4).map(|_| world.branched()).collect();
    let path = |session: &str| world.json(&["show", session])["session"]["path"].as_str().unwrap().to_owned();
    let damage = |session: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let path = path(session);
        std::fs::write(&path, change(std::fs::read(&path).unwrap())).unwrap();
    };
    damage(&sessions[0], &|bytes| [b"\xef\xbb\xbf".to_vec(), bytes, b"\xff\xfe\n".to_vec()].concat());
    damage(&sessions[1], &|bytes| [bytes, b"{\"type\":\"mess".to_vec()].concat());
    let link = path(&sessions[2]);
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    let listed = world.run(&["list", "--all", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let status = |session: &String| {
        let found = listed["sessions"].as_array().unwrap().iter().find(|info| info["id"] == session.as_str());
        found.map(|info| info["status"].as_str().unwrap().to_owned())
    };
    let statuses: Vec<_> = sessions.iter().map(status).collect();
    let expected = [Some("damaged"), Some("damaged"), None, Some("idle")].map(|status| status.map(str::to_owned));
    assert_eq!(statuses, expected);
    assert_eq!(listed["unreadable"][0]["session"], sessions[2].as_str());
    let ran = world.run(&["doctor", "--all", "--repair"]);
    assert_eq!(ran.code, 5, "one cannot be read");
    assert!(ran.stdout.ends_with("4 sessions examined, 2 repaired, 1 damaged\n"), "{}", ran.stdout);
    let answer = world.json_of(&["doctor", "--all"]);
    for (session, expected) in sessions.iter().zip(["clean", "clean", "unreadable", "clean"]) {
        let found = answer["sessions"].as_array().unwrap().iter().find(|one| one["session"] == session.as_str());
        assert_eq!(found.unwrap()["status"], expected);
    }
    assert_eq!(
        (answer["status"].as_str(), answer["leftovers"].as_array().map(Vec::len)),
        (Some("unreadable"), Some(0))
    );
}

#[test]
fn a_repair_that_loops_keeps_one_copy() {
    let world = World::new();
    let content = format!("{HEADER}\n{}\n\0\0\0\n{}\n{{\"torn", first(), second());
    let path = write(&world, "theirs.jsonl", content.as_bytes());
    for _ in 0..20 {
        std::fs::write(&path, &content).unwrap();
        world.ok(&["doctor", "--repair", &path]);
    }
    assert_eq!(files(world.path("home/quarantine")).len(), 4, "two ranges, each with a note");
    assert_eq!(files(world.path("project")).len(), 2, "the file and its backup");
}

#[test]
fn recovering() {
    let world = World::new();
    let content = format!("{HEADER}\n{}\n{{\"type\":\"mess", first());
    let path = write(&world, "theirs.jsonl", content.as_bytes());
    // The home of the test is closed to others by the first command.
    world.ok(&["list"]);
    let mut said = transcript(&world, &["recover", &path]);
    said.push_str(&transcript(&world, &["recover", &path]));
    let v1 = format!("{HEADER}\n{}\n", first())
        .replace("\"version\":3,", "")
        .replace("\"id\":\"aaaa0001\",\"parentId\":null,", "");
    let old = write(&world, "old.jsonl", v1.as_bytes());
    said.push_str(&transcript(&world, &["recover", &old]));
    std::fs::write(&path, &content).unwrap();
    said.push_str(&transcript(&world, &["say", &path, "next", "--json"]));
    std::fs::write(&path, &content).unwrap();
    said.push_str(&transcript(&world, &["recover", &path, "--json"]));
    snapshot!("recover", world.tame(&said));
    assert_eq!(world.run(&["recover", "nothing"]).code, 3);
}

#[test]
fn a_full_disk_names_the_file_and_the_space_that_is_left() {
    let world = World::new();
    let session = world.branched();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    let before = std::fs::read(&path).unwrap();
    // A limit on the size of files is a full disk that needs no disk.
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "trap '' XFSZ; ulimit -f 1; exec \"$0\" say \"$1\" more --json",
        env!("CARGO_BIN_EXE_ramus"),
        &session,
    ]);
    command.env_clear().env("RAMUS_HOME", world.path("home")).env("HOME", world.path("user"));
    let output = command.current_dir(world.path("project")).output().unwrap();
    // What was asked could not be remembered either, which is told first.
    let lines: Vec<Value> =
        std::str::from_utf8(&output.stderr).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [warned, said] = &lines[..] else { panic!("{lines:?}") };
    assert!(warned["warning"].as_str().unwrap().contains("not in the history"), "{warned}");
    assert_eq!((output.status.code(), said["error"]["kind"].as_str()), (Some(1), Some("full")), "{said}");
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains(&path) && message.contains("bytes free"), "{message}");
    assert!(message.starts_with("a limit on the size of files"), "{message}");
    let hint = said["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("nothing was written") && hint.contains("ulimit -f"), "{hint}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// A session of the home with four messages, and its file.
fn kept(world: &World) -> (String, PathBuf) {
    let session = world.branched();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().into();
    (session, path)
}

/// Overwrites bytes where they are.
fn overwrite(path: &PathBuf, old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{text}");
    std::fs::write(path, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn a_message_that_turns_out_to_be_damaged_is_not_left_out_in_silence() {
    let world = World::new();
    let (session, path) = kept(&world);
    let sound = world.json(&["show", &session])["messages"].as_array().unwrap().len();
    overwrite(&path, "\"role\":\"user\"", "\"role\"!\"user\"");
    for more in [&[][..], &["--json"]] {
        let ran = world.run(&[&["show", &session], more].concat());
        assert!(ran.stderr.contains("1 message is damaged and left out"), "{}", ran.stderr);
    }
    let shown = world.json(&["show", &session])["messages"].as_array().unwrap().len();
    assert_eq!(shown + 1, sound);
    assert_eq!(world.run(&["doctor", &session]).code, 5);
}

#[test]
fn an_export_of_a_damaged_session_says_so() {
    let world = World::new();
    let (session, path) = kept(&world);
    let sound = std::fs::read_to_string(&path).unwrap();
    assert_eq!(world.run(&["export", &session, "--to", "pi"]).stderr, "");
    std::fs::write(&path, format!("{sound}not json\n")).unwrap();
    let ran = world.run(&["export", &session, "--to", "pi"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("the session is damaged"), "{}", ran.stderr);
}

#[test]
fn a_repair_accepts_what_something_else_changed() {
    let world = World::new();
    let (session, path) = kept(&world);
    overwrite(&path, "names", "NAMES");
    let changed = std::fs::read(&path).unwrap();
    let found = world.json_of(&["doctor", &session]);
    assert_eq!(found["findings"][0]["kind"], "changed-outside");
    let repaired = world.json_of(&["doctor", "--repair", &session]);
    assert_eq!(
        (&repaired["status"], &repaired["actions"][0]["kind"]),
        (&"repaired".into(), &"changes-accepted".into())
    );
    assert_eq!(std::fs::read(&path).unwrap(), changed, "the file is not touched");
    world.ok(&["doctor", &session]);
    world.say(&session, "user", "more");
    world.ok(&["doctor", &session]);
}
