//! `bash`: a command line, judged by the programs it would run, and run in a group of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ramus_model::request::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, Work, arguments, define};
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::process::{Ending, Finished, Job, run};
use crate::sandbox::{Sandbox, Status};
use crate::shell;
use crate::workspace::Workspace;

/// How commands run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The environment, without secrets: see [`without_secrets`].
    pub environment: Vec<(OsString, OsString)>,
    /// How long a command may take when it does not say.
    pub timeout: Duration,
    /// How long a command may take at most.
    pub longest: Duration,
    /// How much of the output is shown, in bytes.
    pub shown: usize,
    /// How much of the output is kept, in bytes.
    pub kept: u64,
    /// Where long output is kept while the command runs.
    pub spill: PathBuf,
    /// How commands are put in bounds, if they are.
    pub sandbox: Option<Sandbox>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            environment: Vec::new(),
            timeout: Duration::from_secs(120),
            longest: Duration::from_secs(600),
            shown: 32 << 10,
            kept: 1 << 30,
            spill: PathBuf::from("/tmp"),
            sandbox: None,
        }
    }
}

impl Settings {
    /// Says whether commands will run in bounds.
    pub fn status(&self) -> Status {
        if self.sandbox.is_some() { Sandbox::status() } else { Status::Off }
    }
}

/// Runs commands.
#[derive(Clone, Debug)]
pub struct Bash {
    /// Where they run.
    pub workspace: Arc<Workspace>,
    /// How they run.
    pub settings: Arc<Settings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout: Option<u64>,
}

impl Tool for Bash {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "command": {"type": "string", "description": "The command line"},
            "timeout": {"type": "integer", "minimum": 1, "description": "Seconds it may take"},
        });
        let description = "Runs a command line in the workspace. What it leaves in the background is ended with it.";
        define("bash", description, properties, &["command"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { command, timeout } = arguments(value)?;
        let questions = shell::read(&command).questions(&command);
        let timeout = timeout.map_or(self.settings.timeout, Duration::from_secs).min(self.settings.longest);
        let this = self.clone();
        let work: Work = Box::new(move |cancel| Box::pin(async move { this.run(command, timeout, cancel).await }));
        Ok(Plan::of(questions, Effect::Changes, work))
    }
}

impl Bash {
    async fn run(&self, command: String, timeout: Duration, cancel: Cancel) -> Outcome {
        if cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        let settings = &self.settings;
        let status = settings.status();
        let mut words: Vec<OsString> =
            vec!["/bin/bash".into(), "--noprofile".into(), "--norc".into(), "-c".into(), command.into()];
        let mut submits = false;
        if let (Some(sandbox), Status::Enforced) = (&settings.sandbox, &status) {
            submits = true;
            words = match sandbox.wrap(words) {
                Ok(words) => words,
                Err(error) => return Outcome::failed(error.to_string()),
            };
        }
        let job = Job {
            words,
            directory: self.workspace.path().to_owned(),
            environment: settings.environment.clone(),
            timeout,
            shown: settings.shown,
            kept: settings.kept,
            spill: settings.spill.clone(),
            submits,
        };
        match run(&job, &cancel).await {
            Ok(finished) => report(finished, timeout, &status),
            Err(error) => Outcome::failed(format!("the command could not be run: {error}")),
        }
    }
}

fn report(finished: Finished, timeout: Duration, status: &Status) -> Outcome {
    let Finished { ending, output, left_behind, reach } = finished;
    let mut notes = Vec::new();
    let (code, is_error) = match ending {
        Ending::Exited(exit) if exit.success() => (exit.code(), false),
        Ending::Exited(exit) => {
            notes.push(exit.to_string());
            (exit.code(), true)
        }
        Ending::TimedOut => {
            notes.push(format!("ended after {} s, which is the limit", timeout.as_secs_f32()));
            (None, true)
        }
        Ending::Cancelled => {
            notes.push("cancelled; it may have taken effect in part".to_owned());
            (None, true)
        }
    };
    if left_behind > 0 {
        notes.push(format!("{left_behind} processes in the background were ended"));
    }
    if let Status::Unavailable(_) = status {
        notes.push(status.describe());
    }
    let mut text = output.text();
    if text.is_empty() && notes.is_empty() {
        text.push_str("(no output)");
    }
    if !notes.is_empty() {
        text.push_str(&format!("{}[{}]", if text.is_empty() { "" } else { "\n" }, notes.join("; ")));
    }
    let details = json!({
        "exitCode": code, "bytes": output.total, "leftBehind": left_behind, "sandbox": status.describe(),
        "timedOut": ending == Ending::TimedOut,
    });
    let is_cancelled = ending == Ending::Cancelled;
    Outcome { is_error, is_cancelled, spill: output.spill, reach, ..Outcome::text(text) }.with_details(details)
}

/// Leaves out variables that hold credentials, by their names.
pub fn without_secrets(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let parts =
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE"];
    let secret = |name: &OsString| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        parts.iter().any(|part| name.contains(part)) || name.ends_with("_PAT") || name.ends_with("_DSN")
    };
    variables.into_iter().filter(|(name, _)| !secret(name)).collect()
}
