//! Writing: a table that Erlang opens.

use std::io::Write;

use ramus_model::json::Raw;
use serde_json::Value;

use super::decode::{Budget, term};
use super::dets;
use super::term::Term;
use super::{AGENT, META, STRUCT};
use crate::emit::hash;
use crate::error::Error;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::origin::restore;
use crate::passage::Passage;
use crate::sink::Report;
use crate::step::{Answer, Part, Step, What, plain};

/// The id of a written session, which is also the name of its file.
pub(super) fn session_id(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !id.is_empty() && id.len() <= 64 && id.bytes().all(is_plain) { id.to_owned() } else { hash(id) }
}

/// Writes a passage. A table is read by key, so what it says first does not matter; how many objects it has does.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    write_within(passage, Limits::default(), out)
}

/// Writes a passage, if a reader with these limits takes the table.
fn write_within(passage: &dyn Passage, limits: Limits, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut blocks: Vec<u8> = Vec::new();
    let mut writer = Writer {
        limits,
        blocks: &mut blocks,
        objects: 0,
        losses: Losses::default(),
        leaf: None,
        meta: None,
        title: start.title.clone(),
        last: hashbrown::HashMap::new(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    if let Some(leaf) = passage.leaf().and_then(|leaf| writer.last.get(leaf)) {
        writer.leaf.clone_from(leaf);
    }
    if writer.meta.is_none() {
        writer.losses.directory(&start.cwd);
    }
    writer.finish(&session_id(&start.id))?;
    let (objects, losses) = (writer.objects, writer.losses);
    out.write_all(&dets::header(objects))?;
    out.write_all(&blocks)?;
    Ok(losses.finish())
}

struct Writer<'w> {
    limits: Limits,
    blocks: &'w mut Vec<u8>,
    objects: u32,
    losses: Losses,
    /// The message that the conversation stands at.
    leaf: Option<String>,
    /// What was known about the session where it came from.
    meta: Option<Term>,
    title: Option<String>,
    /// The message that an entry became, or that it hangs from when it became none.
    last: hashbrown::HashMap<String, Option<String>>,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        let parent = step.parent.as_deref().and_then(|parent| self.last.get(parent).cloned()).flatten();
        if let Some(records) = restore(step.raw, AGENT) {
            let mut own = None;
            for record in &records {
                own = self.restored(record)?.or(own);
            }
            if let What::Other(kind) = &step.what
                && kind == "ramus.leaf"
            {
                self.leaf.clone_from(&parent);
            } else if own.is_some() {
                self.leaf.clone_from(&own);
            }
            self.last.insert(step.id.clone().into_owned(), own.or(parent));
            return Ok(());
        }
        let message = self.fresh(step, parent.as_deref());
        if let Some(message) = message {
            let id = step.id.clone().into_owned();
            self.object(&Term::Tuple(vec![Term::text(&id), message]).write(), false)?;
            self.leaf = Some(id.clone());
            self.last.insert(id.clone(), Some(id));
        } else {
            if matches!(&step.what, What::Other(kind) if kind == "ramus.leaf") {
                self.leaf.clone_from(&parent);
            }
            self.last.insert(step.id.clone().into_owned(), parent);
        }
        Ok(())
    }

    /// Writes an object as it was. Returns the id of the message that it is.
    fn restored(&mut self, record: &[u8]) -> Result<Option<String>, Error> {
        let Ok(term) = term(record, &mut Budget::of(record.len(), self.limits)) else {
            // It was not understood, and it is what it was.
            self.object(record, true)?;
            return Ok(None);
        };
        let key = term.items().first().and_then(Term::as_text);
        if key.as_deref() == Some(META) {
            self.meta = term.items().get(1).cloned();
            self.losses.record(true);
            return Ok(None);
        }
        self.object(record, true)?;
        let is_message = term.items().get(1).and_then(|value| value.get("__struct__")).is_some();
        Ok(key.filter(|_| is_message))
    }

    fn object(&mut self, term: &[u8], original: bool) -> Result<(), Error> {
        let Some(block) = dets::object(term) else {
            return Err(Error::Limit("a message is too large for a table".into()));
        };
        if dets::BASE + self.blocks.len() + block.len() > self.limits.line {
            let why = format!("a table of more than {} MiB could not be read again", self.limits.line >> 20);
            return Err(Error::Limit(why));
        }
        self.blocks.extend(block);
        self.objects += 1;
        self.losses.record(original);
        Ok(())
    }

    /// The message that an entry is; none when Opal has no word for it.
    fn fresh(&mut self, step: &Step<'_>, parent: Option<&str>) -> Option<Term> {
        let mut message = Message { id: &step.id, parent, ..Message::default() };
        match &step.what {
            What::User(parts) | What::Note(parts) => {
                self.losses.untold(parts);
                message.role = "user";
                message.content = Some(plain(parts));
            }
            What::System => {
                message.role = "system";
                message.content = Some(system_text(step));
            }
            What::Answer(answer) => {
                message.role = "assistant";
                message.content = Some(plain(&answer.parts));
                message.calls = answer.parts.iter().filter_map(call).collect();
                message.thinking = self.answer(answer);
            }
            What::Result(result) => {
                self.losses.untold(&result.parts);
                message.role = "tool_result";
                message.content = Some(plain(&result.parts));
                message.call = Some(result.call.clone().into_owned());
                message.name = Some(result.name.clone().into_owned());
                message.failed = result.is_error;
            }
            What::Compaction { summary, .. } => {
                message.role = "user";
                let text = summary.text().unwrap_or_default();
                message.content = Some(format!("[Conversation summary — older messages were compacted]\n\n{text}"));
                message.summary = true;
                self.losses.lose("what a compaction keeps: Opal replaces messages by their summary");
            }
            What::Title(title) => {
                self.title = title.text().map(|title| title.into_owned());
                return None;
            }
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                return None;
            }
            What::Records => {
                self.losses.lose("records that only another agent understands");
                return None;
            }
            What::Model { .. } => {
                self.losses.lose("changes of model");
                return None;
            }
            What::Other(kind) => {
                self.losses.kind(kind);
                return None;
            }
        }
        self.losses.moment(&step.timestamp);
        Some(message.term())
    }

    /// Counts what an answer says that Opal does not, and returns what its model thought.
    fn answer(&mut self, answer: &Answer<'_>) -> Option<String> {
        let is_thought = |part: &Part<'_>| matches!(part, Part::Thinking { redacted: false, .. });
        let (thoughts, others): (Vec<Part<'_>>, Vec<Part<'_>>) = answer.parts.iter().partition(|part| is_thought(part));
        self.losses.untold(&others);
        self.losses.model(answer);
        self.losses.used(answer);
        self.losses.cost(answer);
        self.losses.ending(answer);
        let texts = thoughts.into_iter().filter_map(|part| match part {
            Part::Thinking { text, .. } => text.text(),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Writes what is known about the session.
    fn finish(&mut self, id: &str) -> Result<(), Error> {
        let mut metadata =
            self.meta.as_ref().and_then(|meta| meta.get("metadata")).cloned().unwrap_or(Term::Map(Vec::new()));
        if let (Some(title), Term::Map(pairs)) = (&self.title, &mut metadata) {
            pairs.retain(|(key, _)| key.as_text().as_deref() != Some("title"));
            pairs.push((Term::atom("title"), Term::text(title)));
        }
        let leaf = self.leaf.as_deref().map_or_else(|| Term::atom("nil"), Term::text);
        let facts = vec![
            (Term::atom("session_id"), Term::text(id)),
            (Term::atom("current_id"), leaf),
            (Term::atom("metadata"), metadata),
        ];
        let meta = Term::Tuple(vec![Term::atom(META), Term::Map(facts)]).write();
        self.object(&meta, false)
    }
}

/// A message in the making.
#[derive(Default)]
struct Message<'a> {
    id: &'a str,
    parent: Option<&'a str>,
    role: &'static str,
    content: Option<String>,
    thinking: Option<String>,
    calls: Vec<Term>,
    call: Option<String>,
    name: Option<String>,
    failed: bool,
    summary: bool,
}

impl Message<'_> {
    fn term(self) -> Term {
        let text = |text: Option<&str>| text.map_or_else(|| Term::atom("nil"), Term::text);
        let metadata = match self.summary {
            true => Term::Map(vec![
                (Term::atom("type"), Term::atom("compaction_summary")),
                (Term::atom("read_files"), Term::List(Vec::new())),
                (Term::atom("modified_files"), Term::List(Vec::new())),
            ]),
            false => Term::atom("nil"),
        };
        Term::Map(vec![
            (Term::atom("__struct__"), Term::atom(STRUCT)),
            (Term::atom("id"), Term::text(self.id)),
            (Term::atom("parent_id"), text(self.parent)),
            (Term::atom("role"), Term::atom(self.role)),
            (Term::atom("content"), text(self.content.as_deref())),
            (Term::atom("thinking"), text(self.thinking.as_deref())),
            (Term::atom("tool_calls"), Term::List(self.calls)),
            (Term::atom("call_id"), text(self.call.as_deref())),
            (Term::atom("name"), text(self.name.as_deref())),
            (Term::atom("is_error"), Term::atom(if self.failed { "true" } else { "false" })),
            (Term::atom("metadata"), metadata),
        ])
    }
}

