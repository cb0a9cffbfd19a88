//! Writing: a document that `opencode import` takes.

mod answer;
mod ending;
mod moved;
mod part;

use std::io::Write;

use hashbrown::HashMap;
use ramus_model::json::{Raw, quote};
use ramus_model::time;
use sha2::{Digest as _, Sha256};

use super::{AGENT, VERSION};
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::restore;
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{Part, Step, What};

/// The id of a written session: opencode insists on its prefix.
pub(super) fn session_id(id: &str) -> String {
    match id.starts_with("ses_") {
        true => id.to_owned(),
        false => format!("ses_{}", letters(&[id], 26)),
    }
}

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let mut model = None;
    passage.each(&mut |line| {
        if model.is_none()
            && let Some(Step { what: What::Answer(answer), .. }) = Step::read(line)
        {
            model = Some((answer.provider.into_owned(), answer.model.into_owned()));
        }
        Ok(())
    })?;
    let start = passage.start();
    let mut writer = Writer {
        out,
        start,
        session: session_id(&start.id),
        model: model.unwrap_or_else(|| ("unknown".into(), "unknown".into())),
        messages: HashMap::new(),
        asked: None,
        clock: time::parse(&start.created).unwrap_or_default(),
        count: 0,
        info: None,
        title: start.title.clone(),
        is_reverted: false,
        begun: false,
        answer: None,
        losses: Losses::default(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    writer.finish()
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    start: &'w Start,
    session: String,
    /// The model of messages that name none.
    model: (String, String),
    /// The messages that entries became.
    messages: HashMap<String, String>,
    /// The last thing a person said, which answers refer to.
    asked: Option<String>,
    /// Messages are ordered by their time, so it never goes back.
    clock: i64,
    count: u64,
    /// What was known about the session where it came from.
    info: Option<Vec<u8>>,
    title: Option<String>,
    /// Whether messages that were reverted are written, too.
    is_reverted: bool,
    begun: bool,
    answer: Option<Waiting>,
    losses: Losses,
}

/// An answer with calls, which waits for what they give: both are one message.
struct Waiting {
    line: Vec<u8>,
    results: Vec<Vec<u8>>,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        if let Some(records) = restore(step.raw, AGENT) {
            self.settle()?;
            self.is_reverted |= matches!(&step.what, What::Other(kind) if kind == "ramus.leaf");
            return records.iter().try_for_each(|record| self.restored(step, record));
        }
        match &step.what {
            What::Result(_) => match &mut self.answer {
                Some(waiting) => waiting.results.push(step.raw.bytes().to_vec()),
                None => self.losses.lose("results without a call"),
            },
            What::Answer(_) => {
                self.settle()?;
                self.answer = Some(Waiting { line: step.raw.bytes().to_vec(), results: Vec::new() });
            }
            What::Other(kind) if kind.starts_with("ramus.") => self.losses.own(kind),
            What::Records => self.losses.lose("records that only another agent understands"),
            What::Title(title) => self.title = title.text().map(|title| title.into_owned()),
            What::User(parts) | What::Note(parts) => {
                self.settle()?;
                self.user(step, parts)?;
            }
            What::Compaction { summary, first_kept, .. } => {
                self.settle()?;
                self.compaction(step, *summary, first_kept.as_deref())?;
            }
            What::System => self.losses.lose("instructions: opencode has its own"),
            What::Model { provider, model } => {
                self.losses.lose("a change of model: each message names its own");
                self.model = (provider.clone().into_owned(), model.clone().into_owned());
            }
            What::Other(kind) => self.losses.kind(kind),
        }
        Ok(())
    }

    /// Writes a message as it was, in this session.
    fn restored(&mut self, step: &Step<'_>, record: &[u8]) -> Result<(), Error> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else {
            self.losses.lose("damaged messages");
            return Ok(());
        };
        let Some(info) = object.field("info") else {
            // Sessions of older versions have no slug.
            if self.info.is_none() && ["slug", "title"].iter().any(|name| object.field(name).is_some()) {
                self.info = Some(record.to_vec());
                self.losses.record(true);
            } else if object.field("todos").is_some() || object.field("columns").is_some() {
                self.losses.lose("todos and columns of the database, which an import of opencode has no words for");
            }
            return Ok(());
        };
        let is_moved = self.is_moved(info);
        let mut id = info.field("id").and_then(Raw::text).unwrap_or_default().into_owned();
        if is_moved {
            id = self.renamed(&id);
        }
        if info.field("role").and_then(Raw::text).as_deref() == Some("user") {
            self.asked = Some(id.clone());
        }
        self.messages.insert(step.id.clone().into_owned(), id);
        let changed = if is_moved { self.moved(record) } else { None };
        self.message(changed.as_deref().unwrap_or(record), true)
    }

    fn message(&mut self, message: &[u8], original: bool) -> Result<(), Error> {
        let front: &[u8] = if self.begun { b",\n" } else { b"{\"messages\":[\n" };
        self.begun = true;
        self.out.write_all(front)?;
        self.out.write_all(message)?;
        self.losses.record(original);
        Ok(())
    }

    /// Makes an id that comes behind all before it.
    fn id(&mut self, prefix: &str, step: &Step<'_>) -> String {
        self.clock = self.clock.max(step.millis());
        self.count += 1;
        let ascending = (self.clock as u64).wrapping_mul(0x1000).wrapping_add(self.count & 0xfff) & 0xffff_ffff_ffff;
        let name = letters(&[&self.session, &step.id, &self.count.to_string()], 14);
        format!("{prefix}_{ascending:012x}{name}")
    }

    /// Writes a message: what is known about it, and its parts.
    fn fresh(
        &mut self,
        step: &Step<'_>,
        role: &str,
        facts: impl FnOnce(&mut Composer<'_>),
        parts: Vec<Composer<'static>>,
    ) -> Result<String, Error> {
        let id = self.id("msg", step);
        let mut composer = Composer::default();
        composer.object("info", |info| {
            info.text("id", &id);
            info.text("sessionID", &self.session);
            info.text("role", role);
            facts(info);
        });
        let mut message = b"{".to_vec();
        message.extend(composer.finish().0);
        message.extend_from_slice(b",\"parts\":[");
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                message.push(b',');
            }
            let mut front = Composer::default();
            front.text("id", &self.id("prt", step));
            front.text("messageID", &id);
            front.text("sessionID", &self.session);
            message.push(b'{');
            message.extend(front.finish().0);
            message.push(b',');
            message.extend(part.finish().0);
            message.push(b'}');
        }
        message.extend_from_slice(b"]}");
        self.messages.insert(step.id.clone().into_owned(), id.clone());
        self.message(&message, false)?;
        Ok(id)
    }

    fn user(&mut self, step: &Step<'_>, said: &[Part<'_>]) -> Result<(), Error> {
        let parts: Vec<_> = said.iter().filter_map(part::part).collect();
        if parts.len() < said.len() {
            self.losses.lose("parts that are neither text nor a picture");
        }
        let id = self.asking(step, parts)?;
        self.asked = Some(id);
        Ok(())
    }

    fn asking(&mut self, step: &Step<'_>, parts: Vec<Composer<'static>>) -> Result<String, Error> {
        let (provider, model) = self.model.clone();
        let created = self.clock.max(step.millis());
        let facts = |info: &mut Composer<'_>| {
            info.object("time", |time| time.number("created", created));
            info.text("agent", "build");
            info.object("model", |name| {
                name.text("providerID", &provider);
                name.text("modelID", &model);
            });
        };
        self.fresh(step, "user", facts, parts)
    }
}

/// Letters and digits that follow from texts.
fn letters(texts: &[&str], length: usize) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    let letter = |byte: &u8| ALPHABET.get(usize::from(*byte) % ALPHABET.len()).copied().map_or('0', char::from);
    hash.finalize().iter().take(length).map(letter).collect()
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    quote(text, &mut out);
    out
}
