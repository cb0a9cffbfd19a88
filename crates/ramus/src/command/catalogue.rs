//! `catalogue`: the database that lists are made from. It is derived: nothing is lost with it.

use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};

const EXAMPLES: &str = "\
The catalogue saves reading every session for every list. It is brought up to date whenever it is asked, and made anew \
when it is missing or damaged; deleting it costs time and nothing else.

Examples:
  ramus catalogue status
  ramus catalogue rebuild";

/// Look after the database that lists are made from
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Catalogue {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read every session and make it anew
    Rebuild,
    /// Say how it is
    Status,
    /// Print where it is
    Path,
}

impl Catalogue {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match self.action {
            Action::Rebuild => rebuild(invocation)?,
            Action::Status => status(invocation)?,
            Action::Path => path(invocation)?,
        }
        Ok(Exit::Done)
    }
}

fn rebuild(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    let started = Instant::now();
    let files = invocation.engine.rebuild_catalogue()?;
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    if invocation.screen.wants_json() {
        let path = invocation.engine.catalogue_path();
        return invocation.screen.json(json::members(json!({"catalogue": {
            "path": path, "files": files, "milliseconds": millis,
        }})));
    }
    let mut text = Text::new();
    text.plain(&format!("read {} in {:.1} s", quantity::count(files, "log", "logs"), millis as f64 / 1000.0)).end();
    invocation.screen.text(&text)
}

fn status(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    let status = invocation.engine.catalogue_status()?;
    if invocation.screen.wants_json() {
        let (major, minor, patch) = ramus_catalogue::sqlite_version();
        return invocation.screen.json(json::members(json!({"catalogue": {
            "path": status.path,
            "exists": status.bytes.is_some(),
            "bytes": status.bytes,
            "files": status.files,
            "known": status.rows,
            "stale": status.stale,
            "sqlite": format!("{major}.{minor}.{patch}"),
        }})));
    }
    let mut text = Text::new();
    let logs = quantity::count(status.files, "log", "logs");
    match status.bytes {
        None => text.plain(&format!("there is none yet; the next list reads {logs}")).end(),
        Some(_) if status.stale == 0 => text.plain(&format!("it knows {logs} and is up to date")).end(),
        Some(_) => {
            let stale = quantity::grouped(status.stale as u64);
            text.plain(&format!("it knows {} of {logs}; the next list looks at {stale}", status.rows)).end()
        }
    };
    invocation.screen.text(&text)
}

fn path(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    let path = invocation.engine.catalogue_path();
    if invocation.screen.wants_json() {
        return invocation.screen.json(json::members(json!({"path": path})));
    }
    let mut text = Text::new();
    text.plain(&path.unwrap_or_default().display().to_string()).end();
    invocation.screen.text(&text)
}
