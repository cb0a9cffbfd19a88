//! Git as others use it for snapshots: a repository beside the directory. Nothing of it is made durable, as usual.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How opencode sets up its repository.
const SETTINGS: [(&str, &str); 8] = [
    ("core.autocrlf", "false"),
    ("core.longpaths", "true"),
    ("core.symlinks", "true"),
    ("core.fsmonitor", "false"),
    ("feature.manyFiles", "true"),
    ("index.version", "4"),
    ("index.threads", "true"),
    ("core.untrackedCache", "true"),
];

/// What it tells git each time.
const USUAL: [&str; 8] = [
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.longpaths=true",
    "-c",
    "core.symlinks=true",
    "-c",
    "core.quotepath=false",
];

pub(crate) struct Git {
    pub(crate) directory: PathBuf,
    pub(crate) tree: PathBuf,
}

impl Git {
    pub(crate) fn init(&self) -> io::Result<()> {
        finish(self.command(&["init", "-q"]).spawn()?)?;
        for (name, value) in SETTINGS {
            finish(self.command(&["config", name, value]).spawn()?)?;
        }
        Ok(())
    }

    /// `git add -A && git write-tree`.
    pub(crate) fn add_all(&self) -> io::Result<()> {
        finish(self.command(&["add", "-A"]).spawn()?)?;
        finish(self.command(&["write-tree"]).spawn()?).map(drop)
    }

    /// What opencode runs to know what a directory holds. It does so three times per step.
    pub(crate) fn track(&self) -> io::Result<String> {
        let changed = self.usual(&["diff-files", "--name-only", "-z", "--", "."]).spawn()?;
        let others = ["ls-files", "--full-name", "--others", "--exclude-standard", "-z", "--", "."];
        let others = self.usual(&others).spawn()?;
        let mut names = finish(changed)?;
        names.extend(finish(others)?);
        if !names.is_empty() {
            let mut pathspecs = Vec::new();
            for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                pathspecs.extend_from_slice(b":(top,literal)");
                pathspecs.extend_from_slice(name);
                pathspecs.push(0);
            }
            // None of them is ignored, which git says by failing.
            let _ = self.feed(&["check-ignore", "--no-index", "--stdin", "-z"], &names);
            self.feed(&["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"], &pathspecs)?;
        }
        let hash = finish(self.usual(&["write-tree"]).spawn()?)?;
        Ok(String::from_utf8_lossy(&hash).trim().to_owned())
    }

    /// Puts files back.
    pub(crate) fn checkout(&self, hash: &str, paths: &[PathBuf]) -> io::Result<()> {
        let mut command = self.usual(&["checkout", "-q", hash, "--"]);
        finish(command.args(paths).spawn()?).map(drop)
    }

    fn feed(&self, arguments: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
        let mut child = self.usual(arguments).stdin(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        finish(child)
    }

    fn usual(&self, arguments: &[&str]) -> Command {
        let all: Vec<&str> = USUAL.iter().chain(arguments).copied().collect();
        self.command(&all)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("GIT_DIR", &self.directory).env("GIT_WORK_TREE", &self.tree).env("HOME", Path::new("/nonexistent"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").args(arguments).current_dir(&self.tree);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }
}

fn finish(child: Child) -> io::Result<Vec<u8>> {
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(output.stdout) } else { Err(io::Error::other(format!("git: {}", output.status))) }
}
