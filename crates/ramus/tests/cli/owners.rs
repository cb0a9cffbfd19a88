//! Whose home it is: private whatever the umask, closed when it was open, refused when it is someone else's.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;

fn walk(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        if path.is_dir() {
            found.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
        next += 1;
    }
    found
}

fn open_ones(root: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: &PathBuf| std::fs::symlink_metadata(path).unwrap().mode() & 0o777;
    let is_wrong = |path: &PathBuf| mode(path) != if path.is_dir() { 0o700 } else { 0o600 };
    walk(root).into_iter().filter(is_wrong).map(|path| (path.clone(), mode(&path))).collect()
}

/// A bit of everything, under a umask.
const EVERYTHING: &str = r#"
set -e
umask $1
R=$2
s=$($R new --title t)
$R say $s hello
$R say $s hi --role assistant
f=$($R fork $s)
$R say $f mine
$R label $s@ here
$R config set owner ada
$R delete $s --yes
$R list --all
"#;

#[test]
fn everything_is_private_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let world = World::new();
        std::fs::remove_dir(world.path("home")).unwrap();
        let mut command = world.command(&[]);
        let environment: Vec<_> = command.get_envs().map(|(k, v)| (k.to_owned(), v.unwrap().to_owned())).collect();
        command = Command::new("sh");
        command.args(["-c", EVERYTHING, "sh", umask, env!("CARGO_BIN_EXE_ramus")]).env_clear().envs(environment);
        command.env("TMUX_PANE", "%1").env("PATH", std::env::var("PATH").unwrap());
        let ran = command.current_dir(world.path("project")).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        for part in ["bases", "terminal-sessions", "locks", "sessions", "config.toml"] {
            assert!(world.path("home").join(part).exists(), "{part} was made");
        }
        assert_eq!(open_ones(&world.path("home")), [], "umask {umask}");
    }
}

#[test]
fn a_home_that_was_open_is_closed_and_that_is_said_once() {
    let world = World::new();
    let session = world.branched();
    for path in walk(&world.path("home")) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let ran = world.run(&["show", &session]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("was open to other users; it is private now"), "{}", ran.stderr);
    assert_eq!(open_ones(&world.path("home")), []);
    assert_eq!(world.run(&["show", &session]).stderr, "", "once is enough");
}

#[test]
fn links_are_no_part_of_a_home() {
    for part in ["drafts", "sessions", "locks", "bases", "quarantine", "terminal-sessions"] {
        let world = World::new();
        let session = world.branched();
        let _ = std::fs::remove_dir_all(world.path("home").join(part));
        std::fs::create_dir(world.path("elsewhere")).unwrap();
        symlink(world.path("elsewhere"), world.path("home").join(part)).unwrap();
        for arguments in [&["list"][..], &["show", &session], &["new"], &["say", &session, "x"]] {
            let ran = world.run(&[arguments, &["--json"]].concat());
            assert_eq!(ran.code, 1, "{part} {arguments:?}: {}", ran.stdout);
            assert!(ran.stderr.contains(r#""kind":"denied""#) && ran.stderr.contains("link"), "{}", ran.stderr);
        }
        assert_eq!(std::fs::read_dir(world.path("elsewhere")).unwrap().count(), 0);
    }
}

#[test]
fn a_session_that_is_a_link_is_neither_read_nor_written() {
    let world = World::new();
    let session = world.branched();
    let path: PathBuf = world.json(&["show", &session])["session"]["path"].as_str().unwrap().into();
    let target = world.path("target.jsonl");
    std::fs::rename(&path, &target).unwrap();
    symlink(&target, &path).unwrap();
    let before = std::fs::read(&target).unwrap();
    for arguments in [&["show", &session][..], &["say", &session, "x"], &["tail", &session], &["fork", &session]] {
        let ran = world.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(r#""kind":"denied""#), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read(&target).unwrap(), before);
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    let world = World::new();
    let session = world.branched();
    for part in ["drafts", "sessions", ""] {
        let path = world.path("home").join(part);
        if chown(&path, Some(1001), Some(1001)).is_err() {
            return eprintln!("skipped: only root can give files away");
        }
        for arguments in [&["list"][..], &["show", &session], &["new"]] {
            let ran = world.run(&[arguments, &["--json"]].concat());
            assert_eq!(ran.code, 1, "{part} {arguments:?}: {}", ran.stdout);
            assert!(ran.stderr.contains(r#""kind":"denied""#), "{}", ran.stderr);
            assert!(ran.stderr.contains("another user") && ran.stderr.contains("run as that user"), "{}", ran.stderr);
        }
        chown(&path, Some(0), Some(0)).unwrap();
    }
    // The other way round: a user in a home of root's.
    let program = world.path("ramus");
    std::fs::copy(env!("CARGO_BIN_EXE_ramus"), &program).unwrap();
    for directory in ["", "project", "user", "home"] {
        std::fs::set_permissions(world.path(directory), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let home = world.path("home");
    let ran = Command::new("setpriv")
        .args(["--reuid", "1000", "--regid", "1000", "--clear-groups"])
        .args([program.as_os_str(), "list".as_ref(), "--home".as_ref(), home.as_os_str()])
        .current_dir(world.path("project"))
        .output();
    let Ok(ran) = ran else { return eprintln!("skipped: there is no setpriv(1) to become someone else") };
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("belongs to another user"), "{said}");
}
