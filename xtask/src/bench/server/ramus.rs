//! `ramus serve`, as released.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::program::Program;
use crate::bench::http::{self, Connection};
use crate::process;
use crate::workspace::Workspace;

/// Nobody else can ask it anything: it listens to this machine, for a minute.
const TOKEN: &str = "a-token-that-only-this-measurement-uses";

/// How many messages are appended at a time when a session is filled.
const BATCH: usize = 1_000;

/// The released binary and its home.
pub(super) struct Ramus {
    program: PathBuf,
    home: PathBuf,
    project: PathBuf,
}

impl Ramus {
    /// Builds the binary and makes an empty home.
    pub(super) fn new(workspace: &Workspace, directory: &Path) -> Result<Self> {
        process::run(&mut workspace.cargo(["build", "--quiet", "--release", "--package", "ramus", "--bin", "ramus"]))?;
        let (home, project) = (directory.join("ramus"), directory.join("project"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&project)?;
        Ok(Self { program: workspace.target.join("release").join("ramus"), home, project })
    }

    fn ramus(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("RAMUS_HOME", &self.home).env("HOME", "/nonexistent").env("RAMUS_TOKEN", TOKEN);
        command.current_dir(&self.project);
        command
    }

    /// Fills a session with questions and answers.
    pub(super) fn fill(&self, connection: &mut Connection, session: &str, messages: usize) -> Result<()> {
        let entries: Vec<Value> = (0..messages).map(entry).collect();
        for batch in entries.chunks(BATCH) {
            connection.post(&format!("/api/v1/sessions/{session}/entries"), &json!({"entries": batch}).to_string())?;
        }
        Ok(())
    }

    /// Writes a session as a document that opencode takes.
    pub(super) fn export(&self, session: &str, file: &Path) -> Result<()> {
        let mut command = self.ramus();
        command.args(["export", session, "--to", "opencode", "--output"]).arg(file);
        process::stdout(&mut command).map(drop)
    }
}

/// A message of about half a kilobyte; every second one is an answer.
fn entry(number: usize) -> Value {
    let text = format!("message {number}: {}", "the parser keeps what it does not know, byte for byte. ".repeat(8));
    if number.is_multiple_of(2) {
        return json!({"type": "message", "message": {"role": "user", "content": text}});
    }
    let usage = json!({"input": 100, "output": 50, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 150});
    json!({"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": text}],
        "provider": "made-up", "model": "none", "api": "openai-completions", "stopReason": "stop", "usage": usage}})
}

impl Program for Ramus {
    fn command(&self) -> Command {
        let mut command = self.ramus();
        command.args(["serve", "--port", "0", "--json"]);
        command
    }

    fn address(&self, line: &str) -> Option<String> {
        let ready: Value = serde_json::from_str(line).ok()?;
        Some(ready.get("address")?.as_str()?.strip_prefix("http://")?.to_owned())
    }

    fn token(&self) -> Option<&str> {
        Some(TOKEN)
    }

    fn health(&self) -> &'static str {
        "/health"
    }

    fn create(&self, connection: &mut Connection, title: &str) -> Result<String> {
        let made = http::json(&connection.post("/api/v1/sessions", &json!({"title": title}).to_string())?)?;
        let id = made.get("session").and_then(|session| session.get("id")).and_then(Value::as_str);
        Ok(id.context("a session without an id")?.to_owned())
    }

    fn append(&self, connection: &mut Connection, session: &str, text: &str) -> Result<()> {
        let said = json!({"type": "message", "message": {"role": "user", "content": text}});
        let body = json!({"entries": [said]}).to_string();
        connection.post(&format!("/api/v1/sessions/{session}/entries"), &body).map(drop)
    }

    fn list(&self, sessions: usize) -> (String, Option<&'static str>) {
        (format!("/api/v1/sessions?drafts=true&limit={sessions}"), Some("sessions"))
    }

    fn messages(&self, session: &str, messages: usize) -> (String, Option<&'static str>) {
        (format!("/api/v1/sessions/{session}/messages?limit={messages}"), Some("messages"))
    }
}
