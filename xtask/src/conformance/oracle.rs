//! The real programs as judges: what they see in a session file, and what becomes of it when they append.
//!
//! Every call works on a file the caller may lose, is limited in time, and ends with SIGKILL when the limit is reached:
//! some of these programs hang on some inputs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::digest::{self, Digest, State};
use crate::process::{self, Ended};
use crate::workspace::{self, Workspace};

/// A program that reads and writes our format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oracle {
    Pi73,
    Pi87,
    Omp13,
    Omp18,
}

impl Oracle {
    pub(super) const ALL: [Self; 4] = [Self::Pi73, Self::Pi87, Self::Omp13, Self::Omp18];

    /// The short name that the scripts use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pi73 => "pi73",
            Self::Pi87 => "pi87",
            Self::Omp13 => "omp13",
            Self::Omp18 => "omp18",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Pi73 => "@mariozechner/pi-coding-agent",
            Self::Pi87 => "@earendil-works/pi-coding-agent",
            Self::Omp13 | Self::Omp18 => "@oh-my-pi/pi-coding-agent",
        }
    }
}

/// What a program made of a file.
pub(super) enum Answer {
    Seen(Box<View>),
    /// It reported an error or crashed.
    Refused(String),
    /// It never answered: it had to be killed, or a loop without an end was stopped by what it had eaten.
    Hung,
}

/// What the runtime of a program says when a loop that appends for ever has filled what can be filled. Whether that comes
/// before our patience ends is a matter of how fast the machine is.
const EATEN: [&str; 3] = ["Invalid array length", "Array buffer allocation failed", "Out of memory"];

/// What a program sees in a session file.
pub(super) struct View {
    pub(super) messages: Vec<Digest>,
    pub(super) state: State,
    pub(super) title: Option<String>,
    pub(super) labels: Vec<(String, String)>,
    /// Lines it left behind that are not JSON, when it changed the file.
    pub(super) unparseable: Option<u64>,
}

/// The installed programs.
pub(crate) struct Oracles {
    /// Where the scripts that drive them are.
    pub(crate) scripts: PathBuf,
    installation: PathBuf,
}

