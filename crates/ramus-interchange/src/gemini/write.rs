//! Writing: entries into a session that Gemini CLI resumes.

mod answer;

use std::io::Write;

use ramus_model::json::{Raw, quote};

use super::{AGENT, project_hash, session_uuid};
use crate::arrange::arranged;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::mapping::{is_uuid, uuid_of};
use crate::origin::{restore, with_members};
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{Part, Step, What};

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut writer = Writer {
        out,
        start,
        session: session_uuid(&start.id),
        begun: false,
        first: None,
        answer: None,
        losses: Losses::default(),
    };
    arranged(passage, AGENT, &mut |step| writer.step(step))?;
    writer.settle()?;
    writer.begin()?;
    Ok(writer.losses.finish())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    start: &'w Start,
    session: String,
    begun: bool,
    /// The first message that counts, which is where forgetting goes back to.
    first: Option<String>,
    /// An answer with calls waits for what they give: both are in one message.
    answer: Option<Waiting>,
    losses: Losses,
}

/// An entry that waits, and the results that came.
struct Waiting {
    line: Vec<u8>,
    results: Vec<Vec<u8>>,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        if let Some(records) = restore(step.raw, AGENT) {
            self.settle()?;
            return records.iter().try_for_each(|record| self.restored(record));
        }
        let line = step.raw.bytes();
        match &step.what {
            What::Result(_) => match &mut self.answer {
                Some(waiting) => waiting.results.push(line.to_vec()),
                None => self.losses.lose("results without a call"),
            },
            What::Answer(answer) if answer.parts.iter().any(|part| matches!(part, Part::Call { .. })) => {
                self.settle()?;
                self.answer = Some(Waiting { line: line.to_vec(), results: Vec::new() });
            }
            // What changes nothing in the conversation may stand between a call and its result.
            What::Other(kind) if kind.starts_with("ramus.") => self.losses.own(kind),
            What::Records => self.losses.lose("records that only another agent understands"),
            _ => {
                self.settle()?;
                self.fresh(step)?;
            }
        }
        Ok(())
    }

    fn fresh(&mut self, step: &Step<'_>) -> Result<(), Error> {
        match &step.what {
            What::User(parts) | What::Note(parts) => self.user(step, parts),
            What::Answer(_) => self.answer(step, &[]),
            What::Compaction { summary, .. } => {
                self.forget()?;
                self.losses.lose("a compaction is written as a message that follows a rewind");
                self.user(step, &[Part::Text(*summary)])
            }
            What::Title(title) => {
                let mut composer = Composer::default();
                composer.object("$set", |set| set.raw("summary", *title));
                self.composed(composer)
            }
            What::System => self.nothing("instructions: Gemini CLI has its own"),
            What::Model { .. } => self.nothing("a change of model: each answer names its own"),
            What::Other(kind) => {
                self.losses.kind(kind);
                Ok(())
            }
            What::Result(_) | What::Records => Ok(()),
        }
    }

    fn nothing(&mut self, why: &str) -> Result<(), Error> {
        self.losses.lose(why);
        Ok(())
    }

    /// Writes a line as it was, in this session.
    fn restored(&mut self, record: &[u8]) -> Result<(), Error> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else { return self.line(record, true) };
        let is_head = object.field("sessionId").is_some();
        if is_head {
            self.begun = true;
        } else {
            self.begin()?;
        }
        if self.first.is_none() && object.field("type").is_some() {
            self.first = object.text("id").map(|id| id.into_owned());
        }
        let changed = match object.field("$set") {
            // A session that was resumed says its id again.
            Some(set) => self.moved(set).and_then(|set| with_members(record, &[("$set", Some(&set))])),
            None if is_head => Raw::parse(record).and_then(|head| self.moved(head)),
            None => None,
        };
        self.line(changed.as_deref().unwrap_or(record), true)
    }

    /// What says which session this is, for the one that is written, in its project; none when it says so already, or nothing
    /// of that kind.
    fn moved(&self, said: Raw<'_>) -> Option<Vec<u8>> {
        let object = said.object()?;
        object.text("sessionId").filter(|session| *session != self.session)?;
        let session = quoted(&self.session);
        let project = object.field("projectHash").map(|_| quoted(&project_hash(&self.start.cwd)));
        let project = project.as_deref().map(|project| ("projectHash", Some(project)));
        let changes: Vec<_> = [("sessionId", Some(session.as_slice()))].into_iter().chain(project).collect();
        with_members(said.bytes(), &changes)
    }

    fn line(&mut self, line: &[u8], original: bool) -> Result<(), Error> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.losses.record(original);
        Ok(())
    }

    fn composed(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        self.begin()?;
        let mut line = b"{".to_vec();
        line.extend(composer.finish().0);
        line.push(b'}');
        self.line(&line, false)
    }

    /// Writes the first line, once.
    fn begin(&mut self) -> Result<(), Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut composer = Composer::default();
        composer.text("sessionId", &self.session);
        composer.text("projectHash", &project_hash(&self.start.cwd));
        composer.text("startTime", &self.start.created);
        composer.text("lastUpdated", &self.start.created);
        composer.text("kind", "main");
        self.composed(composer)
    }

    /// Drops everything that came before. It stays in the file.
    fn forget(&mut self) -> Result<(), Error> {
        let Some(first) = self.first.take() else { return Ok(()) };
        let mut composer = Composer::default();
        composer.text("$rewindTo", &first);
        self.composed(composer)
    }

    /// Starts a message.
    fn begin_message(&mut self, step: &Step<'_>, kind: &str) -> Composer<'static> {
        let id = if is_uuid(&step.id) { step.id.clone().into_owned() } else { uuid_of(&[&self.session, &step.id]) };
        let mut composer = Composer::default();
        composer.text("id", &id);
        composer.text("timestamp", &step.iso());
        composer.text("type", kind);
        self.first.get_or_insert(id);
        composer
    }

    fn user(&mut self, step: &Step<'_>, parts: &[Part<'_>]) -> Result<(), Error> {
        if !parts.iter().any(|part| matches!(part, Part::Text(_) | Part::Image { .. })) {
            return self.nothing("messages without text");
        }
        self.begin()?;
        let mut composer = self.begin_message(step, "user");
        composer.array("content", |content| {
            for part in parts {
                match part {
                    Part::Text(text) => content.object("", |part| part.raw("text", *text)),
                    Part::Image { mime, data } => content.object("", |part| {
                        part.object("inlineData", |inline| {
                            inline.raw("mimeType", *mime);
                            inline.raw("data", *data);
                        });
                    }),
                    _ => self.losses.lose("parts that are neither text nor a picture"),
                }
            }
        });
        self.composed(composer)
    }
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    quote(text, &mut out);
    out
}
