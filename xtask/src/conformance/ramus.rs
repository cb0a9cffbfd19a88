//! The `ramus` binary, driven the way a script would: one process per command, JSON answers, a home of its own.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::digest::{self, Digest, State};
use crate::process::{self, Ended, Output};

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(20);

/// How long a turn may take.
const TURN: Duration = Duration::from_secs(60);

/// A binary and the folder it lives in.
pub(super) struct Ramus {
    binary: PathBuf,
    folder: TempDir,
}

/// What `ramus context` says.
pub(super) struct Context {
    pub(super) messages: Vec<Digest>,
    pub(super) state: State,
}

impl Ramus {
    /// Prepares an empty home.
    pub(super) fn new(binary: PathBuf) -> Result<Self> {
        ensure!(binary.is_file(), "there is no {}", binary.display());
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        fs::create_dir(folder.path().join("project"))?;
        Ok(Self { binary, folder })
    }

    /// The same binary with another empty home.
    pub(super) fn fresh(&self) -> Result<Self> {
        Self::new(self.binary.clone())
    }

    /// A folder for files that are not in the home.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command and returns its answer. An unsuccessful end is an error.
    pub(super) fn json<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<Value> {
        let output = self.call(arguments)?;
        digest::parse(&output.stdout).context("the answer is not JSON")
    }

    /// Runs a command that prints one JSON object per line.
    pub(super) fn json_lines<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<Vec<Value>> {
        let output = self.call(arguments)?;
        output.stdout.lines().map(digest::parse).collect()
    }

    /// The context of the session in `file`.
    pub(super) fn context(&self, file: &Path) -> Result<Context> {
        let file = file.as_os_str();
        let context = self.json([OsStr::new("context"), file, OsStr::new("--dialect"), OsStr::new("v3")])?;
        let messages = context.get("messages").and_then(Value::as_array).context("context without messages")?;
        let messages = messages.iter().map(Digest::of_message).collect();
        Ok(Context { messages, state: State::of_ramus(&context) })
    }

    /// The labels of the session in `file`: entry and name, sorted.
    pub(super) fn labels(&self, file: &Path) -> Result<Vec<(String, String)>> {
        let tree = self.json([OsStr::new("tree"), file.as_os_str(), OsStr::new("--all")])?;
        let entries = tree.get("entries").and_then(Value::as_array).context("tree without entries")?;
        let label = |entry: &Value| Some((text(entry, "id")?, text(entry, "label")?));
        let mut labels: Vec<_> = entries.iter().filter_map(label).collect();
        labels.sort();
        labels.dedup();
        Ok(labels)
    }

    /// Fails unless `doctor` finds nothing wrong with the session in `file`.
    pub(super) fn healthy(&self, file: &Path) -> Result<()> {
        let report = self.json([OsStr::new("doctor"), file.as_os_str()]).context("doctor")?;
        let findings = report.get("findings").cloned().unwrap_or_default();
        ensure!(report.get("status").is_some_and(|status| status == "clean"), "doctor finds {findings}");
        Ok(())
    }

    /// Runs a turn in this environment and returns its events, however it ends.
    pub(super) fn events<'e>(
        &self,
        arguments: impl IntoIterator<Item = &'e str>,
        environment: &[(&str, &str)],
    ) -> Result<Vec<Value>> {
        let mut command = self.command();
        command.args(arguments).arg("--json").envs(environment.iter().copied());
        let Ended::Itself(output) = process::within(TURN, &mut command)? else {
            bail!("the turn hangs");
        };
        let events: Result<Vec<Value>> = output.stdout.lines().map(digest::parse).collect();
        events.with_context(|| output.stderr.trim().to_owned())
    }

    /// A command in the home and the project of this run.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("--home").arg(self.folder.path().join("home"));
        command.current_dir(self.folder.path().join("project"));
        command
    }

    fn call<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<Output> {
        let arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let verb = arguments.first().map(|verb| verb.to_string_lossy().into_owned()).unwrap_or_default();
        let mut command = self.command();
        command.args(&arguments).arg("--json");
        let Ended::Itself(output) = process::within(LIMIT, &mut command)? else {
            bail!("ramus {verb} hangs");
        };
        let complaint = output.stderr.trim();
        ensure!(output.status.success(), "ramus {verb} failed ({}): {complaint}", output.status);
        Ok(output)
    }
}