impl Oracles {
    /// Finds the programs and installs them when that has not been done yet; the error says why they cannot be used.
    pub(crate) fn find(workspace: &Workspace) -> Result<Self, String> {
        let shared = workspace.shared().ok_or("there is no ../shared with the oracles")?;
        let scripts = shared.join("oracles").join("pi");
        if let Some(missing) = ["node", "npm"].into_iter().find(|program| !workspace::installed(program)) {
            return Err(format!("{missing} is not installed"));
        }
        let installation = match (env::var_os("ORACLE_DIR"), env::var_os("HOME")) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(home)) => Path::new(&home).join(".cache/ramus-oracles/pi"),
            (None, None) => return Err("neither ORACLE_DIR nor HOME is set".to_owned()),
        };
        let oracles = Self { scripts, installation };
        if oracles.complete() {
            return Ok(oracles);
        }
        println!("installing the programs to compare with (about two minutes, once)");
        let mut setup = Command::new(oracles.scripts.join("setup.sh"));
        setup.arg(&oracles.installation).stdout(Stdio::null());
        match process::run(&mut setup) {
            Ok(()) if oracles.complete() => Ok(oracles),
            Ok(()) => Err("the installation of the programs to compare with is incomplete".to_owned()),
            Err(error) => Err(format!("the programs to compare with cannot be installed: {error}")),
        }
    }

    /// Where the programs are.
    pub(super) fn installation(&self) -> &Path {
        &self.installation
    }

    fn complete(&self) -> bool {
        Oracle::ALL.into_iter().all(|oracle| self.version(oracle).is_some())
    }

    fn version(&self, oracle: Oracle) -> Option<String> {
        let modules = self.installation.join("npm").join(oracle.name()).join("node_modules");
        let manifest = fs::read_to_string(modules.join(oracle.package()).join("package.json")).ok()?;
        let manifest: Value = serde_json::from_str(&manifest).ok()?;
        Some(manifest.get("version")?.as_str()?.to_owned())
    }

    /// The program that runs an oracle's scripts.
    pub(super) fn runtime(&self, oracle: Oracle) -> PathBuf {
        let name = if matches!(oracle, Oracle::Pi73 | Oracle::Pi87) { "node" } else { "bun" };
        self.installation.join("npm/tools/node_modules/.bin").join(name)
    }

    /// The module with an oracle's session manager.
    pub(super) fn session_manager(&self, oracle: Oracle) -> PathBuf {
        let package = self.installation.join("npm").join(oracle.name()).join("node_modules").join(oracle.package());
        match oracle {
            Oracle::Pi73 | Oracle::Pi87 => package.join("dist/core/session-manager.js"),
            Oracle::Omp13 | Oracle::Omp18 => package.join("src/session/session-manager.ts"),
        }
    }

    /// A home directory in which the programs find no settings of anybody's.
    pub(super) fn home(&self) -> PathBuf {
        self.installation.join("home")
    }

    /// Names and versions, for a report.
    pub(crate) fn versions(&self) -> String {
        let version = |oracle| self.version(oracle).unwrap_or_default();
        let named = |oracle: Oracle| format!("{} = {} {}", oracle.name(), oracle.package(), version(oracle));
        Oracle::ALL.map(named).join(", ")
    }

    /// Lets a program open `file`, which it may change.
    pub(super) fn dump(&self, oracle: Oracle, file: &Path, limit: Duration) -> Result<Answer> {
        self.ask(oracle, "dump", file, limit)
    }

    /// Lets a program open `file` and append one message to it. The view is that of before the append.
    pub(super) fn append(&self, oracle: Oracle, file: &Path, limit: Duration) -> Result<Answer> {
        self.ask(oracle, "append", file, limit)
    }

    fn ask(&self, oracle: Oracle, verb: &str, file: &Path, limit: Duration) -> Result<Answer> {
        let mut command = Command::new(self.scripts.join("oracle.sh"));
        command.args([oracle.name(), verb]).arg(file).arg("--inplace");
        command.env("ORACLE_DIR", &self.installation).env("FULL", "1").env("COMPACT", "1").env("MEM", "1024");
        let Ended::Itself(output) = process::within(limit, &mut command)? else {
            return Ok(Answer::Hung);
        };
        let Some(line) = output.stdout.lines().rev().find(|line| line.starts_with('{')) else {
            if output.status.code().is_none() {
                return Ok(Answer::Hung);
            }
            let last = output.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Ok(Answer::Refused(format!("crashed ({}): {last}", output.status)));
        };
        let answer = digest::parse(line).with_context(|| format!("{} printed no JSON", oracle.name()))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) if EATEN.contains(&error) => Ok(Answer::Hung),
            Some(error) => Ok(Answer::Refused(error.to_owned())),
            None => Ok(Answer::Seen(Box::new(View::read(&answer).context("unexpected answer of an oracle")?))),
        }
    }
}

impl View {
    fn read(answer: &Value) -> Result<Self> {
        let context = answer.get("context").context("no context")?;
        let messages = context.get("messages").and_then(Value::as_array).context("no messages")?;
        let pairs = answer.get("labels").and_then(Value::as_array).into_iter().flatten();
        let mut labels: Vec<_> = pairs.filter_map(pair).collect();
        labels.sort();
        // An entry that was written again under its id is listed for every time it was written.
        labels.dedup();
        Ok(Self {
            messages: messages.iter().map(Digest::of_oracle).collect(),
            state: State::of_oracle(context),
            title: answer.get("name").and_then(Value::as_str).map(str::to_owned),
            labels,
            unparseable: answer.get("unparseable").and_then(Value::as_u64),
        })
    }
}

fn pair(value: &Value) -> Option<(String, String)> {
    Some((value.get(0)?.as_str()?.to_owned(), value.get(1)?.as_str()?.to_owned()))
}
