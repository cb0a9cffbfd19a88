//! The judge of a session whose turns were killed: it reads the file of the session without ramus.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ramus_engine::{Engine, NewSession};
use ramus_store::{JsonlStore, Layout};
use serde_json::Value;
use tempfile::TempDir;

use super::player::Seen;
use crate::model_server::{Format, ModelServer};

/// A session in a home and a project of its own, and the way its model is asked.
pub(super) struct Scene {
    pub(super) session: String,
    ramus: PathBuf,
    format: Format,
    folder: TempDir,
}

impl Scene {
    pub(super) fn new(ramus: &Path, format: Format) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        for name in ["project", "user"] {
            fs::create_dir(folder.path().join(name))?;
        }
        let cwd = folder.path().canonicalize()?.join("project").display().to_string();
        let store = JsonlStore::new(folder.path().join("home"), Layout::Pi);
        let engine = Engine::new(Arc::new(store), "torture");
        let session = engine.create(NewSession { cwd, ..NewSession::default() })?.id().to_string();
        Ok(Self { session, ramus: ramus.to_owned(), format, folder })
    }

    pub(super) fn model(&self) -> &'static str {
        match self.format {
            Format::Chat => "openai/gpt-5",
            Format::Responses => "openai-responses/gpt-5",
            Format::Anthropic => "anthropic/claude-sonnet-5",
            Format::Gemini => "gemini/gemini-2.5-pro",
        }
    }

    /// A command that sees nothing of the machine but where programs are.
    pub(super) fn command(&self, server: &ModelServer) -> Command {
        let mut command = Command::new(&self.ramus);
        let url = match self.format {
            Format::Gemini => format!("http://{}", server.address()),
            format => server.base_url(format),
        };
        let name = match self.format {
            Format::Chat | Format::Responses => "OPENAI",
            Format::Anthropic => "ANTHROPIC",
            Format::Gemini => "GEMINI",
        };
        command.current_dir(self.folder.path().join("project")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.folder.path().join("user"));
        command.env("RAMUS_HOME", self.folder.path().join("home"));
        command.env(format!("{name}_BASE_URL"), url).env(format!("{name}_API_KEY"), "k");
        command
    }

    /// The effects that calls had.
    pub(super) fn effects(&self) -> Result<Vec<String>> {
        match fs::read_to_string(self.folder.path().join("project/effects.txt")) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).context("cannot read the effects"),
        }
    }

    /// Checks everything but what was shown, and returns the entries.
    pub(super) fn check(&self, seen: &Seen, went_on: &Seen) -> Result<Vec<Value>> {
        let entries = self.entries()?;
        let ids: BTreeSet<&str> =
            entries.iter().filter_map(|entry| entry.pointer("/id").and_then(Value::as_str)).collect();
        for told in seen.entries().into_iter().chain(went_on.entries()) {
            ensure!(ids.contains(told), "entry {told} was told of and is not there");
        }
        let effects = self.effects()?;
        let once: BTreeSet<&String> = effects.iter().collect();
        ensure!(once.len() == effects.len(), "an effect was had twice: {effects:?}");
        check_calls(&entries, &effects)?;
        let words = words(&entries);
        let once: BTreeSet<&String> = words.iter().collect();
        ensure!(once.len() == words.len(), "something was said twice");
        Ok(entries)
    }

    /// Checks that what was shown longer than `grace` before the end is there.
    pub(super) fn remembers(&self, entries: &[Value], seen: &Seen, grace: Duration) -> Result<()> {
        let moment = seen.until.checked_sub(grace).context("a moment before time began")?;
        let there: BTreeSet<String> = words(entries).into_iter().collect();
        let lost: Vec<_> = seen.words(moment).into_iter().filter(|word| !there.contains(word)).collect();
        ensure!(lost.is_empty(), "shown and lost: {lost:?}");
        Ok(())
    }

    fn entries(&self) -> Result<Vec<Value>> {
        let store = JsonlStore::new(self.folder.path().join("home"), Layout::Pi);
        let session = Engine::new(Arc::new(store), "torture").open(&self.session, "/")?;
        let path = session.location().path.clone().context("a session without a file")?;
        let text = fs::read_to_string(path)?;
        let lines = text.lines().skip(1).map(|line| serde_json::from_str(line).context("a line that is no entry"));
        lines.collect()
    }
}

/// Every call has exactly one result, and one that did its work had its effect.
fn check_calls(entries: &[Value], effects: &[String]) -> Result<()> {
    let parts =
        |entry: &Value| entry.pointer("/message/content").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut results: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for entry in
        entries.iter().filter(|entry| entry.pointer("/message/role").is_some_and(|value| value == "toolResult"))
    {
        let call = entry.pointer("/message/toolCallId").and_then(Value::as_str).context("a result without a call")?;
        let is_error = entry
            .pointer("/message/isError")
            .and_then(Value::as_bool)
            .context("a result that does not say how it ended")?;
        results.entry(call.to_owned()).or_default().push(is_error);
    }
    for part in
        entries.iter().flat_map(parts).filter(|part| part.pointer("/type").is_some_and(|value| value == "toolCall"))
    {
        let id = part.pointer("/id").and_then(Value::as_str).context("a call without an id")?;
        let results = results.remove(id).unwrap_or_default();
        ensure!(results.len() == 1, "call {id} has {} results", results.len());
        let command = part.pointer("/arguments/command").and_then(Value::as_str).context("a call without a command")?;
        let effect = command
            .split_whitespace()
            .skip_while(|word| *word != "echo")
            .nth(1)
            .context("a command without an effect")?;
        let had = effects.iter().any(|line| line == effect);
        ensure!(had || results.first() == Some(&true), "call {id} is said to have worked, and had no effect");
    }
    ensure!(results.is_empty(), "results without calls: {results:?}");
    Ok(())
}

/// The words of all answers.
fn words(entries: &[Value]) -> Vec<String> {
    let answers =
        entries.iter().filter(|entry| entry.pointer("/message/role").is_some_and(|value| value == "assistant"));
    let texts = answers.map(|entry| {
        let parts = entry.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        parts.iter().filter_map(|part| part.pointer("/text").and_then(Value::as_str)).collect::<String>()
    });
    texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
