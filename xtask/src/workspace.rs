//! Where things are: the repository, its build directory, and the judges' material beside it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The repository this task works on.
pub(crate) struct Workspace {
    /// Directory of the root manifest.
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Finds the repository that this program was built from.
    pub(crate) fn discover() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("the xtask crate has no parent directory")?.to_owned();
        let metadata = process::stdout(cargo(&root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
        let target = metadata.get("target_directory").and_then(Value::as_str).context("no target_directory")?;
        Ok(Self { root, target: target.into() })
    }

    /// A cargo command in the root of the repository.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = cargo(&self.root);
        command.args(arguments);
        command
    }

    /// The directory with fixtures and oracles: `../shared`, or `RAMUS_SHARED`. It is no part of the repository.
    pub(crate) fn shared(&self) -> Option<PathBuf> {
        let shared = env::var_os("RAMUS_SHARED").map_or_else(|| self.root.join("../shared"), PathBuf::from);
        shared.join("oracles").is_dir().then(|| shared.canonicalize().ok()).flatten()
    }

    /// Builds the `ramus` binary of the development profile, the one the tests have built already.
    pub(crate) fn ramus(&self) -> Result<PathBuf> {
        process::run(&mut self.cargo(["build", "--quiet", "--package", "ramus", "--bin", "ramus"]))?;
        Ok(self.target.join("debug").join("ramus"))
    }

    /// The short hash of the checked-out commit, marked when files differ from it.
    pub(crate) fn commit(&self) -> String {
        let git = |arguments: &[&str]| process::stdout(Command::new("git").current_dir(&self.root).args(arguments));
        let Ok(hash) = git(&["rev-parse", "--short", "HEAD"]) else {
            return "unknown".to_owned();
        };
        let changed = git(&["status", "--porcelain"]).is_ok_and(|status| !status.trim().is_empty());
        format!("{}{}", hash.trim(), if changed { " (with local changes)" } else { "" })
    }

    /// The platform rustc builds for by default.
    pub(crate) fn host(&self) -> Result<String> {
        let version = process::stdout(Command::new("rustc").arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("rustc -vV names no host")?.to_owned())
    }
}

/// Whether `program` can be called by name.
pub(crate) fn installed(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// How many programs may usefully run at a time.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}
