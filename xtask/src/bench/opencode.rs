//! opencode, the published program, with a store that it filled itself: what listing a thousand sessions costs it.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::http::Connection;
use super::timed::{self, Timed};
use crate::process;
use crate::workspace::{self, Workspace};

const PACKAGE: &str = "opencode-ai";
const VERSION: &str = "1.18.33";
const RUNS: usize = 5;

/// The installed program.
pub(super) struct Opencode {
    program: PathBuf,
}

impl Opencode {
    /// Finds the program and installs it when that has not been done yet; the error says why it cannot be measured.
    pub(super) fn find(workspace: &Workspace) -> Result<Self, String> {
        workspace.shared().ok_or("there is no ../shared with the oracles")?;
        let home = env::var_os("HOME").ok_or("HOME is not set")?;
        let folder = Path::new(&home).join(".cache/ramus-oracles/opencode");
        let machine = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
        let program = folder.join("node_modules").join(format!("opencode-linux-{machine}")).join("bin/opencode");
        if !program.is_file() {
            if !workspace::installed("npm") {
                return Err("npm is not installed".to_owned());
            }
            println!("==> installing {PACKAGE} {VERSION}");
            install(&folder).map_err(|error| format!("{PACKAGE} cannot be installed: {error:#}"))?;
        }
        if program.is_file() { Ok(Self { program }) } else { Err(format!("{PACKAGE} has no program for this machine")) }
    }

    pub(super) fn version() -> String {
        format!("opencode = {PACKAGE} {VERSION}")
    }

    /// Fills a store with so many sessions and lists them all.
    pub(super) fn list(&self, folder: &Path, sessions: usize) -> Result<Timed> {
        self.prepare(folder)?;
        self.fill(folder, sessions).context("opencode did not take the sessions")?;
        let count = sessions.to_string();
        let (timed, printed) = timed::repeat(RUNS, || {
            let mut command = self.command(folder);
            command.args(["session", "list", "-n", &count, "--format", "json"]);
            command
        })?;
        let listed: Value = serde_json::from_slice(&printed).context("opencode printed no JSON")?;
        let listed = listed.as_array().map_or(0, Vec::len);
        ensure!(listed == sessions, "opencode lists {listed} of {sessions} sessions");
        fs::remove_dir_all(folder)?;
        Ok(timed)
    }

    /// Makes an empty store.
    pub(super) fn prepare(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        for name in ["home", "data", "config", "cache", "state", "project"] {
            fs::create_dir_all(folder.join(name))?;
        }
        Ok(())
    }

    /// The program, with nothing of the machine it runs on and no wish to reach any other.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", folder.join("home"));
        for (variable, name) in [
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_STATE_HOME", "state"),
        ] {
            command.env(variable, folder.join(name));
        }
        for feature in ["AUTOUPDATE", "MODELS_FETCH", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
            command.env(format!("OPENCODE_DISABLE_{feature}"), "1");
        }
        command.current_dir(folder.join("project"));
        command
    }

    /// Its server, at any port.
    pub(super) fn serving(&self, folder: &Path) -> Command {
        let mut command = self.command(folder);
        command.args(["serve", "--hostname", "127.0.0.1", "--port", "0"]);
        command
    }

    /// The address that a line of its server tells.
    pub(super) fn address(line: &str) -> Option<String> {
        Some(line.strip_prefix("opencode server listening on http://")?.trim().to_owned())
    }

    /// Its server makes the sessions, so that the store is as opencode wants it, whatever its tables are.
    fn fill(&self, folder: &Path, sessions: usize) -> Result<()> {
        let mut command = self.serving(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Server(command.spawn().context("cannot start the server")?);
        let stdout = BufReader::new(server.0.stdout.take().context("no stdout")?);
        let address = stdout.lines().map_while(Result::ok).find_map(|line| Self::address(&line));
        let mut connection = Connection::open(&address.context("the server did not say where it listens")?, None)?;
        for number in 0..sessions {
            connection.post("/session", &format!(r#"{{"title":"Session number {number} about parsers"}}"#))?;
        }
        Ok(())
    }
}

fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    if !folder.join("package.json").exists() {
        fs::write(folder.join("package.json"), "{\"name\":\"opencode-oracle\",\"private\":true}\n")?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    process::run(npm.arg(format!("{PACKAGE}@{VERSION}")))
}

/// A server that does not outlive its use.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already needs no ending.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
