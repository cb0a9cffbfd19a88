//! Large sessions on their way to a server: neither end holds them in memory.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::afar::{Server, TOKEN};
use crate::world::World;

/// A session of pi of more than so many bytes.
fn large_session(world: &World, bytes: usize) -> PathBuf {
    let path = world.path("user").join("2026-11-01T09-00-00-000Z_large-0001.jsonl");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let header =
        r#"{"type":"session","version":3,"id":"large-0001","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/project"}"#;
    writeln!(out, "{header}").unwrap();
    let text = "All work and no play makes a long session. ".repeat(9_000);
    let mut parent = "null".to_owned();
    for at in 0..bytes / text.len() + 1 {
        writeln!(out, r#"{{"type":"message","id":"e{at:07}","parentId":{parent},"timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#).unwrap();
        parent = format!("\"e{at:07}\"");
    }
    out.flush().unwrap();
    path
}

/// How much memory a process had at most, in bytes.
fn most_memory(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<usize>().unwrap() << 10
}

#[test]
fn h4_a_large_session_comes_to_a_server_in_little_memory() {
    const SIZE: usize = 80 << 20;
    const MOST: usize = 64 << 20;
    let (here, there) = (World::new(), World::new());
    let file = large_session(&here, SIZE);
    assert!(std::fs::metadata(&file).unwrap().len() > SIZE as u64);
    let server = Server::start(&there, &["--port", "0"]);
    let before = most_memory(server.process());
    // The client may not have more than this either, whatever it is called.
    let words = ["--server", &server.address, "import", file.to_str().unwrap()];
    let binary = env!("CARGO_BIN_EXE_ramus");
    let mut shell = Command::new("sh");
    let script = format!("ulimit -d {}; exec {binary} \"$@\"", MOST >> 10);
    shell.arg("-c").arg(script).arg("sh").args(words).current_dir(here.path("project")).env_clear();
    shell.env("HOME", here.path("user")).env("RAMUS_HOME", here.path("home")).env("RAMUS_TOKEN", TOKEN);
    let output = shell.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("large-0001"));
    let after = most_memory(server.process());
    assert!(after < before + MOST, "from {before} to {after}");
    let listed = there.json(&["list", "--all"]);
    assert_eq!(listed["sessions"][0]["id"], "large-0001");
    // The same as a bundle, from a file and from a pipe.
    let bundle = there.path("large.json");
    there.ok(&["export", "large-0001", "-o", bundle.to_str().unwrap()]);
    for (arguments, input) in [(&[bundle.to_str().unwrap()][..], None), (&["-"], Some(&bundle))] {
        let words = [&["--server", &server.address, "import", "--as-new"], arguments].concat();
        let mut command = here.command(&words);
        if let Some(input) = input {
            command.stdin(std::fs::File::open(input).unwrap());
        }
        let output = command.env("RAMUS_TOKEN", TOKEN).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(there.json(&["list", "--all"])["sessions"].as_array().unwrap().len(), 3);
    let after = most_memory(server.process());
    assert!(after < before + MOST, "from {before} to {after}");
}

#[test]
fn h4_a_bundle_that_is_too_large_for_a_server_is_refused_with_the_limit() {
    let (here, there) = (World::new(), World::new());
    there.ok(&["config", "set", "largest_upload", "1MB"]);
    assert_eq!(there.run(&["config", "set", "largest_upload", "much"]).code, 2);
    let server = Server::start(&there, &["--port", "0"]);
    let file = large_session(&here, 4 << 20);
    let mut command = here.command(&["--server", &server.address, "import", file.to_str().unwrap()]);
    let output = command.env("RAMUS_TOKEN", TOKEN).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("larger than the 1000000 bytes") && told.contains("largest_upload"), "{told}");
}
