//! Files that real agents wrote some time ago, carried over and resumed by the agents of today: `cargo xtask zoo --fixtures`.
//!
//! What is judged: the agent takes the file that we wrote, and tells its model what we say the session is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ramus_interchange::place::Kind;
use ramus_interchange::{JsonlSession, Report};
use serde_json::json;

use super::agent::Agent;
use super::carried::{self, Carried};
use super::history::Item;
use super::install::Installation;
use super::stage::Stage;
use super::store::Stored;
use super::{RESUMED, judge};

/// A file of an agent.
pub(crate) struct Fixture {
    pub(crate) agent: Agent,
    pub(crate) case: String,
    pub(crate) stored: Stored,
}

/// The files of agents below the folder with what is shared.
pub(crate) fn find(shared: &Path) -> Result<Vec<Fixture>> {
    let fixtures = shared.join("fixtures");
    let mut found = Vec::new();
    let rollouts = rollouts(&fixtures);
    for (agent, folder) in [
        (Agent::Claude, "agents/claude-code"),
        (Agent::Codex, "agents/codex"),
        (Agent::Gemini, "agents/gemini-cli"),
        (Agent::Opencode, "agents/opencode"),
        (Agent::Opencode, "opencode"),
        (Agent::Pi, "agents/pi"),
        (Agent::Goose, "agents/goose"),
    ] {
        for path in files(&fixtures.join(folder)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(kind) = kind(agent, &path, &name) else { continue };
            let mut stored = Stored::file(&path, kind)?.with_rollouts(&rollouts);
            for child in files(&path.with_extension("").join("subagents")).iter().filter(|path| is(path, "jsonl")) {
                stored = stored.with_child(child);
            }
            let case = path.strip_prefix(&fixtures).unwrap_or(&path).to_string_lossy().into_owned();
            found.push(Fixture { agent, case, stored });
        }
    }
    Ok(found)
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// How a file is read; none when it is no session, or belongs to another file.
fn kind(agent: Agent, path: &Path, name: &str) -> Option<Kind> {
    let is_session = match agent {
        Agent::Codex => name.starts_with("rollout-"),
        Agent::Opencode if is(path, "json") => name.starts_with("export") || name.starts_with("minimal"),
        Agent::Gemini => name.starts_with("session-"),
        Agent::Claude => !path.components().any(|part| part.as_os_str() == "subagents"),
        _ => true,
    };
    match path.extension()?.to_str()? {
        "jsonl" if is_session => Some(Kind::Lines),
        "json" if is_session && matches!(agent, Agent::Opencode | Agent::Goose) => Some(Kind::Document),
        "db" => Some(Kind::Database),
        _ => None,
    }
}

fn rollouts(fixtures: &Path) -> BTreeMap<String, PathBuf> {
    let named = |path: PathBuf| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        Some((stem.get(stem.len().checked_sub(36)?..)?.to_owned(), path))
    };
    files(&fixtures.join("agents/codex")).into_iter().filter(|path| is(path, "jsonl")).filter_map(named).collect()
}

/// The files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Lets the agents resume the files, and prints a line of JSON for each judgement.
pub(super) fn run(installation: &Installation, shared: &Path, folder: &Path) -> Result<()> {
    let mut number = 0;
    for fixture in find(shared)? {
        let (sessions, report) = fixture.stored.read(fixture.agent.format())?;
        for session in sessions.sessions.iter().filter(|session| session.start.parent.is_none()) {
            if carried::items(&session.bytes)?.is_empty() {
                // Agents begin files in which nothing is said, and do not resume them either.
                continue;
            }
            number += 1;
            let judged = resumed(&fixture, session, &report, installation, &folder.join(number.to_string()), number);
            let (ok, detail) = match judged {
                Ok(detail) => (true, detail),
                Err(error) => (false, format!("{error:#}")),
            };
            let case = match sessions.sessions.len() {
                1 => fixture.case.clone(),
                _ => format!("{} {}", fixture.case, session.start.id),
            };
            println!("{}", json!({"case": case, "program": fixture.agent.name(), "ok": ok, "detail": detail}));
        }
    }
    Ok(())
}

fn resumed(
    fixture: &Fixture,
    session: &JsonlSession,
    report: &Report,
    installation: &Installation,
    folder: &Path,
    number: u32,
) -> Result<String> {
    let stage = Stage::new(fixture.agent, installation, folder)?;
    let carried = Carried { log: session.bytes.clone(), records: report.records, sessions: report.sessions };
    let mut wanted = carried::items(&carried.log)?;
    let said = wanted.len();
    wanted.push(Item::User(RESUMED.prompt.to_owned()));
    let id = format!("0194f0c0-1000-7000-8000-{number:012x}");
    let mut sent = carried.resumed_by(&stage, folder, &id).context("it does not resume")?;
    if let Some(summary) = carried::summary(&carried.log)? {
        wanted = judge::beside_summary(&summary, &wanted).context("the summary is not there")?;
        sent = judge::beside_summary(&summary, &sent).context("the summary was not sent")?;
    }
    match judge::difference(&judge::lines(&wanted), &judge::lines(&sent)) {
        Some(difference) => bail!("{difference}"),
        None => Ok(format!("resumed, {said} words, calls and results")),
    }
}
