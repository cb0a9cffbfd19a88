//! `log`: what was done to a session, when, and through which surface.

use clap::Args;
use ramus_engine::{Performed, Session};
use serde_json::{Value, json};

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::preview::Preview;
use crate::render::{Text, clean, glyphs, json, style};

const EXAMPLES: &str = "\
Newest first. With --all, also what was done to the sessions that were forked from it or that it spawned, and theirs. An \
operation is everything that one command, turn or program did at once; `undo` takes back one at a time. \
What other programs appended has no client.

Examples:
  ramus log last
  ramus log last --all
  ramus log last --limit 5 --json | jq -r '.operations[].op'";

/// How many operations are listed when nobody says.
const AT_ONCE: usize = 50;

/// List what was done to a session, newest first
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Log {
    /// The session
    session: String,
    /// List at most so many
    #[arg(long, value_name = "N", value_parser = how_many, default_value_t = AT_ONCE)]
    limit: usize,
    /// Go on behind this operation
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// List what was done to its forks and children too
    #[arg(long, visible_alias = "audit", conflicts_with = "cursor")]
    all: bool,
}

impl Log {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let session = invocation.session(&self.session)?;
        if self.all {
            return self.audit(invocation, &session);
        }
        let page = session.operations(Some(self.limit), self.cursor.as_deref())?;
        if invocation.screen.wants_json() {
            let operations =
                page.operations.iter().map(|done| to_json(&session, done)).collect::<anyhow::Result<Vec<_>>>()?;
            let answer = json!({
                "session": session.id().as_str(), "operations": operations, "next_cursor": page.next_cursor,
            });
            invocation.screen.json(json::members(answer))?;
        } else {
            let mut text = Text::new();
            for done in &page.operations {
                line(&mut text, &session, done, invocation.screen.width())?;
            }
            invocation.screen.text(&text)?;
            if page.next_cursor.is_some() {
                let mut more = Text::new();
                invocation.screen.note(more.styled(style::DIM, "there is more; --limit lists more of it").end())?;
            }
        }
        invocation.mention_damage(session.log(), &self.session)?;
        Ok(Exit::Done)
    }

    /// Lists what was done to a session and to those that come from it.
    fn audit(&self, invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<Exit> {
        let audited = invocation.engine.audit(session)?;
        let (mut text, mut told) = (Text::new(), Vec::new());
        for (session, done) in audited.newest(self.limit) {
            if invocation.screen.wants_json() {
                let mut operation = json::members(to_json(session, done)?);
                operation.insert("session".into(), session.id().as_str().into());
                told.push(Value::Object(operation));
            } else {
                text.styled(style::ID, session.id().as_str()).spaces(2);
                line(&mut text, session, done, invocation.screen.width())?;
            }
        }
        if invocation.screen.wants_json() {
            let sessions: Vec<&str> = audited.sessions.iter().map(|session| session.id().as_str()).collect();
            let answer = json!({"session": session.id().as_str(), "sessions": sessions, "operations": told});
            invocation.screen.json(json::members(answer))?;
        } else {
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// One operation, as programs are told.
pub(crate) fn to_json(session: &Session, done: &Performed) -> anyhow::Result<Value> {
    let entries: Vec<Value> = done
        .entries
        .iter()
        .zip(&done.operation.entries)
        .map(|(id, seq)| json!({"id": id.as_str(), "seq": seq.number()}))
        .collect();
    Ok(json!({
        "id": done.operation.id,
        "op": done.operation.name,
        "client": done.operation.client,
        "time": done.operation.time,
        "entries": entries,
        "takes_back": done.operation.takes_back,
        "undone": done.is_undone,
        "about": about(session, done, 200)?,
    }))
}

fn line(text: &mut Text, session: &Session, done: &Performed, width: usize) -> anyhow::Result<()> {
    let operation = &done.operation;
    text.styled(style::DIM, &clean::one_line(operation.time.get(..19).unwrap_or(&operation.time))).spaces(2);
    text.padded(style::BOLD, &clean::one_line(&operation.name), 16);
    text.padded(style::DIM, &clean::one_line(operation.client.as_deref().unwrap_or("-")), 8);
    if done.is_undone {
        text.styled(style::DIM, "(undone) ");
    }
    text.cut(style::NONE, &about(session, done, width)?, width).end();
    Ok(())
}

/// What an operation was about: the first of its entries that says something.
fn about(session: &Session, done: &Performed, limit: usize) -> anyhow::Result<String> {
    let log = session.log();
    for seq in &done.operation.entries {
        let Some(record) = log.record(*seq) else { continue };
        let preview = Preview::of_entry(&session.line(*seq)?, record, limit, &glyphs::of_terminal().signs());
        if !preview.text.is_empty() {
            return Ok(preview.text);
        }
    }
    Ok(String::new())
}
