//! Writing: entries into a document that Shepherd loads.

use std::io::Write;

use ramus_model::json::Raw;
use ramus_model::time;

use super::AGENT;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::restore;
use crate::passage::Passage;
use crate::sink::Report;
use crate::step::{Part, Step, What, parts, plain};

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let mut writer =
        Writer { out, at: 0, user: -1, answer: -1, info: None, model: None, stamp: None, losses: Losses::default() };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    if writer.info.is_none() {
        writer.losses.directory(&passage.start().cwd);
    }
    writer.finish(time::parse(&passage.start().created).unwrap_or_default())
}

/// What tells the format stands in front: messages may be long.
const FRONT: &[u8] = b"{\"version\":1,\"messages\":[\n";

struct Writer<'w> {
    out: &'w mut dyn Write,
    /// How many messages were written.
    at: i64,
    /// Where the last word of either side stands; -1 for nowhere.
    user: i64,
    answer: i64,
    info: Option<Vec<u8>>,
    model: Option<(String, String)>,
    /// When the message was said that is being written.
    stamp: Option<String>,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        if let Some(records) = restore(step.raw, AGENT) {
            return records.iter().try_for_each(|record| self.restored(record));
        }
        self.stamp = Some(step.timestamp.clone().into_owned());
        match &step.what {
            What::User(said) | What::Note(said) => {
                self.losses.untold(said);
                self.message("user", 0, |message| message.text("content", &plain(said)))
            }
            What::System => {
                let content = step.raw.field("message").and_then(|message| message.field("content"));
                self.message("system", 0, |message| message.text("content", &plain(&parts(content))))
            }
            What::Answer(answer) => {
                self.losses.untold(&answer.parts);
                self.losses.cost(answer);
                self.losses.ending(answer);
                if answer.usage.prompt() > 0 {
                    self.losses.lose("how many tokens answers used, but for what was said");
                }
                let model = Some((answer.provider.clone().into_owned(), answer.model.clone().into_owned()));
                if self.info.is_some() || self.model.is_some() && self.model != model {
                    self.losses.lose("changes of model: Shepherd has one for all answers");
                }
                self.model = model;
                let calls: Vec<_> = answer.parts.iter().filter_map(call).collect();
                self.message("assistant", answer.usage.output, |message| {
                    message.text("content", &plain(&answer.parts));
                    if !calls.is_empty() {
                        message.text("tool_calls_json", &serde_json::Value::from(calls).to_string());
                    }
                })
            }
            What::Result(result) => {
                self.losses.untold(&result.parts);
                self.losses.failure(result);
                self.message("tool", 0, |message| {
                    message.text("content", &plain(&result.parts));
                    message.text("tool_name", &result.name);
                    message.text("tool_call_id", &result.call);
                })
            }
            What::Compaction { .. } => {
                self.nothing("compactions: Shepherd has the whole history and leaves out what does not fit")
            }
            What::Title(_) => self.nothing("the title"),
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                Ok(())
            }
            What::Records => self.nothing("records that only another agent understands"),
            What::Model { .. } => self.nothing("changes of model"),
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

    fn restored(&mut self, record: &[u8]) -> Result<(), Error> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else { return self.nothing("damaged messages") };
        match object.text("role") {
            Some(role) => self.put(&role, record, true),
            None => {
                self.info = self.info.take().or_else(|| Some(record.to_vec()));
                self.losses.record(true);
                Ok(())
            }
        }
    }

    fn message(&mut self, role: &str, tokens: u64, fill: impl FnOnce(&mut Composer<'_>)) -> Result<(), Error> {
        let mut composer = Composer::default();
        composer.text("role", role);
        fill(&mut composer);
        composer.number("tokens", tokens);
        if let Some(stamp) = self.stamp.take() {
            self.losses.moment(&stamp);
        }
        let mut message = b"{".to_vec();
        message.extend(composer.finish().0);
        message.push(b'}');
        self.put(role, &message, false)
    }

    fn put(&mut self, role: &str, message: &[u8], original: bool) -> Result<(), Error> {
        match role {
            "user" => self.user = self.at,
            "assistant" => self.answer = self.at,
            _ => {}
        }
        self.out.write_all(if self.at == 0 { FRONT } else { b",\n" })?;
        self.out.write_all(message)?;
        self.at += 1;
        self.losses.record(original);
        Ok(())
    }

    /// Ends the document. What was said about the session is said again, with where the last words stand now.
    fn finish(self, created: i64) -> Result<Report, Error> {
        if self.at == 0 {
            self.out.write_all(FRONT)?;
        }
        let info = self.info.as_deref().and_then(Raw::parse).and_then(Raw::object);
        let known = |name: &str| info.as_ref().and_then(|info| info.field(name));
        let (provider, model) = self.model.unwrap_or_else(|| ("openai".into(), "unknown".into()));
        let mut composer = Composer::default();
        match known("timestamp") {
            Some(stamp) => composer.raw("timestamp", stamp),
            None => composer.number("timestamp", created.div_euclid(1000)),
        }
        for (name, value) in [("provider", provider), ("model", model)] {
            match known(name) {
                Some(known) => composer.raw(name, known),
                None => composer.text(name, &value),
            }
        }
        composer.number("last_user_message_index", self.user);
        composer.number("last_assistant_message_index", self.answer);
        self.out.write_all(b"\n],\n")?;
        self.out.write_all(&composer.finish().0)?;
        self.out.write_all(b"}\n")?;
        Ok(self.losses.finish())
    }
}

fn call(part: &Part<'_>) -> Option<serde_json::Value> {
    let Part::Call { id, name, arguments } = part else { return None };
    let arguments = arguments.map_or("{}".into(), |raw| String::from_utf8_lossy(raw.bytes()));
    let function = serde_json::json!({"name": name.text()?, "arguments": arguments});
    Some(serde_json::json!({"id": id.text()?, "type": "function", "function": function}))
}
