//! Commands: they end when they end, with everything they started, and what they write does not fill memory.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_tools::sandbox::{Policy, Sandbox, Status};
use ramus_tools::tool::bash::{Bash, Settings, without_secrets};
use ramus_tools::{Cancel, Outcome, Tool, Workspace};
use serde_json::json;

fn settings() -> Settings {
    Settings { environment: vec![("PATH".into(), "/usr/bin:/bin".into())], ..Settings::default() }
}

async fn bash_with(directory: &Path, settings: Settings, command: &str, timeout: u64, cancel: Cancel) -> Outcome {
    let workspace = Arc::new(Workspace::open(directory, &[]).unwrap());
    let tool = Bash { workspace, settings: Arc::new(settings) };
    tool.plan(&json!({"command": command, "timeout": timeout})).unwrap().run(cancel).await
}

async fn bash(directory: &Path, command: &str) -> Outcome {
    bash_with(directory, settings(), command, 2, Cancel::new()).await
}

/// Says whether a process whose command line holds a text is still there.
fn survives(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(text))
}

#[tokio::test]
async fn a_command_returns_when_it_ends_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let scripts = [
        "echo ok; sleep 987601 &",
        "echo ok; (sleep 987602 &)",
        "echo ok; nohup sleep 987603 >/dev/null 2>&1 &",
        "echo ok; setsid sleep 987604 &",
        "echo ok; setsid -f sleep 987605",
        "echo ok; setsid -f bash -c 'trap \"\" TERM; sleep 987606; sleep 987606'",
        "echo ok; bash -c 'trap \"\" TERM HUP INT; sleep 987607' & disown",
        "echo ok; for i in $(seq 50); do sleep 987608 & done",
        "echo ok; (setsid bash -c '(setsid sleep 987609 &) & sleep 987609') & sleep 0.2",
        "echo ok; exec 3>&1; sleep 987610 >&3 &",
        "echo ok; coproc sleep 987611",
        "echo ok; timeout 99 sleep 987612 & disown -a",
    ];
    for script in scripts {
        let start = Instant::now();
        let outcome = bash(directory.path(), script).await;
        assert!(outcome.as_text().starts_with("ok"), "{script}: {}", outcome.as_text());
        assert!(start.elapsed() < Duration::from_millis(1500), "{script}: {:?}", start.elapsed());
        assert!(!survives("98760") && !survives("98761"), "{script}");
    }
}

#[tokio::test]
async fn time_out_and_cancellation_end_the_whole_tree() {
    let directory = tempfile::tempdir().unwrap();
    for script in
        ["sleep 987620", "trap '' TERM; while :; do sleep 987620; done", "setsid -f sleep 987620; sleep 987620"]
    {
        let outcome = bash_with(directory.path(), settings(), script, 1, Cancel::new()).await;
        assert!(outcome.is_error && outcome.as_text().contains("which is the limit"), "{}", outcome.as_text());
        assert!(!survives("987620"));
        let cancel = Cancel::new();
        let later = cancel.clone();
        let stop = async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            later.cancel();
        };
        let start = Instant::now();
        let (outcome, ()) = tokio::join!(bash_with(directory.path(), settings(), script, 60, cancel), stop);
        assert!(outcome.is_cancelled && start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
        assert!(!survives("987620"));
    }
    let cancelled = Cancel::new();
    cancelled.cancel();
    assert!(bash_with(directory.path(), settings(), "touch ran", 1, cancelled).await.is_cancelled);
    assert!(!directory.path().join("ran").exists());
}

#[tokio::test]
async fn long_output_is_kept_whole_and_shown_in_part() {
    let directory = tempfile::tempdir().unwrap();
    let memory = || {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = memory();
    let command = "head -c 200000000 /dev/zero; echo end";
    let outcome = bash_with(directory.path(), settings(), command, 60, Cancel::new()).await;
    assert!(memory().saturating_sub(before) < 32 << 10, "grew by {} KiB", memory() - before);
    let mut spill = outcome.spill.as_ref().map(|spill| (spill.length, spill.is_cut)).unwrap();
    assert_eq!(spill, (200_000_004, false));
    assert!(outcome.as_text().ends_with("end\n") && outcome.as_text().len() < 40_000);
    let outcome = bash(directory.path(), "seq 100000").await;
    let mut whole = String::new();
    let mut kept = outcome.spill.unwrap();
    spill = (kept.length, kept.is_cut);
    kept.file.read_to_string(&mut whole).unwrap();
    assert_eq!((spill, whole.lines().count()), ((588_895, false), 100_000));
    let few = Settings { kept: 1000, ..settings() };
    let outcome = bash_with(directory.path(), few, "seq 100000", 9, Cancel::new()).await;
    assert!(outcome.spill.is_some_and(|spill| spill.is_cut && spill.file.metadata().unwrap().len() <= 33_000));
    assert!(bash(directory.path(), "echo short").await.spill.is_none());
}

#[tokio::test]
async fn results_say_how_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let outcome = bash(directory.path(), "echo out; echo err >&2; exit 3").await;
    assert_eq!(outcome.as_text(), "out\nerr\n\n[exit status: 3]");
    let details = outcome.details.unwrap();
    assert_eq!((&details["exitCode"], &details["sandbox"]), (&json!(3), &json!("without a sandbox: it is off")));
    assert_eq!(bash(directory.path(), "true").await.as_text(), "(no output)");
    assert_eq!(bash(directory.path(), "cat").await.as_text(), "(no output)");
}

#[test]
fn credentials_stay_out_of_the_environment() {
    let names =
        ["PATH", "OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "HOME", "SSH_AUTH_SOCK"];
    let kept = without_secrets(names.map(|name| (name.into(), "x".into())));
    assert_eq!(kept.iter().map(|(name, _)| name.to_str().unwrap()).collect::<Vec<_>>(), ["PATH", "HOME"]);
}

#[tokio::test]
async fn the_sandbox_holds() {
    if Sandbox::status() != Status::Enforced {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    for directory in ["work", ".ssh", "other"] {
        fs::create_dir(home.path().join(directory)).unwrap();
    }
    fs::write(home.path().join(".ssh/id"), "secret").unwrap();
    fs::write(home.path().join("other/file"), "readable").unwrap();
    let policy = Policy { writable: vec![work.clone()], hidden: vec![home.path().join(".ssh")] };
    let sandbox = Sandbox { helper: vec![env!("CARGO_BIN_EXE_ramus-sandbox").into()], policy };
    let bounded = Settings { sandbox: Some(sandbox), ..settings() };
    let run = |command: &'static str| bash_with(&work, bounded.clone(), command, 5, Cancel::new());
    let fine =
        run("echo in > file && cat file && cat ../other/file && ls / > /dev/null && mkdir d && mv file d/").await;
    assert_eq!(fine.as_text(), "in\nreadable");
    assert_eq!(fine.details.as_ref().unwrap()["sandbox"], "in a sandbox");
    for command in [
        "cat ../.ssh/id",
        "ln -s ../.ssh l; cat l/id",
        "cp -r ../.ssh here; cat here/id",
        "echo x > ../other/file",
        "rm ../other/file",
        "mv ../other/file .",
        "ln ../.ssh/id stolen; cat stolen",
        "bash -c 'cat ../.ssh/id'",
        "kill -0 $PPID",
    ] {
        let outcome = run(command).await;
        assert!(outcome.is_error && !outcome.as_text().contains("secret"), "{command}: {}", outcome.as_text());
    }
    assert_eq!(fs::read_to_string(home.path().join("other/file")).unwrap(), "readable");
}
