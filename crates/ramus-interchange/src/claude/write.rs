//! Writing: entries into lines that Claude Code resumes.

mod answer;
mod compaction;
mod thread;

use std::borrow::Cow;
use std::io::Write;

use hashbrown::{HashMap, HashSet};
use ramus_model::json::{Raw, quote};

use self::thread::Thread;
use super::{AGENT, VERSION};
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::mapping::{call_id, is_uuid, uuid_of};
use crate::origin::{readable, restore_files, with_members};
use crate::passage::Passage;
use crate::sink::Report;
use crate::step::{self, Part, Step, What};

/// The id of a written session: Claude Code insists on a UUID.
pub(super) fn session_uuid(id: &str) -> String {
    if is_uuid(id) { id.to_owned() } else { uuid_of(&["session", id]) }
}

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut writer = Writer {
        out,
        session: session_uuid(&start.id),
        cwd: start.cwd.clone(),
        version: start.version.clone().unwrap_or_else(|| VERSION.to_owned()),
        written: HashMap::new(),
        missing: HashMap::new(),
        lines: HashSet::new(),
        losses: Losses::default(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    Ok(writer.losses.finish())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    session: String,
    cwd: String,
    version: String,
    /// The lines that entries became, by their ids.
    written: HashMap<String, Written>,
    /// The ids of lines that were missing where the session came from, by the entries that stand for them.
    missing: HashMap<String, String>,
    /// The ids of the lines.
    lines: HashSet<String>,
    losses: Losses,
}

/// What an entry became.
#[derive(Clone)]
struct Written {
    parent: Option<String>,
    /// The ids of its lines; none when it became no line, and what hangs from it hangs from its parent.
    uuids: Vec<String>,
    part: Thread,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        let uuids = match restore_files(step.raw, AGENT) {
            // What stood in a file of its own is no line.
            Some(records) => {
                let lines = records.into_iter().filter(|(file, _)| file.is_none()).map(|(_, record)| record);
                self.restored(step, lines.collect())?
            }
            None => self.fresh(step)?,
        };
        if let What::Other(kind) = &step.what
            && kind == "ramus.missing"
            && let Some(missing) = step.raw.field("data").and_then(|data| data.field("missing")?.text())
        {
            self.missing.insert(step.id.clone().into_owned(), missing.into_owned());
        }
        let parent = step.parent.as_deref().map(str::to_owned);
        self.lines.extend(uuids.iter().cloned());
        self.written.insert(step.id.clone().into_owned(), Written { parent, uuids, part: Thread::of(step) });
        Ok(())
    }

    /// Writes lines as they were, in this session and in their place.
    fn restored(&mut self, step: &Step<'_>, records: Vec<Vec<u8>>) -> Result<Vec<String>, Error> {
        let mut uuids: Vec<String> = Vec::new();
        let parent = self.hangs_from(step).map(str::to_owned);
        // Where the first line hung, when it hangs elsewhere now.
        let mut moved: Option<Option<String>> = None;
        for record in records {
            let read = readable(&record).unwrap_or_default();
            let Some(object) = Raw::parse(&read).and_then(Raw::object) else {
                // Claude Code passes over what it cannot read.
                self.line(&record, true)?;
                continue;
            };
            // A line that was there twice is written twice, and has its place already.
            let is_again = |uuid: &str| matches!(step.what, What::Records) && self.lines.contains(uuid);
            let uuid = object.text("uuid").filter(|uuid| !uuid.is_empty() && !is_again(uuid));
            let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
            if object.text("sessionId").is_some_and(|session| session != self.session) {
                changes.push(("sessionId", Some(quoted(&self.session))));
            }
            // Written alone, the session of a spawned agent is a session like others.
            if object.field("isSidechain").and_then(Raw::flag).unwrap_or_default() {
                changes.push(("isSidechain", Some(b"false".to_vec())));
            }
            // The first line of an entry hangs where the entry does; the others hang together already. A line that only
            // says what it follows has no parent at all.
            if uuid.is_some() && uuids.is_empty() {
                let name = if object.text("logicalParentUuid").is_some() { "logicalParentUuid" } else { "parentUuid" };
                let stays =
                    object.text(name).is_some_and(|uuid| self.hangs_well(step, &uuid) || self.is_gone(step, &uuid));
                if !stays && object.text(name).as_deref() != parent.as_deref() {
                    let value = parent.as_deref().map_or_else(|| b"null".to_vec(), quoted);
                    changes.push((name, Some(value)));
                    moved = Some(object.text(name).map(Cow::into_owned));
                }
            } else if uuid.is_some()
                && moved.as_ref().is_some_and(|from| object.text("parentUuid").as_deref() == from.as_deref())
            {
                // It stood beside the first.
                changes.push(("parentUuid", Some(parent.as_deref().map_or_else(|| b"null".to_vec(), quoted))));
            }
            uuids.extend(uuid.map(Cow::into_owned));
            let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
            let changed = if changes.is_empty() { None } else { with_members(&read, &changes) };
            self.line(changed.as_deref().unwrap_or(&record), true)?;
        }
        Ok(uuids)
    }

    fn line(&mut self, line: &[u8], original: bool) -> Result<(), Error> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.losses.record(original);
        Ok(())
    }

    /// Writes an entry that Claude Code has never seen.
    fn fresh(&mut self, step: &Step<'_>) -> Result<Vec<String>, Error> {
        let uuid = if is_uuid(&step.id) { step.id.clone().into_owned() } else { uuid_of(&[&self.session, &step.id]) };
        match &step.what {
            What::User(parts) => self.user(step, uuid, parts, Said::ByPerson),
            What::Note(parts) => self.user(step, uuid, parts, Said::ByProgram),
            What::Result(result) => self.result(step, uuid, result),
            What::Answer(answer) => self.answer(step, uuid, answer),
            What::Compaction { summary, first_kept, tokens } => {
                self.compaction(step, uuid, *summary, first_kept.as_deref(), *tokens)
            }
            What::Title(title) => {
                let mut composer = Composer::default();
                composer.text("type", "custom-title");
                composer.raw("customTitle", *title);
                composer.text("sessionId", &self.session);
                self.composed(composer)?;
                Ok(Vec::new())
            }
            What::System => self.nothing("instructions: Claude Code has its own"),
            What::Model { .. } => self.nothing("a change of model: each answer names its own"),
            What::Records => self.nothing("records that only another agent understands"),
            // What only this home says about a session is nobody's loss.
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                Ok(Vec::new())
            }
            What::Other(kind) => {
                self.losses.kind(kind);
                Ok(Vec::new())
            }
        }
    }

    fn nothing(&mut self, why: &str) -> Result<Vec<String>, Error> {
        self.losses.lose(why);
        Ok(Vec::new())
    }

    fn composed(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        let mut line = b"{".to_vec();
        line.extend(composer.finish().0);
        line.push(b'}');
        self.line(&line, false)
    }

    /// Starts a line of the tree.
    fn begin(&self, kind: &'static str, uuid: &str, parent: Option<&str>, step: &Step<'_>) -> Composer<'static> {
        let mut composer = Composer::default();
        match parent {
            Some(parent) => composer.text("parentUuid", parent),
            None => composer.null("parentUuid"),
        }
        composer.flag("isSidechain", false);
        composer.text("type", kind);
        composer.text("uuid", uuid);
        composer.text("timestamp", &step.iso());
        composer.text("userType", "external");
        composer.text("cwd", &self.cwd);
        composer.text("sessionId", &self.session);
        composer.text("version", &self.version);
        composer
    }

    fn user(&mut self, step: &Step<'_>, uuid: String, parts: &[Part<'_>], said: Said) -> Result<Vec<String>, Error> {
        if !parts.iter().any(|part| matches!(part, Part::Image { .. }) || is_visible(part)) {
            return self.nothing("messages without text");
        }
        let parent = self.hangs_from(step).map(str::to_owned);
        let mut composer = self.begin("user", &uuid, parent.as_deref(), step);
        if said == Said::ByProgram {
            composer.flag("isMeta", true);
        }
        composer.object("message", |message| {
            message.text("role", "user");
            self.content(message, parts);
        });
        self.composed(composer)?;
        Ok(vec![uuid])
    }

    /// Writes text and pictures as blocks.
    fn content(&mut self, message: &mut Composer<'_>, parts: &[Part<'_>]) {
        message.array("content", |blocks| {
            for part in parts {
                match part {
                    Part::Text(text) if !text.is_blank() => blocks.object("", |block| {
                        block.text("type", "text");
                        block.raw("text", *text);
                    }),
                    Part::Image { mime, data } => image(blocks, *mime, *data),
                    Part::Text(_) => {}
                    _ => self.losses.lose("parts that are neither text nor a picture"),
                }
            }
        });
    }

    fn result(&mut self, step: &Step<'_>, uuid: String, result: &step::Result<'_>) -> Result<Vec<String>, Error> {
        let parent = self.hangs_from(step).map(str::to_owned);
        let mut composer = self.begin("user", &uuid, parent.as_deref(), step);
        composer.object("message", |message| {
            message.text("role", "user");
            message.array("content", |blocks| {
                blocks.object("", |block| {
                    block.text("tool_use_id", &call_id(&result.call));
                    block.text("type", "tool_result");
                    self.content(block, &result.parts);
                    if result.is_error {
                        block.flag("is_error", true);
                    }
                });
            });
        });
        self.composed(composer)?;
        Ok(vec![uuid])
    }
}

/// Who a line of the user is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    ByPerson,
    ByProgram,
}

fn is_visible(part: &Part<'_>) -> bool {
    matches!(part, Part::Text(text) if !text.is_blank())
}

fn image(blocks: &mut Composer<'_>, mime: Raw<'_>, data: Raw<'_>) {
    blocks.object("", |block| {
        block.text("type", "image");
        block.object("source", |source| {
            source.text("type", "base64");
            source.raw("media_type", mime);
            source.raw("data", data);
        });
    });
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    quote(text, &mut out);
    out
}
