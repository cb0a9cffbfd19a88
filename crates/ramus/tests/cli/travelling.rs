//! Files through time as a person and a script see them: snapshots of turns, differences, going back and forward.

use std::process::Command;

use serde_json::{Value, json};

use crate::turns::{events, world};
use crate::world::World;

/// Runs a turn that makes these calls and says it is done; returns its last event.
pub(crate) fn turn(world: &World, prompt: &str, calls: &[(&str, Value)], arguments: &[&str]) -> Value {
    let call = |(name, arguments): &(&str, Value)| json!({"steps": [{"call": {"name": name, "arguments": arguments}}]});
    let mut answers: Vec<Value> = calls.iter().map(call).collect();
    answers.push(json!({"steps": [{"text": "Done."}]}));
    let script = world.path("user").join("script.toml");
    std::fs::write(&script, toml::to_string(&json!({"answers": answers})).unwrap()).unwrap();
    let common = ["run", prompt, "--script", script.to_str().unwrap(), "--json", "--permission", "all=allow"];
    let ran = world.run(&[&common, arguments].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let mut events = events(&ran.stdout);
    let end = events.pop().unwrap();
    // What changed is told as an event, too.
    let told = events.iter().find(|event| event["type"] == "session.diff");
    assert_eq!(told.map_or(0, |told| told["diff"].as_array().unwrap().len()), end["summary"]["files"]);
    end
}

pub(crate) fn write(path: &str, text: &str) -> (&'static str, Value) {
    ("write", json!({"path": path, "content": text}))
}

pub(crate) fn read(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.path("project").join(path)).ok()
}

/// Two turns of one session: its name, and how they ended.
pub(crate) fn two_turns(world: &World) -> (String, Value, Value) {
    let first = turn(world, "write a poem", &[write("poem.txt", "roses\nviolets\n")], &[]);
    let session = first["session"].as_str().unwrap().to_owned();
    let edit = ("edit", json!({"path": "poem.txt", "old": "violets", "new": "tulips"}));
    let look = ("read", json!({"path": "poem.txt"}));
    let second = turn(world, "other flowers", &[look, edit, write("more/a.txt", "a\n")], &["-s", &session]);
    (session, first, second)
}

