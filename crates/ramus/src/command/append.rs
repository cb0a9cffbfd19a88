//! `append`: entries from JSON lines, as one batch or as they come.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ramus_client::Method;
use ramus_engine::{Appended, Cursor, EngineError, Session};
use ramus_model::{Depth, Draft, EntryId, Log, MAX_LINE};
use serde_json::{Map, Value};

use crate::failure::{Exit, Failure, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, json, quantity};

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
    #[arg(long, value_name = "ENTRY")]
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

    /// Sends the lines to a server.
    fn send(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let id = remote.id(&self.session)?;
        let mut lines = JsonLines::open(&self.file)?;
        if !self.stream {
            let mut batch = Vec::new();
            while let Some(line) = lines.next()? {
                line.draft()?;
                batch.push(line);
            }
            let sent = send(remote, &id, self.parent.as_deref(), &batch)?;
            acknowledge_sent(invocation, &sent)?;
            if sent.says("is_sibling") {
                mention_sibling(invocation, remote.describe(&id)?.items("leaves").len())?;
            }
            return Ok(Exit::Done);
        }
        let mut parent = self.parent.clone();
        let mut is_sibling = false;
        while let Some(line) = lines.next()? {
            line.draft()?;
            let sent = send(remote, &id, parent.as_deref(), std::slice::from_ref(&line))?;
            if let Err(error) = acknowledge_sent(invocation, &sent) {
                let gone = format!("nobody reads the acknowledgements any more; stopped after line {}", line.number);
                return Err(if Failure::of(&error).is_none() { Refusal::io(gone).into() } else { error });
            }
            if sent.says("is_sibling") && !std::mem::replace(&mut is_sibling, true) {
                mention_sibling(invocation, remote.describe(&id)?.items("leaves").len())?;
            }
            if let (Some(at), Some(entry)) = (&mut parent, sent.items("entries").last()) {
                // What follows hangs from the last entry that others can hang from.
                let stored = remote.get(&["sessions", &id, "entries", &format!("@{}", entry.word("id"))]);
                if is_visible(&remote.wait(stored.bytes())?) {
                    *at = entry.word("id").to_owned();
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// Sends lines as one batch, byte for byte.
fn send(remote: &Remote, id: &str, parent: Option<&str>, lines: &[JsonLine]) -> anyhow::Result<Map<String, Value>> {
    let mut body = b"{\"entries\":[".to_vec();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(line.bytes.trim_ascii());
    }
    let rest = parent.map(|parent| format!("],\"parent\":{}}}", Value::from(parent)));
    body.extend_from_slice(rest.as_deref().unwrap_or("]}").as_bytes());
    remote.answer(remote.client().ask(Method::POST, &["sessions", id, "entries"]).body(body))
}

fn acknowledge_sent(invocation: &mut Invocation<'_>, sent: &Map<String, Value>) -> anyhow::Result<()> {
    for written in sent.items("entries") {
        invocation.screen.json(json::members(written.clone()))?;
    }
    invocation.screen.flush()
}

fn is_visible(line: &[u8]) -> bool {
    let log = Log::from_bytes(&[line, b"\n"].concat(), Depth::Envelope);
    log.seqs().filter_map(|seq| log.record(seq)).any(ramus_model::Record::is_visible)
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

/// The lines of a file or of stdin.
struct JsonLines {
    from: Box<dyn BufRead>,
    name: String,
    number: usize,
}

/// One line and its number, from 1.
struct JsonLine {
    number: usize,
    bytes: Vec<u8>,
}

impl JsonLines {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
        let from: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(File::open(path).with_context(|| format!("cannot open {name}"))?))
        };
        Ok(Self { from, name, number: 0 })
    }

    /// Returns the next line that is not empty.
    fn next(&mut self) -> anyhow::Result<Option<JsonLine>> {
        loop {
            let mut bytes = Vec::new();
            let limit = MAX_LINE as u64 + 1;
            let read = self.from.by_ref().take(limit).read_until(b'\n', &mut bytes);
            if read.with_context(|| format!("cannot read {}", self.name))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() > MAX_LINE {
                let message = format!("line {}: the line has more than {MAX_LINE} bytes", self.number);
                return Err(Refusal::invalid(message).into());
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(JsonLine { number: self.number, bytes }));
            }
        }
    }
}

impl JsonLine {
    fn draft(&self) -> Result<Draft, EngineError> {
        Draft::parse(self.bytes.trim_ascii())
            .map_err(|error| EngineError::InvalidLine { line: self.number, reason: error.to_string() })
    }
}
