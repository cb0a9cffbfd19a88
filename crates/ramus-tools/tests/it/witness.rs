//! The witness: what a command can have changed is known, path by path, whoever else changes something meanwhile.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ramus_tools::sandbox::{Policy, Sandbox, Status};
use ramus_tools::tool::bash::{Bash, Settings};
use ramus_tools::{Cancel, Outcome, Reach, Tool, Workspace};
use serde_json::json;
use tempfile::TempDir;

/// A directory to work in, unless nobody can look on here.
fn work() -> Option<TempDir> {
    (Sandbox::status() == Status::Enforced).then(|| tempfile::tempdir().unwrap())
}

async fn run(work: &Path, command: &str) -> Outcome {
    let policy = Policy { writable: vec![work.to_owned(), "/dev/shm".into()], hidden: Vec::new() };
    let sandbox = Sandbox { helper: vec![env!("CARGO_BIN_EXE_ramus-sandbox").into()], policy };
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), work.into())];
    let settings = Settings { environment, sandbox: Some(sandbox), ..Settings::default() };
    let workspace = Arc::new(Workspace::open(work, &[]).unwrap());
    let tool = Bash { workspace, settings: Arc::new(settings) };
    tool.plan(&json!({"command": command, "timeout": 60})).unwrap().run(Cancel::new()).await
}

/// Every file beneath a directory, with its content and mode.
fn files(work: &Path) -> Vec<(String, String)> {
    let found = Command::new("/usr/bin/find")
        .args([".", "-path", "./.git", "-prune", "-o", "!", "-type", "d", "-printf", "%P %m %l\n"])
        .current_dir(work)
        .output()
        .unwrap();
    let lines = String::from_utf8(found.stdout).unwrap();
    let content = |path: &str| match work.join(path).is_symlink() {
        true => String::new(),
        false => String::from_utf8_lossy(&fs::read(work.join(path)).unwrap_or_default()).into_owned(),
    };
    let named = |line: &str| {
        let path = line.split(' ').next().unwrap();
        (path.to_owned(), format!("{line} {}", content(path)))
    };
    lines.lines().map(named).collect()
}

/// Runs a command and says which paths became other ones, and which of those are in its reach.
async fn changed(work: &Path, command: &str) -> (Vec<String>, Option<Reach>) {
    let before = files(work);
    let outcome = run(work, command).await;
    let after = files(work);
    let only = |these: &[(String, String)], those: &[(String, String)]| -> Vec<String> {
        these.iter().filter(|one| !those.contains(one)).map(|(path, _)| path.clone()).collect()
    };
    let mut changed = [only(&before, &after), only(&after, &before)].concat();
    changed.sort();
    changed.dedup();
    (changed, outcome.reach)
}

#[tokio::test]
async fn everything_that_a_command_changes_is_in_its_reach_and_nothing_else() {
    let Some(folder) = work() else { return };
    let work = folder.path().canonicalize().unwrap();
    fs::create_dir_all(work.join("real/deep")).unwrap();
    std::os::unix::fs::symlink("real", work.join("link")).unwrap();
    for path in ["a", "b", "c", "real/deep/d", "real/e", "mine", "script"] {
        fs::write(work.join(path), "old\n").unwrap();
    }
    let python = "import os; open('py', 'w').write('x'); os.chmod('script', 0o755); os.truncate('c', 0)";
    let commands = [
        ("echo new > a; echo more >> real/e", 2),
        ("sed -i s/old/new/ b", 1),
        ("cd link/../link/deep && echo new > d && cd / && echo x > $HOME/link/f", 2),
        ("mkdir -p p/q/r && echo 1 > p/q/r/s && mv p/q t && rm -r p", 1),
        ("mv real moved", 4),
        ("rm -rf moved t", 4),
        ("ln -s a l && echo through > l && ln a hard && echo both > hard && chmod 600 hard", 3),
        ("cp -p a copy && touch -d yesterday copy && install -m 755 b installed && dd if=a of=dd status=none", 3),
        ("exec 5<>rw; echo x >&5; (echo sub > sub) & wait; echo tee | tee tee > /dev/null 2>&1", 3),
        ("setsid bash -c 'echo far > far'; bash -c 'echo 1 > one & exit 3'; sleep 0.2; true", 2),
        ("git init -q . && git add a && git -c user.name=n -c user.email=e commit -qm x && git rm -q a", 1),
        ("tar cf t.tar b c && mkdir out && tar xf t.tar -C out", 3),
        (&*format!("python3 -c \"{python}\""), 3),
        ("perl -e 'rename(\"b\", \"b2\"); unlink(\"c\"); symlink(\"x\", \"dangling\")'", 4),
    ];
    for (command, count) in commands {
        let program = command.split(' ').next().unwrap();
        if !Path::new("/usr/bin").join(program).exists() && ["git", "python3", "perl"].contains(&program) {
            continue;
        }
        let (changed, reach) = changed(&work, command).await;
        let reach = reach.unwrap_or_else(|| panic!("nobody knows what this did: {command}"));
        let missed: Vec<_> = changed.iter().filter(|path| !reach.covers(&work.join(path))).collect();
        assert!(missed.is_empty(), "{command}: {missed:?} of {changed:?}");
        assert!(changed.len() >= count, "{command}: {changed:?}");
        assert!(!reach.covers(&work.join("mine")), "{command}: {reach:?}");
    }
}

