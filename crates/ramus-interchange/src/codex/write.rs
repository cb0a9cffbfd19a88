//! Writing: entries into a rollout that Codex resumes.

mod item;
mod used;

use std::io::Write;

use ramus_model::json::{Raw, quote};

use self::used::Used;
use super::{AGENT, VERSION, thread_uuid};
use crate::arrange::arranged;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::{readable, restore, with_members};
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{Step, What, plain};
use crate::surrogates;

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut writer = Writer {
        out,
        start,
        thread: thread_uuid(&start.id),
        ordinal: None,
        unread: 0,
        begun: false,
        last: None,
        model: None,
        used: Used::default(),
        losses: Losses::default(),
    };
    arranged(passage, AGENT, &mut |step| writer.step(step))?;
    writer.begin()?;
    Ok(writer.losses.finish())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    start: &'w Start,
    thread: String,
    /// The number of the next line, when lines have numbers.
    ordinal: Option<u64>,
    /// How many lines before the next one were no records.
    unread: u64,
    begun: bool,
    /// The entry of the conversation that was written last.
    last: Option<String>,
    /// The model that answers, as far as the thread says.
    model: Option<String>,
    used: Used,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        if let Some(records) = restore(step.raw, AGENT) {
            records.iter().try_for_each(|record| self.restored(record))?;
        } else {
            self.begin()?;
            self.fresh(step)?;
        }
        self.follow(step);
        Ok(())
    }

    /// Notices branches, which a rollout does not have.
    fn follow(&mut self, step: &Step<'_>) {
        let said = matches!(step.what, What::User(_) | What::Answer(_) | What::Result(_) | What::Compaction { .. });
        if !said {
            return;
        }
        let own = restore(step.raw, AGENT).is_some();
        if !own && self.last.is_some() && step.parent.is_none() {
            self.losses.lose("another root: a rollout is one path, and its messages follow the others");
        }
        self.last = Some(step.id.clone().into_owned());
    }

    /// Writes a line as it was, in this thread. What names the files it was spread over goes: this one stands alone.
    fn restored(&mut self, record: &[u8]) -> Result<(), Error> {
        let read = readable(record).unwrap_or_default();
        let Some(line) = Raw::parse(&read).and_then(Raw::object) else {
            // Codex passes over what it cannot read. Whether it had a number the next line says.
            self.unread += 1;
            self.out.write_all(record)?;
            self.out.write_all(b"\n")?;
            self.losses.record(true);
            return Ok(());
        };
        let payload = line.field("payload");
        let is_meta = line.text("type").as_deref() == Some("session_meta");
        let is_bare = line.field("type").is_none() && line.field("id").is_some() && line.field("timestamp").is_some();
        if (is_meta || is_bare) && !self.begun {
            self.begun = true;
            self.ordinal = line.field("ordinal").map(|_| 0);
        } else {
            self.begin()?;
        }
        if let (Some(kind), Some(payload)) = (line.text("type"), payload.and_then(Raw::object)) {
            self.notice(&kind, &payload);
        }
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        if let Some(payload) = payload.filter(|_| is_meta)
            && let Some(payload) = self.meta(payload)
        {
            changes.push(("payload", Some(payload)));
        }
        let unread = std::mem::take(&mut self.unread);
        if let (Some(ordinal), Some(found)) = (self.ordinal, line.field("ordinal").and_then(Raw::unsigned))
            && (ordinal..=ordinal.saturating_add(unread)).contains(&found)
        {
            self.ordinal = Some(found);
        }
        if let Some(ordinal) = self.ordinal
            && line.field("ordinal").is_some_and(|found| found.unsigned() != Some(ordinal))
        {
            changes.push(("ordinal", Some(ordinal.to_string().into_bytes())));
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        let changed = if changes.is_empty() { None } else { with_members(&read, &changes) };
        self.line(changed.as_deref().unwrap_or(record), true)
    }

    /// The description of the thread with another id and directory; none when nothing changes.
    fn meta(&self, payload: Raw<'_>) -> Option<Vec<u8>> {
        let object = payload.object()?;
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in [("id", &self.thread), ("session_id", &self.thread), ("cwd", &self.start.cwd)] {
            if object.text(name).is_some_and(|found| found != value.as_str()) && !value.is_empty() {
                changes.push((name, Some(quoted(value))));
            }
        }
        for name in ["history_base", "forked_from_ordinal_exclusive", "subagent_history_start_ordinal"] {
            if object.field(name).is_some() {
                changes.push((name, None));
            }
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        if changes.is_empty() { None } else { with_members(payload.bytes(), &changes) }
    }

    fn line(&mut self, line: &[u8], original: bool) -> Result<(), Error> {
        self.ordinal = self.ordinal.map(|ordinal| ordinal + 1);
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.losses.record(original);
        Ok(())
    }

    /// Writes the first line, once.
    fn begin(&mut self) -> Result<(), Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let created = self.start.created.clone();
        let mut composer = line("session_meta", &created, None);
        composer.object("payload", |payload| {
            payload.text("id", &self.thread);
            payload.text("timestamp", &created);
            payload.text("cwd", &self.start.cwd);
            payload.text("originator", "codex_cli_rs");
            payload.text("cli_version", VERSION);
            payload.text("source", "cli");
        });
        self.composed(composer)
    }

    fn composed(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        let mut line = b"{".to_vec();
        line.extend(composer.finish().0);
        line.push(b'}');
        surrogates::replace(&mut line, &mut self.losses);
        self.line(&line, false)
    }

    /// Writes an item of the conversation.
    fn item(&mut self, step: &Step<'_>, fill: impl FnOnce(&mut Composer<'_>)) -> Result<(), Error> {
        let mut composer = line("response_item", &step.iso(), self.ordinal);
        composer.object("payload", fill);
        self.composed(composer)
    }

    /// Writes what older versions show instead of items. Newer ones number their lines and show items.
    fn event(&mut self, step: &Step<'_>, kind: &str, message: &str) -> Result<(), Error> {
        if self.ordinal.is_some() {
            return Ok(());
        }
        let mut composer = line("event_msg", &step.iso(), None);
        composer.object("payload", |payload| {
            payload.text("type", kind);
            payload.text("message", message);
        });
        self.composed(composer)
    }

    fn fresh(&mut self, step: &Step<'_>) -> Result<(), Error> {
        match &step.what {
            What::User(parts) => {
                self.message(step, "user", parts)?;
                self.event(step, "user_message", &plain(parts))
            }
            What::Note(parts) => self.message(step, "user", parts),
            What::Answer(answer) => self.answer(step, answer),
            What::Result(result) => self.output(step, result),
            What::Compaction { summary, .. } => self.compaction(step, *summary),
            What::Title(_) => {
                self.losses.lose("the title: Codex keeps titles in session_index.jsonl");
                Ok(())
            }
            What::System => {
                self.losses.lose("instructions: Codex has its own");
                Ok(())
            }
            What::Model { .. } => {
                self.losses.lose("a change of model: each answer names its own");
                Ok(())
            }
            What::Records => {
                self.losses.lose("records that only another agent understands");
                Ok(())
            }
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                Ok(())
            }
            What::Other(kind) => {
                self.losses.kind(kind);
                Ok(())
            }
        }
    }
}

/// Starts a line.
fn line(kind: &'static str, time: &str, ordinal: Option<u64>) -> Composer<'static> {
    let mut composer = Composer::default();
    composer.text("timestamp", time);
    if let Some(ordinal) = ordinal {
        composer.number("ordinal", ordinal);
    }
    composer.text("type", kind);
    composer
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    quote(text, &mut out);
    out
}
