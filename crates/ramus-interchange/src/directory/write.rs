//! Writing: entries into files.

use std::io::Write as _;

use hashbrown::HashSet;
use ramus_model::json::{Raw, quote};
use ramus_model::time;
use ramus_model::todo::Task;

use super::AGENT;
use crate::compose::Composer;
use crate::emit::hash;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::{files, restore_files, with_members};
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{Answer, Part, Step, What, plain};
use crate::target::Target;
use crate::todo;

/// The name of a session's directory.
pub(super) fn directory(id: &str) -> String {
    match is_name(id) {
        true if ["session_", "ses_"].iter().any(|prefix| id.starts_with(prefix)) => id.to_owned(),
        true => format!("session_{id}"),
        false => format!("session_{}", hash(id)),
    }
}

/// Says whether an id can be a name of a file.
fn is_name(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !id.is_empty() && id.len() <= 100 && id.bytes().all(is_plain) && !id.starts_with('.')
}

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
    let start = passage.start();
    let (mut taken, mut entries) = (HashSet::new(), 0_usize);
    passage.each(&mut |line| {
        entries += 1;
        taken.extend(Raw::parse(line).into_iter().flat_map(|entry| files(entry, AGENT)));
        Ok(())
    })?;
    let mut writer = Writer {
        target,
        root: directory(&start.id),
        meta: None,
        todo: None,
        tasks: None,
        title: start.title.clone(),
        taken,
        count: 0,
        digits: entries.to_string().len().max(3),
        clock: i64::MIN,
        losses: Losses::default(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    writer.finish(start)
}

struct Writer<'w> {
    target: &'w mut dyn Target,
    root: String,
    meta: Option<Vec<u8>>,
    /// The list of what is to be done, as it was.
    todo: Option<Vec<u8>>,
    /// The list that counts, when it is another.
    tasks: Option<Vec<Task>>,
    title: Option<String>,
    /// The files that are written as they were.
    taken: HashSet<String>,
    /// How many messages there are by now, and how many digits their numbers have.
    count: usize,
    digits: usize,
    /// Messages are ordered by their time, so it never goes back.
    clock: i64,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        if let Some(records) = restore_files(step.raw, AGENT) {
            if !records.is_empty() && records.iter().all(|(name, _)| is_message(name.as_deref())) {
                self.clock = self.clock.max(step.millis());
                self.count += 1;
            }
            if todo::of_step(step).is_some() {
                // What the list says is in the file that it was read from.
                self.tasks = None;
            }
            return records.into_iter().try_for_each(|(name, record)| self.restored(name, record));
        }
        if let Some(tasks) = todo::of_step(step) {
            if tasks.iter().any(|task| !task.blocked_by.is_empty() || task.parent.is_some()) {
                self.losses.lose("what tasks wait for, and what they are part of");
            }
            self.tasks = Some(tasks);
        }
        match &step.what {
            What::User(parts) | What::Note(parts) => {
                self.losses.untold(parts);
                self.message(step, "user", |message| message.array("content", |blocks| text(blocks, &plain(parts))))
            }
            What::Compaction { summary, .. } => {
                self.losses.lose("what a compaction keeps: it is a message, and everything before it counts again");
                let said = format!("Previous conversation summary: {}", summary.text().unwrap_or_default());
                self.message(step, "user", |message| message.array("content", |blocks| text(blocks, &said)))
            }
            What::Answer(answer) => {
                self.losses.untold(&answer.parts);
                self.losses.cached(answer);
                self.message(step, "assistant", |message| said(message, answer))
            }
            What::Result(result) => {
                self.losses.untold(&result.parts);
                self.message(step, "tool", |message| {
                    message.array("content", |blocks| {
                        blocks.object("", |block| {
                            block.text("type", "tool_result");
                            block.text("toolUseId", &result.call);
                            block.text("result", &plain(&result.parts));
                            block.flag("isError", result.is_error);
                        });
                    });
                })
            }
            What::Title(title) => {
                self.title = title.text().map(|title| title.into_owned());
                Ok(())
            }
            What::Other(kind) if kind == "ramus.todo" => Ok(()),
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                Ok(())
            }
            What::Records => self.nothing("records that only another agent understands"),
            What::System => self.nothing("instructions"),
            What::Model { .. } => self.nothing("changes of model: each answer names its own"),
            What::Other(kind) => {
                self.losses.kind(kind);
                Ok(())
            }
        }
    }

    fn nothing(&mut self, why: &str) -> Result<(), Error> {
        self.losses.lose(why);
        Ok(())
    }

    /// Writes a file as it was. Names come from a log, so only those that stay in the directory are used.
    fn restored(&mut self, name: Option<String>, record: Vec<u8>) -> Result<(), Error> {
        let tame = |name: &String| {
            let inner = name.strip_prefix("message/").or_else(|| name.strip_prefix("snapshot/")).unwrap_or(name);
            is_name(inner)
        };
        match name.filter(tame) {
            Some(name) if name == "meta.json" => {
                self.meta = Some(record);
                Ok(())
            }
            Some(name) if name == "todo.json" => {
                self.todo = Some(record);
                Ok(())
            }
            Some(name) => self.put(&name, &record, true),
            None => self.nothing("files whose names lead elsewhere"),
        }
    }

    fn put(&mut self, name: &str, bytes: &[u8], original: bool) -> Result<(), Error> {
        let mut file = self.target.create(&format!("{}/{name}", self.root))?;
        file.write_all(bytes)?;
        file.write_all(b"\n")?;
        file.flush()?;
        drop(file);
        self.losses.record(original);
        Ok(())
    }

    /// Writes a message into the next file.
    fn message(&mut self, step: &Step<'_>, role: &str, fill: impl FnOnce(&mut Composer<'_>)) -> Result<(), Error> {
        self.clock = self.clock.max(step.millis());
        let id = loop {
            self.count += 1;
            let id = format!("msg_{:0digits$}", self.count, digits = self.digits);
            if !self.taken.contains(&format!("message/{id}.json")) {
                break id;
            }
        };
        let mut composer = Composer::default();
        composer.text("id", &id);
        composer.text("role", role);
        composer.object("time", |time| time.number("created", self.clock));
        fill(&mut composer);
        let mut message = b"{".to_vec();
        message.extend(composer.finish().0);
        message.push(b'}');
        self.put(&format!("message/{id}.json"), &message, false)
    }

    fn finish(mut self, start: &Start) -> Result<Report, Error> {
        let meta = self.meta.take().and_then(|meta| self.known(&meta, start)).unwrap_or_else(|| self.new_meta(start));
        self.put("meta.json", &meta, false)?;
        match (self.tasks.take(), self.todo.take()) {
            (None, Some(todo)) => self.put("todo.json", &todo, true)?,
            (tasks, _) => {
                self.put("todo.json", todo::spelled(&tasks.unwrap_or_default()).to_string().as_bytes(), false)?;
            }
        }
        Ok(self.losses.finish())
    }

    fn known(&self, meta: &[u8], start: &Start) -> Option<Vec<u8>> {
        let object = Raw::parse(meta)?.object()?;
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in [("id", Some(&start.id)), ("directory", Some(&start.cwd)), ("title", self.title.as_ref())]
        {
            if let Some(value) = value.filter(|value| object.text(name).is_some_and(|known| known != value.as_str())) {
                let mut text = Vec::new();
                quote(value, &mut text);
                changes.push((name, Some(text)));
            }
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        with_members(meta, &changes)
    }

    fn new_meta(&self, start: &Start) -> Vec<u8> {
        let created = time::parse(&start.created).unwrap_or_default();
        let mut composer = Composer::default();
        composer.text("id", &start.id);
        composer.text("projectID", "global");
        composer.text("directory", &start.cwd);
        if let Some(parent) = &start.parent {
            composer.text("parentID", parent);
        }
        composer.text("title", self.title.as_deref().unwrap_or("Imported session"));
        composer.text("version", start.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION")));
        composer.object("time", |time| {
            time.number("created", created);
            time.number("updated", created);
        });
        let mut meta = b"{".to_vec();
        meta.extend(composer.finish().0);
        meta.push(b'}');
        meta
    }
}

fn text(blocks: &mut Composer<'_>, text: &str) {
    blocks.object("", |block| {
        block.text("type", "text");
        block.text("text", text);
    });
}

/// Says whether a file is that of a message.
fn is_message(name: Option<&str>) -> bool {
    name.is_some_and(|name| name.starts_with("message/"))
}

/// Writes what a model said, which model it was, what it used and how it ended.
fn said(message: &mut Composer<'_>, answer: &Answer<'_>) {
    message.array("content", |blocks| answer.parts.iter().for_each(|part| block(blocks, part)));
    message.object("model", |model| {
        model.text("providerID", &answer.provider);
        model.text("modelID", &answer.model);
    });
    message.object("usage", |usage| {
        usage.number("promptTokens", answer.usage.prompt());
        usage.number("completionTokens", answer.usage.output);
    });
    if let Some(micros) = answer.usage.cost_micros.filter(|micros| *micros > 0) {
        message.number("cost", micros as f64 / 1e6);
    }
    let finish = match &*answer.stop {
        "toolUse" => "tool_use",
        known @ ("length" | "error" | "aborted") => known,
        _ => "stop",
    };
    message.text("finish_reason", finish);
    if let Some(error) = answer.error {
        message.raw("error", error);
    }
}

fn block(blocks: &mut Composer<'_>, part: &Part<'_>) {
    match part {
        Part::Text(said) => blocks.object("", |block| {
            block.text("type", "text");
            block.raw("text", *said);
        }),
        Part::Call { id, name, arguments } => blocks.object("", |block| {
            block.text("type", "tool_use");
            block.raw("id", *id);
            block.raw("name", *name);
            match arguments {
                Some(arguments) => block.raw("input", *arguments),
                None => block.object("input", |_| {}),
            }
        }),
        Part::Thinking { .. } | Part::Image { .. } | Part::Unknown => {}
    }
}