#[test]
fn a_turn_ends_with_its_snapshot_and_what_it_changed() {
    let world = world();
    let (session, first, second) = two_turns(&world);
    assert_eq!(first["summary"], json!({"additions": 2, "deletions": 0, "files": 1}));
    assert_eq!(second["summary"], json!({"additions": 2, "deletions": 1, "files": 2}));
    assert_eq!((&first["commit"], &first["dirty"]), (&Value::Null, &Value::Null));
    let listed = world.json(&["snapshots", &session]);
    let listed = listed["snapshots"].as_array().unwrap();
    let names: Vec<_> = listed.iter().map(|one| (one["id"].clone(), one["label"].as_str().unwrap())).collect();
    assert_eq!(
        names,
        [
            (second["snapshot"].clone(), "After: other flowers"),
            (first["snapshot"].clone(), "After: write a poem"),
            (listed[2]["id"].clone(), "Before: write a poem"),
        ]
    );
    let causes: Vec<_> = listed.iter().map(|one| one["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["turn", "turn", "call"]);
    assert!(listed.iter().all(|one| one["commit"].as_str().unwrap().len() == 40));
    let shown = world.json(&["show", &session]);
    assert_eq!(shown["session"]["summary"], json!({"additions": 4, "deletions": 1, "files": 2}));
    assert_eq!(shown["session"]["latest_snapshot"], second["snapshot"]);
    let listed = &world.json(&["list"])["sessions"][0];
    assert_eq!((&listed["summary"], &listed["revert"]), (&shown["session"]["summary"], &Value::Null));
    let changed: Vec<&Value> = shown["messages"].as_array().unwrap().iter().map(|one| &one["changed"]).collect();
    assert_eq!(changed.iter().filter(|changed| !changed.is_null()).count(), 3);
    let text = world.ok(&["show", &session]);
    assert!(text.contains("±1 file +1 −1") && text.contains("±2 files +4 −1"), "{text}");
}

#[test]
fn what_changed_between_snapshots_is_shown() {
    let world = world();
    let (session, first, second) = two_turns(&world);
    let (first, second) = (first["snapshot"].as_str().unwrap(), second["snapshot"].as_str().unwrap());
    let diff = world.json(&["diff", &session, first, second]);
    assert_eq!((&diff["additions"], &diff["deletions"], &diff["files"]), (&json!(2), &json!(1), &json!(2)));
    let statuses: Vec<_> = diff["diffs"].as_array().unwrap().iter().map(|one| (&one["path"], &one["status"])).collect();
    assert_eq!(statuses, [(&json!("more/a.txt"), &json!("added")), (&json!("poem.txt"), &json!("modified"))]);
    assert!(diff["diffs"][1]["diff"].as_str().unwrap().contains("-violets\n+tulips\n"));
    let stat = world.ok(&["diff", &session, first, second, "--stat"]);
    assert_eq!(stat.lines().last().unwrap(), "2 files changed, 2 lines added, 1 removed");
    let coloured = world.ok(&["diff", &session, first, "--path", "poem.txt", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[32m+tulips") && !coloured.contains("more/a.txt"), "{coloured}");
    // Nothing differs from the snapshot of the last turn, and it is said where to look.
    let nothing = world.run(&["diff", &session]);
    // What goes to a file is a patch, or nothing.
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.starts_with("0 files changed, 0 lines added, 0 removed\n"), "{}", nothing.stderr);
    assert!(nothing.stderr.contains(&format!("ramus diff {session} {first}")), "{}", nothing.stderr);
    for unknown in ["beef", "0000000000000000000000000000000000000000"] {
        let ran = world.run(&["restore", &session, unknown, "--json"]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("not-found"), "{}", ran.stderr);
    }
}

#[test]
fn a_revert_hides_and_undoes_and_can_be_taken_back() {
    let world = world();
    let (session, first, _) = two_turns(&world);
    let entry = first["entry"].as_str().unwrap();
    let target = format!("{session}@{entry}");
    let before = world.json(&["show", &session]);
    let dry = world.json(&["revert", &target, "--dry-run"]);
    assert_eq!((&dry["applied"], &dry["safety_snapshot"]), (&json!(false), &Value::Null));
    let plan = json!([
        {"path": "more/a.txt", "action": "delete", "conflict": null},
        {"path": "poem.txt", "action": "overwrite", "conflict": null},
    ]);
    assert_eq!(dry["plan"], plan);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
    let done = world.json(&["revert", &target]);
    assert_eq!((&done["plan"], &done["applied"], &done["leaf"]), (&plan, &json!(true), &json!(entry)));
    assert!(done["safety_snapshot"].is_string());
    assert_eq!((read(&world, "poem.txt").as_deref(), read(&world, "more/a.txt")), (Some("roses\nviolets\n"), None));
    let shown = world.json(&["show", &session]);
    let last = shown["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["text"]), (&json!("system"), &json!(format!("Reverted to {entry}"))));
    let revert = &shown["session"]["revert"];
    assert_eq!(
        (&revert["message"], &revert["part"], &revert["snapshot"]),
        (&json!(entry), &Value::Null, &first["snapshot"])
    );
    assert!(revert["diff"].as_str().unwrap().contains("+violets") && revert["time"].is_string());
    assert_eq!(&world.json(&["list"])["sessions"][0]["revert"], revert);
    assert_eq!(shown["session"]["summary"], json!({"additions": 2, "deletions": 0, "files": 1}));
    assert!(!world.ok(&["context", &session, "--dialect", "provider", "--json"]).contains("Reverted to"));
    let back = world.json(&["unrevert", &session]);
    assert_eq!((&back["applied"], &back["leaf"]), (&json!(true), &before["session"]["leaf"]));
    let after = world.json(&["show", &session]);
    assert_eq!((&after["messages"], &after["session"]["revert"]), (&before["messages"], &Value::Null));
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
    let again = world.run(&["unrevert", &session]);
    assert!(again.code == 4 && again.stderr.contains("no revert to take back"), "{}", again.stderr);
}

#[test]
fn what_a_person_changed_stays_unless_forced() {
    let world = world();
    let (session, first, _) = two_turns(&world);
    world.file("poem.txt", "mine\n");
    world.file("notes.txt", "mine\n");
    let target = format!("{session}@{}", first["entry"].as_str().unwrap());
    let ran = world.run(&["revert", &target]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert!(ran.stdout.contains("kept       poem.txt  conflict: it was changed since"), "{}", ran.stdout);
    assert_eq!(
        (read(&world, "poem.txt").as_deref(), read(&world, "notes.txt").as_deref()),
        (Some("mine\n"), Some("mine\n"))
    );
    let snapshot = first["snapshot"].as_str().unwrap();
    let restored = world.json_of(&["restore", &session, snapshot]);
    assert_eq!(restored["kept"], json!(["poem.txt"]));
    world.json(&["restore", &session, snapshot, "--path", "poem.txt", "--force"]);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\nviolets\n"));
    assert_eq!(read(&world, "notes.txt").as_deref(), Some("mine\n"));
}

#[test]
fn a_setting_turns_snapshots_off_and_a_home_directory_has_none() {
    let world = world();
    std::fs::write(world.path("home").join("config.toml"), "snapshots = false\n").unwrap();
    let end = turn(&world, "write", &[write("a.txt", "a\n")], &[]);
    assert_eq!((&end["snapshot"], &end["summary"]["files"]), (&Value::Null, &json!(0)));
    assert!(!world.path("home/snapshots").exists());
    let world = crate::turns::world();
    let at_home = world.path("project").display().to_string();
    let world = world.with("HOME", &at_home);
    let end = turn(&world, "write", &[write("a.txt", "a\n")], &[]);
    assert_eq!((&end["snapshot"], &end["finish_reason"]), (&Value::Null, &json!("stop")));
    assert_eq!(read(&world, "a.txt").as_deref(), Some("a\n"));
}

#[test]
fn a_chat_goes_back_with_the_files() {
    let world = world();
    let answers = json!({"answers": [
        {"steps": [{"call": {"name": "write", "arguments": {"path": "a.txt", "content": "1\n"}}}]},
        {"steps": [{"text": "One."}]},
        {"steps": [{"call": {"name": "write", "arguments": {"path": "a.txt", "content": "2\n"}}}]},
        {"steps": [{"text": "Two."}]},
    ]});
    let script = world.path("user").join("script.toml");
    std::fs::write(&script, toml::to_string(&answers).unwrap()).unwrap();
    let script = script.to_str().unwrap();
    let chat = |input: &str| world.run_with(input, &["chat", "--script", script, "--permission", "all=allow"]);
    let ran = chat("one\ntwo\n/diff After: one\n/undo\n");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("-1\n+2\n"), "{}", ran.stdout);
    assert_eq!(read(&world, "a.txt").as_deref(), Some("1\n"));
    let ran = world.run_with("/redo\n", &["chat", "-c", "--script", script]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(read(&world, "a.txt").as_deref(), Some("2\n"));
}

#[test]
fn a_session_gets_a_workspace_of_its_own() {
    let world = world();
    let session = world.session();
    let storage = world.path("storage").display().to_string();
    let made = &world.json(&["workspace", &session, "--make", &storage])["workspace"];
    assert_eq!((&made["id"], &made["owned"], &made["dirty"]), (&json!(session), &json!(true), &json!(false)));
    let root = made["root"].as_str().unwrap().to_owned();
    assert_eq!(root, format!("{storage}/{session}"));
    let end = turn(
        &world,
        "fill it",
        &[write("mnt/a.txt", "a\n"), ("bash", json!({"command": "echo b > output/b.txt"}))],
        &["-s", &session],
    );
    assert_eq!(end["summary"], json!({"additions": 2, "deletions": 0, "files": 2}));
    let refused = world.run(&["restore", &session, "Initial workspace state", "--clean", "--force"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let unasked = world.run(&["restore", &session, "Initial workspace state", "--clean"]);
    assert!(unasked.code == 2 && unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    let reset = world.json(&["restore", &session, "Initial workspace state", "--clean", "--yes"]);
    assert_eq!((reset["plan"].as_array().unwrap().len(), &reset["applied"]), (2, &json!(true)));
    let root = std::path::Path::new(&root);
    assert!(root.join("mnt").is_dir() && root.join("output").is_dir() && !root.join("mnt/a.txt").exists());
    assert!(world.ok(&["workspace", &session]).contains(&format!("/mnt/{session}/output")));
}

#[test]
fn what_would_be_left_alone_is_not_counted_as_what_would_change() {
    let world = world();
    let (session, first, second) = two_turns(&world);
    world.file("poem.txt", "by hand\n");
    let first = first["snapshot"].as_str().unwrap();
    let dry = |more: &[&str]| world.ok(&[&["restore", &session, first, "--dry-run"], more].concat());
    let (kept, forced) = (dry(&[]), dry(&["--force"]));
    assert!(kept.ends_with("1 file would change, 1 file would be left alone"), "{kept}");
    assert!(forced.ends_with("2 files would change"), "{forced}");
    // A file that only a person made is none of it, and the help says so.
    world.file("mine.txt", "mine\n");
    assert!(!dry(&["--force"]).contains("mine.txt"));
    world.ok(&["restore", &session, first, "--force"]);
    assert_eq!(read(&world, "mine.txt").as_deref(), Some("mine\n"));
    // The list says where the files are.
    let listed = world.ok(&["snapshots", &session]);
    let current: Vec<&str> = listed.lines().filter(|line| line.ends_with("  current")).collect();
    assert_eq!(current.len(), 1, "{listed}");
    assert!(current[0].contains("Restored"), "{listed}");
    assert!(listed.lines().any(|line| line.starts_with(second["snapshot"].as_str().unwrap())), "{listed}");
}

#[test]
fn a_file_system_that_cannot_exchange_names_is_restored_to() {
    let works = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED, which is not passed: strace is not installed, or does not work here");
    }
    let world = world();
    let (session, first, _) = two_turns(&world);
    let trace = world.path("user").join("trace");
    // The kernel answers as such a file system does.
    let plainly = |arguments: &[&str]| {
        let inner = world.command(arguments);
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EINVAL", "-o"]).arg(&trace);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(world.path("project")).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    plainly(&["restore", &session, first["snapshot"].as_str().unwrap()]);
    let told = std::fs::read_to_string(&trace).unwrap();
    assert!(told.contains("RENAME_EXCHANGE) = -1 EINVAL") && told.contains("RENAME_NOREPLACE) = -1 EINVAL"), "{told}");
    assert_eq!((read(&world, "poem.txt").as_deref(), read(&world, "more/a.txt")), (Some("roses\nviolets\n"), None));
    plainly(&["undo", &session]);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
    assert_eq!(read(&world, "more/a.txt").as_deref(), Some("a\n"));
    plainly(&["snapshot", &session]);
    let names = std::fs::read_dir(world.path("project")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("ramus-restore")), "nothing is left behind");
}

#[test]
fn gc_lists_what_goes_and_doctor_what_is_there() {
    let world = world();
    let (session, _, _) = two_turns(&world);
    let project = world.path("project").display().to_string();
    let would = world.json(&["gc", "--dry-run"]);
    assert_eq!((&would["snapshots"]["removed"], &would["dry_run"]), (&json!(0), &json!(true)));
    let directory = &would["snapshots"]["directories"][0];
    assert_eq!(
        (&directory["directory"], &directory["removed"], &directory["left"]),
        (&json!(project), &json!([]), &Value::Null)
    );
    let disk = &would["disk"];
    assert!(disk["parts"]["snapshots"]["bytes"].as_u64().unwrap() > 0 && disk["parts"]["sessions"]["files"] == 1);
    assert_eq!(disk["directories"][0]["directory"], project);
    assert_eq!(world.json(&["doctor"])["disk"]["directories"][0]["directory"], project);
    assert!(world.ok(&["gc", "--dry-run"]).contains("the home takes "));
    let would = world.json(&["delete", &session, "--dry-run"]);
    let done = world.json(&["delete", &session, "--yes"]);
    assert_eq!(would["removed"], done["removed"]);
    assert!(done["removed"]["snapshots"].as_u64().unwrap() >= 2 && done["removed"]["workspace"].is_null(), "{done}");
    assert_eq!(world.run(&["delete", &session, "--yes"]).code, 3);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"), "files of a person stay");
    assert_eq!(world.json(&["doctor"])["disk"]["directories"][0]["snapshots"], 0);
}

#[test]
fn what_a_snapshot_leaves_out_is_told_where_it_matters() {
    let world = world();
    let session = world.session();
    world.file("large.bin", &"x".repeat(9 << 20));
    world.file("a.txt", "a\n");
    world.file(".gitignore", "a{b\n[z-\n");
    let taken = world.json(&["snapshot", &session]);
    assert_eq!(taken["not_covered"], json!([{"path": "large.bin", "reason": "it is too large"}]));
    let listed = world.json(&["snapshots", &session]);
    assert_eq!(listed["snapshots"][0]["not_covered"], 1);
    assert!(world.ok(&["snapshots", &session]).contains("1 not covered"));
    let id = taken["snapshot"]["id"].as_str().unwrap();
    let dry = world.json(&["restore", &session, id, "--dry-run"]);
    assert_eq!(dry["not_covered"], taken["not_covered"]);
    assert_eq!(dry["not_heeded"], taken["not_heeded"]);
}

#[test]
fn g13_a_turn_records_whether_the_repository_is_dirty() {
    let world = world();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(world.path("project")).env("HOME", world.path("user")).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).status().unwrap().success());
    };
    git(&["init", "-q"]);
    world.file("a.txt", "a\n");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    let clean = turn(&world, "look", &[("read", json!({"path": "a.txt"}))], &[]);
    assert_eq!((&clean["dirty"], clean["commit"].as_str().map(str::len)), (&json!(false), Some(40)));
    let session = clean["session"].as_str().unwrap();
    let dirty = turn(&world, "write", &[write("b.txt", "b\n")], &["-s", session]);
    assert_eq!((&dirty["dirty"], &dirty["commit"]), (&json!(true), &clean["commit"]));
}

/// Kills a revert at some moment and looks at what is left: files and conversation moved together, or not at all.
#[test]
fn a_revert_that_is_killed_ends_with_files_and_conversation_together() {
    let world = world();
    let (session, first, _) = two_turns(&world);
    let entry = first["entry"].as_str().unwrap();
    let target = format!("{session}@{entry}");
    let (mut moved, mut stayed) = (0, 0);
    for round in 0..24_u64 {
        let mut child = world.command(&["revert", &target]);
        let mut child = child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        // Whatever the moment, the outcome must be one of two.
        let moment = std::time::Instant::now() + std::time::Duration::from_millis(round * 5);
        while std::time::Instant::now() < moment && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        world.ok(&["recover", &session]);
        let shown = world.json(&["show", &session]);
        let files = (read(&world, "poem.txt").unwrap(), read(&world, "more/a.txt"));
        if shown["session"]["revert"].is_null() {
            assert_eq!(files, ("roses\ntulips\n".into(), Some("a\n".into())), "round {round}");
            stayed += 1;
        } else {
            assert_eq!(shown["session"]["leaf"], entry, "round {round}");
            assert_eq!(files, ("roses\nviolets\n".into(), None), "round {round}");
            moved += 1;
            world.json(&["unrevert", &session]);
            assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
        }
    }
    assert!(moved + stayed == 24 && stayed > 0, "{moved} moved, {stayed} stayed");
}

#[test]
fn g5_g8_a_restore_keeps_the_chat_and_newer_snapshots_stay_listed() {
    let world = world();
    let (session, first, second) = two_turns(&world);
    let messages = world.json(&["show", &session])["messages"].clone();
    world.json(&["restore", &session, first["snapshot"].as_str().unwrap()]);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\nviolets\n"));
    assert_eq!(world.json(&["show", &session])["messages"], messages);
    let listed = world.json(&["snapshots", &session])["snapshots"].as_array().unwrap().clone();
    assert!(listed.iter().any(|one| one["id"] == second["snapshot"] && one["label"] == "After: other flowers"));
    let current: Vec<&Value> = listed.iter().filter(|one| one["current"] == true).collect();
    assert!(matches!(&*current, [one] if one["id"] == listed[0]["id"]), "{listed:?}");
    let ancestors = world.json(&["snapshots", &session, "--lineage"])["snapshots"].as_array().unwrap().clone();
    assert!(ancestors.iter().all(|one| one["ancestor_of_current"] == true && one["id"] != second["snapshot"]));
    assert!(ancestors.iter().any(|one| one["id"] == first["snapshot"]) && ancestors.len() < listed.len());
    // The newer ones can be gone to again.
    world.json(&["restore", &session, second["snapshot"].as_str().unwrap()]);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
}

#[test]
fn g12_a_branch_brings_its_files_when_asked() {
    let world = world();
    let (session, first, second) = two_turns(&world);
    let target = |end: &Value| format!("{session}@{}", end["entry"].as_str().unwrap());
    world.ok(&["branch", &target(&first)]);
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"), "unless asked, files stay");
    world.ok(&["branch", &target(&second)]);
    let dry = world.json(&["branch", &target(&first), "--files", "--dry-run"]);
    assert_eq!((&dry["applied"], dry["plan"].as_array().unwrap().len()), (&json!(false), 2));
    let done = world.json(&["branch", &target(&first), "--files"]);
    assert_eq!((&done["applied"], &done["leaf"]), (&json!(true), &first["entry"]));
    assert_eq!((read(&world, "poem.txt").as_deref(), read(&world, "more/a.txt")), (Some("roses\nviolets\n"), None));
    let text = world.ok(&["branch", &target(&second), "--files"]);
    assert!(text.ends_with(&format!("the leaf is now {}", second["entry"].as_str().unwrap())), "{text}");
    assert_eq!(read(&world, "poem.txt").as_deref(), Some("roses\ntulips\n"));
}

#[test]
fn of_snapshots_of_turns_that_changed_nothing_one_is_current() {
    let world = world();
    let (session, _, _) = two_turns(&world);
    let nothing = ("bash", json!({"command": "true"}));
    turn(&world, "look around", std::slice::from_ref(&nothing), &["-s", &session]);
    turn(&world, "look again", &[nothing], &["-s", &session]);
    let listed = world.json(&["snapshots", &session])["snapshots"].as_array().unwrap().clone();
    let current: Vec<&Value> = listed.iter().filter(|one| one["current"] == true).collect();
    assert!(matches!(&*current, [one] if one["entry"] == listed[0]["entry"]), "{listed:?}");
    assert!(listed.iter().filter(|one| one["id"] == listed[0]["id"]).count() > 1, "{listed:?}");
}

#[test]
fn what_a_turn_changed_is_told_the_same_then_and_later() {
    let world = world();
    let script = json!({"answers": [
        {"steps": [{"call": {"name": "write", "arguments": {"path": "a.txt", "content": "a\nb\n"}}}]},
        {"steps": [{"text": "Done."}]},
    ]});
    let script = world.file("script.toml", &toml::to_string(&script).unwrap());
    let ran = world.run(&["run", "write", "--script", &script, "--json", "--permission", "all=allow"]);
    let told = events(&ran.stdout);
    let session = told.last().unwrap()["session"].as_str().unwrap();
    let later = events(&world.ok(&["events", session, "--replay", "--json"]));
    let diff = |told: &[Value]| told.iter().find(|event| event["type"] == "session.diff").unwrap().clone();
    let (then, later) = (diff(&told), diff(&later));
    assert_eq!(then["diff"], json!([{"path": "a.txt", "status": "added", "additions": 2, "deletions": 0}]));
    assert!(then["seq"].is_u64() && then["diff"] == later["diff"] && then["seq"] == later["seq"], "{then} {later}");
}