/// A conversation that a scenario holds through the command line.
pub(super) struct Talk<'a> {
    ramus: &'a Ramus,
    /// What names the session: its id, or the path of a file opened in place.
    session: String,
}

impl<'a> Talk<'a> {
    /// Starts a new session.
    pub(super) fn start(ramus: &'a Ramus) -> Result<Self> {
        let project = ramus.folder().join("project").display().to_string();
        let answer = ramus.json(["new", "--cwd", &project])?;
        Self::named(ramus, &answer)
    }

    /// Goes on in a file where it is.
    pub(super) fn in_file(ramus: &'a Ramus, file: &Path) -> Self {
        Self { ramus, session: file.display().to_string() }
    }

    fn named(ramus: &'a Ramus, answer: &Value) -> Result<Self> {
        let session = answer.pointer("/session/id").and_then(Value::as_str).context("no session id")?;
        Ok(Self { ramus, session: session.to_owned() })
    }

    /// Says something in `role` and returns the entry's id.
    fn say(&self, role: &str, words: &str) -> Result<String> {
        id(&self.ramus.json(["say", &self.session, words, "--role", role])?)
    }

    pub(super) fn user(&self, words: &str) -> Result<String> {
        self.say("user", words)
    }

    pub(super) fn assistant(&self, words: &str) -> Result<String> {
        self.say("assistant", words)
    }

    /// Appends one batch of bodies, each a line of JSON, and returns their ids.
    pub(super) fn append(&self, bodies: &[String]) -> Result<Vec<String>> {
        let file = self.ramus.folder().join("batch.jsonl");
        fs::write(&file, bodies.join("\n") + "\n")?;
        let lines = self.ramus.json_lines(["append", &self.session, &file.display().to_string()])?;
        lines.iter().map(id).collect()
    }

    /// Appends bodies one after the other in one process and returns their ids.
    pub(super) fn stream(&self, bodies: &[String]) -> Result<Vec<String>> {
        let file = self.ramus.folder().join("stream.jsonl");
        fs::write(&file, bodies.join("\n") + "\n")?;
        let lines = self.ramus.json_lines(["append", &self.session, &file.display().to_string(), "--stream"])?;
        lines.iter().map(id).collect()
    }

    /// Runs `verb` on this session.
    pub(super) fn on_session(&self, verb: &str, rest: &[&str]) -> Result<Value> {
        self.ramus.json([&[verb, self.session.as_str()], rest].concat())
    }

    /// Runs `verb` on an entry of this session.
    pub(super) fn on_entry(&self, verb: &str, entry: &str, rest: &[&str]) -> Result<Value> {
        let target = format!("{}@{entry}", self.session);
        self.ramus.json([&[verb, target.as_str()], rest].concat())
    }

    /// Starts a new session from an entry of this one.
    pub(super) fn fork(&self, entry: &str) -> Result<Talk<'a>> {
        Self::named(self.ramus, &self.on_entry("fork", entry, &[])?)
    }

    /// Writes the session as a file of its own that other programs can open.
    pub(super) fn export(&self, name: &str) -> Result<PathBuf> {
        let file = self.ramus.folder().join(name).with_extension("jsonl");
        let path = file.display().to_string();
        let target = ["export", &self.session, "--to", "pi", "-o", &path];
        self.ramus.call(target)?;
        Ok(file)
    }

    /// Where the session's file is now; publishing moves it.
    pub(super) fn file(&self) -> Result<PathBuf> {
        let answer = self.on_session("show", &[])?;
        let path = answer.pointer("/session/path").and_then(Value::as_str).context("show without a path")?;
        Ok(path.into())
    }
}

fn id(answer: &Value) -> Result<String> {
    text(answer, "id").context("an append without an id")
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