#[tokio::test]
async fn looking_reaches_nothing() {
    let Some(folder) = work() else { return };
    let work = folder.path().canonicalize().unwrap();
    fs::write(work.join("a"), "x").unwrap();
    let outcome = run(&work, "cat a; ls -la; grep -r x . ; read line; echo \"[$line]\"; sleep 0.1").await;
    assert_eq!(outcome.reach, Some(Reach::default()), "{}", outcome.as_text());
    assert!(outcome.as_text().ends_with("[]\n"), "what it reads is nothing: {}", outcome.as_text());
}

#[tokio::test]
async fn what_cannot_be_seen_makes_all_of_it_unknown() {
    let Some(folder) = work() else { return };
    let work = folder.path().canonicalize().unwrap();
    let python = Path::new("/usr/bin/python3").exists();
    let socket = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('/dev/shm/nobody')\"";
    if python {
        assert_eq!(run(&work, socket).await.reach, None, "another program may do anything in its place");
    }
    assert_eq!(run(&work, "ln -s gone l; echo x > l").await.reach, None, "a file that a link makes is not found");
    let outcome = run(&work, "exit 3").await;
    assert!(outcome.is_error && outcome.reach.is_some(), "{}", outcome.as_text());
}

#[tokio::test]
async fn many_at_once_and_one_that_is_ended_are_seen_to_their_end() {
    let Some(folder) = work() else { return };
    let work = folder.path().canonicalize().unwrap();
    let lines = "for i in 1 2 3 4 5 6 7 8; do (for j in {1..100}; do echo x > f$i-$j; done) & done; wait";
    let (changed, reach) = changed(&work, lines).await;
    let reach = reach.unwrap();
    assert!(changed.len() == 800 && changed.iter().all(|path| reach.covers(&work.join(path))), "{}", changed.len());
    let cancel = Cancel::new();
    let (stop, at) = (cancel.clone(), work.clone());
    tokio::spawn(async move {
        while !at.join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.cancel();
    });
    let policy = Policy { writable: vec![work.clone()], hidden: Vec::new() };
    let sandbox = Sandbox { helper: vec![env!("CARGO_BIN_EXE_ramus-sandbox").into()], policy };
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let settings = Settings { environment, sandbox: Some(sandbox), ..Settings::default() };
    let tool = Bash { workspace: Arc::new(Workspace::open(&work, &[]).unwrap()), settings: Arc::new(settings) };
    let endless = "echo x > begun; i=0; while true; do i=$((i+1)); echo x > e$((i % 50)); done";
    let outcome = tool.plan(&json!({"command": endless})).unwrap().run(cancel).await;
    let reach = outcome.reach.unwrap();
    assert!(outcome.is_cancelled && reach.covers(&work.join("begun")));
    assert!(
        files(&work).iter().filter(|(path, _)| path.starts_with('e')).all(|(path, _)| reach.covers(&work.join(path)))
    );
}
