//! `append`: entries from JSON lines, as one batch or as they come.

mod afar;
mod lines;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use ramus_engine::{Appended, Cursor, EngineError, Session};
use ramus_model::EntryId;

use crate::failure::{Exit, Failure, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};
use crate::target;
use lines::JsonLines;

const EXAMPLES: &str = "\
Each line is the JSON of one entry: `type` and what belongs to it. `id`, `parentId` and `timestamp` are optional; an \
entry that names no parent hangs from the one before it. Empty lines are passed over.

A batch is written whole or not at all, and every entry is acknowledged with one JSON line when it is on disk. With \
--stream every line is a batch of its own; a wrong line ends the stream, and what was acknowledged stays.

Examples:
  echo '{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}' | ramus append last
  ramus append 0190 entries.jsonl
  agent --json | ramus append 0190 --stream --parent start";

/// Append entries given as JSON lines
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Append {
    /// The session
    session: String,
    /// Where the lines come from; `-` is stdin
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,
    /// Hang the entries from this one; when someone else was faster they become a branch and the leaf stays
    #[arg(long, value_name = "ENTRY", value_parser = target::entry)]
    parent: Option<String>,
    /// Append and acknowledge each line before reading the next
    #[arg(long)]
    stream: bool,
}

impl Append {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.send(invocation, &remote);
        }
        let mut session = invocation.session(&self.session)?;
        let cursor = match &self.parent {
            None => Cursor::Leaf,
            Some(parent) => Cursor::At(session.entry_id(session.resolve(parent)?)),
        };
        if self.file == Path::new("-") && io::stdin().is_terminal() {
            invocation.screen.note(Text::new().plain("reading entries from the terminal; Ctrl-D ends").end())?;
        }
        let mut lines = JsonLines::open(&self.file)?;
        if self.stream {
            stream(invocation, &mut session, cursor, &mut lines)?;
        } else {
            batch(invocation, &mut session, &cursor, &mut lines)?;
        }
        Ok(Exit::Done)
    }
}

fn batch(
    invocation: &mut Invocation<'_>,
    session: &mut Session,
    cursor: &Cursor,
    lines: &mut JsonLines,
) -> anyhow::Result<()> {
    let mut drafts = Vec::new();
    let mut numbers = Vec::new();
    while let Some(line) = lines.next()? {
        drafts.push(line.draft()?);
        numbers.push(line.number);
    }
    let appended = invocation.engine.append(session, &drafts, cursor).map_err(|error| match error {
        // The engine counts entries; empty lines count for whoever looks at the file.
        EngineError::InvalidLine { line, reason } => {
            EngineError::InvalidLine { line: numbers.get(line.saturating_sub(1)).copied().unwrap_or(line), reason }
        }
        other => other,
    })?;
    acknowledge(invocation, &appended)?;
    if appended.is_sibling {
        mention_sibling(invocation, session.leaves().len())?;
    }
    invocation.finish(session)
}

fn stream(
    invocation: &mut Invocation<'_>,
    session: &mut Session,
    mut cursor: Cursor,
    lines: &mut JsonLines,
) -> anyhow::Result<()> {
    let mut told = Vec::new();
    let mut is_sibling = false;
    while let Some(line) = lines.next()? {
        let appended = invocation.engine.append(session, &[line.draft()?], &cursor).map_err(|error| match error {
            EngineError::InvalidLine { reason, .. } => EngineError::InvalidLine { line: line.number, reason },
            other => other,
        })?;
        // A stream runs for hours: what others do to the file meanwhile is told when it happens.
        for notice in session.notices() {
            if !told.contains(&notice) {
                invocation.screen.warn(&notice)?;
                told.push(notice);
            }
        }
        if let Err(error) = acknowledge(invocation, &appended) {
            // Without a reader of acknowledgements the rest must not be written, and that is no success.
            let gone = format!("nobody reads the acknowledgements any more; stopped after line {}", line.number);
            return Err(if Failure::of(&error).is_none() { Refusal::io(gone).into() } else { error });
        }
        // Once is enough, and counting leaves takes a look at the whole session.
        if appended.is_sibling && !std::mem::replace(&mut is_sibling, true) {
            mention_sibling(invocation, session.leaves().len())?;
        }
        if let Cursor::At(at) = &mut cursor {
            follow(session, at, &appended);
        }
    }
    invocation.engine.end_turn(session)?;
    invocation.remember(session.location())
}

/// A cursor goes on with the last entry that others can hang from.
fn follow(session: &Session, at: &mut EntryId, appended: &Appended) {
    let visible = |id: &EntryId| {
        let seq = session.log().seq_of(id.as_str());
        seq.and_then(|seq| session.log().record(seq)).is_some_and(ramus_model::Record::is_visible)
    };
    if let Some(last) = appended.entries.iter().rev().find(|entry| visible(&entry.id)) {
        *at = last.id.clone();
    }
}

fn acknowledge(invocation: &mut Invocation<'_>, appended: &Appended) -> anyhow::Result<()> {
    for written in &appended.entries {
        invocation.screen.json(json::written(written))?;
    }
    invocation.screen.flush()?;
    Ok(())
}

fn mention_sibling(invocation: &mut Invocation<'_>, leaves: usize) -> anyhow::Result<()> {
    let leaves = quantity::count(leaves, "leaf", "leaves");
    invocation.screen.warn(&format!("session has {leaves}; the leaf stayed where it was"))
}
