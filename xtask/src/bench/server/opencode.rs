//! `opencode serve`, as published.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::program::Program;
use crate::bench::http::{self, Connection};
use crate::bench::opencode::Opencode;
use crate::process;

/// The installed program and where it keeps things.
pub(super) struct Theirs {
    program: Opencode,
    folder: PathBuf,
}

impl Theirs {
    /// Makes an empty store.
    pub(super) fn new(program: Opencode, directory: &Path) -> Result<Self> {
        let folder = directory.join("opencode");
        program.prepare(&folder)?;
        Ok(Self { program, folder })
    }

    /// Takes a session from a document; returns what it is called.
    pub(super) fn import(&self, file: &Path) -> Result<String> {
        let said = process::stdout(self.program.command(&self.folder).arg("import").arg(file))?;
        let id =
            said.lines().find_map(|line| line.split_once("Imported session: ")).map(|(_, id)| id.trim().to_owned());
        id.context("opencode did not say what the session is called")
    }
}

impl Program for Theirs {
    fn command(&self) -> Command {
        self.program.serving(&self.folder)
    }

    fn address(&self, line: &str) -> Option<String> {
        Opencode::address(line)
    }

    fn health(&self) -> &'static str {
        "/global/health"
    }

    fn create(&self, connection: &mut Connection, title: &str) -> Result<String> {
        let made = http::json(&connection.post("/session", &json!({"title": title}).to_string())?)?;
        Ok(made.get("id").and_then(Value::as_str).context("a session without an id")?.to_owned())
    }

    fn append(&self, connection: &mut Connection, session: &str, text: &str) -> Result<()> {
        let body = json!({"noReply": true, "parts": [{"type": "text", "text": text}]}).to_string();
        connection.post(&format!("/session/{session}/message"), &body).map(drop)
    }

    fn list(&self, sessions: usize) -> (String, Option<&'static str>) {
        (format!("/session?limit={sessions}"), None)
    }

    fn messages(&self, session: &str, _: usize) -> (String, Option<&'static str>) {
        (format!("/session/{session}/message"), None)
    }
}
