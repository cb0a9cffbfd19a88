//! A repository, what is outside of it, and the judgement of what was done to both.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a secret outside is.
const SECRET: &str = "a secret that is nobody's business\n";

/// How long a tour may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A name and how to build it.
pub(crate) type Repository = (&'static str, fn(&Arena));

pub(crate) struct Arena {
    folder: tempfile::TempDir,
}

/// Why this cannot be judged here.
pub(crate) fn unavailable() -> Option<String> {
    let works = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    match works {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("strace does not work here: {}", String::from_utf8_lossy(&output.stderr))),
        Err(_) => Some("strace is not installed".to_owned()),
    }
}

impl Arena {
    /// Makes a repository with nothing wrong with it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let arena = Self { folder };
        arena.repository("");
        arena.write("tracked.txt", "tracked\n");
        fs::create_dir(arena.outside()).unwrap();
        fs::write(arena.outside().join("secret"), SECRET).unwrap();
        let script = arena.outside().join("evil");
        fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", arena.canary().display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        arena
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// The file that is there when something was run.
    pub(crate) fn canary(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    /// The program that makes it.
    pub(crate) fn evil(&self) -> String {
        self.outside().join("evil").to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Makes an empty repository of a directory, without asking git.
    pub(crate) fn repository(&self, directory: &str) {
        let git = Path::new(directory).join(".git");
        for inner in ["objects/info", "objects/pack", "refs/heads", "info", "hooks"] {
            fs::create_dir_all(self.root().join(&git).join(inner)).unwrap();
        }
        let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
        self.write(git.join("config").to_str().unwrap(), config);
        self.write(git.join("HEAD").to_str().unwrap(), "ref: refs/heads/main\n");
    }

    /// Adds to the settings of a repository; `EVIL` stands for the program.
    pub(crate) fn configure(&self, directory: &str, text: &str) {
        let path = self.root().join(directory).join(".git/config");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + &text.replace("EVIL", &self.evil())).unwrap();
    }

    /// Does everything that snapshots do.
    pub(crate) fn tour(&self) -> Result<(), String> {
        self.tour_while(|| {})
    }

    /// The same, while something else goes on in between.
    pub(crate) fn tour_while(&self, mut meanwhile: impl FnMut()) -> Result<(), String> {
        let before = self.look();
        let trace = self.folder.path().join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=execve,execveat,vfork", "-o"]).arg(&trace);
        command.arg(env!("CARGO_BIN_EXE_crashbox")).arg("tour").arg(self.folder.path().join("store")).arg(self.root());
        let said = File::create(self.folder.path().join("said")).unwrap();
        command.stdin(Stdio::null()).stdout(said).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        wait(&mut child, &mut meanwhile)?;
        let output = child.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("the tour failed: {complaint}"));
        }
        let trace = fs::read_to_string(trace).unwrap();
        // Its own start is the one that is expected.
        let runs: Vec<&str> = trace.lines().filter(|line| line.contains("exec")).collect();
        if runs.len() != 1 || self.canary().exists() {
            return Err(format!("something was run: {runs:#?}"));
        }
        self.check(&before)
    }

    fn check(&self, before: &BTreeMap<PathBuf, String>) -> Result<(), String> {
        let after = self.look();
        if after != *before {
            let changed: Vec<_> = before.iter().filter(|(path, look)| after.get(*path) != Some(look)).collect();
            return Err(format!("something was touched: {changed:?}"));
        }
        let said: Value = serde_json::from_slice(&fs::read(self.folder.path().join("said")).unwrap()).unwrap();
        let hashes = said["hashes"].as_array().unwrap();
        if hashes.iter().any(|hash| hash.as_str() == Some(&secret())) {
            return Err("the secret is in the store".to_owned());
        }
        if said["text"] != "one\n" || said["changed"].as_u64() < Some(2) || said["done"].as_u64() < Some(2) {
            return Err(format!("it did not work: {said}"));
        }
        Ok(())
    }

    /// Everything of any `.git`, and everything outside: content, inode, mode, times.
    fn look(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.root(), self.outside()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap().flatten() {
                let path = entry.path();
                let metadata = path.symlink_metadata().unwrap();
                let of_git = path
                    .strip_prefix(self.root())
                    .is_ok_and(|path| path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")));
                if of_git || path.starts_with(self.outside()) {
                    let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                    let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime_nsec());
                    let look = (metadata.ino(), metadata.mode(), metadata.len(), times, content);
                    found.insert(path.clone(), format!("{look:?}"));
                }
                if metadata.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }

    /// Lets git do what others let it do.
    pub(crate) fn git_add(&self) {
        let shadow = self.folder.path().join("shadow");
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(arguments).current_dir(self.root()).env_clear();
            command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.folder.path());
            command.env("GIT_AUTHOR_NAME", "a").env("GIT_AUTHOR_EMAIL", "a@localhost");
            command.env("GIT_COMMITTER_NAME", "a").env("GIT_COMMITTER_EMAIL", "a@localhost");
            // What it says about what it met is of no interest.
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        };
        git(&["add", "-A"]);
        let (directory, tree) =
            (format!("--git-dir={}", shadow.display()), format!("--work-tree={}", self.root().display()));
        git(&[&directory, &tree, "init", "-q"]);
        for nested in fs::read_dir(self.root()).unwrap().flatten().filter(|entry| entry.path().join(".git").is_dir()) {
            let inner = nested.path();
            git(&[
                "-C",
                inner.to_str().unwrap(),
                "-c",
                "core.fsmonitor=false",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "x",
            ]);
        }
        for _ in 0..2 {
            git(&[&directory, &tree, "-c", "core.fsmonitor=", "add", "-A"]);
            git(&[&directory, &tree, "status"]);
        }
    }
}

/// Waits for a child, which must not hang.
fn wait(child: &mut Child, meanwhile: &mut impl FnMut()) -> Result<(), String> {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        meanwhile();
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err("it hangs".to_owned());
        }
        rest();
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "there is no event to wait for that bounds how long a process takes")]
fn rest() {
    std::thread::sleep(Duration::from_millis(1));
}

/// The hash of the secret.
fn secret() -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(SECRET).iter().map(|byte| format!("{byte:02x}")).collect()
}