fn call(part: &Part<'_>) -> Option<Term> {
    let Part::Call { id, name, arguments } = part else { return None };
    let arguments = arguments.and_then(|raw| serde_json::from_slice::<Value>(raw.bytes()).ok()).unwrap_or(Value::Null);
    let arguments = if arguments.is_object() { Term::of_json(&arguments) } else { Term::Map(Vec::new()) };
    Some(Term::Map(vec![
        (Term::atom("call_id"), Term::text(&id.text()?)),
        (Term::atom("name"), Term::text(&name.text()?)),
        (Term::atom("arguments"), arguments),
    ]))
}

fn system_text(step: &Step<'_>) -> String {
    let content = step.raw.field("message").and_then(|message| message.field("content"));
    plain(&crate::step::parts(content.filter(|content: &Raw<'_>| !content.is_null())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::jsonl::Jsonl;
    use crate::passage::LogPassage;
    use crate::source::MemorySource;

    #[test]
    fn what_is_written_can_be_read() {
        let said = |text: &str| {
            let message = serde_json::json!({"role": "user", "content": [{"type": "text", "text": text}]});
            let entry = serde_json::json!({"type": "message", "id": "aaaa0001", "parentId": null, "timestamp": "2026-11-01T10:00:00.000Z", "message": message});
            format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"\",\"cwd\":\"\"}}\n{entry}\n")
        };
        let limits = Limits { line: 8192, ..Limits::default() };
        for length in (0..8000).step_by(500) {
            let log = said(&"x".repeat(length));
            let mut table = Vec::new();
            match write_within(&LogPassage::new(log.as_bytes()), limits, &mut table) {
                Ok(_) => {
                    let source = MemorySource::new("s.dets", &table);
                    Format::Opal.codec().read_within(&source, limits, &mut Jsonl::default()).unwrap();
                }
                Err(error) => assert!(matches!(error, Error::Limit(_)) && length > 2000, "{length}: {error}"),
            }
        }
    }
}
