//! Writing: a path as the messages of a payload. Versions that came with it stay beside it.

use std::io::Write;

use ramus_model::json::{Raw, quote};

use super::AGENT;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::{restore, with_members};
use crate::passage::Passage;
use crate::sink::Report;
use crate::step::{Part, Step, What, plain};

/// Writes a passage. Of a tree, the path to its leaf is written.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let mut writer = Writer::default();
    passage.each(&mut |line| {
        if let Some(step) = Step::read(line) {
            writer.step(&step);
        }
        Ok(())
    })?;
    let start = passage.start();
    let messages = writer.path();
    let payload = match writer.payload.take() {
        Some(payload) => {
            let mut title = Vec::new();
            quote(writer.title.as_deref().unwrap_or_default(), &mut title);
            let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
            let known = Raw::parse(&payload).and_then(|raw| raw.field("messages"));
            if known.map(Raw::bytes) != Some(&messages) && !same(known, &messages) {
                changes.push(("messages", Some(&messages)));
            }
            if writer.title.is_some() {
                changes.push(("title", Some(&title)));
            }
            let changed = if changes.is_empty() { None } else { with_members(&payload, &changes) };
            changed.unwrap_or(payload)
        }
        None => {
            let mut composer = Composer::default();
            composer.text("id", &start.id);
            composer.text("title", writer.title.as_deref().or(start.title.as_deref()).unwrap_or("Imported session"));
            composer.text("createdAt", &start.created);
            composer.text("updatedAt", &start.created);
            let mut payload = b"{".to_vec();
            payload.extend(composer.finish().0);
            payload.extend_from_slice(b",\"messages\":");
            payload.extend(&messages);
            payload.extend_from_slice(b",\"branches\":{}}");
            payload
        }
    };
    out.write_all(&payload)?;
    out.write_all(b"\n")?;
    Ok(writer.losses.finish())
}

/// Says whether two lists have the same messages: ids and what they say.
fn same(known: Option<Raw<'_>>, messages: &[u8]) -> bool {
    let (Some(known), Some(written)) = (known, Raw::parse(messages)) else { return false };
    let bytes = |message: Raw<'_>, name: &str| message.field(name).map(|value| value.bytes().to_vec());
    let alike =
        |(one, other): (Raw<'_>, Raw<'_>)| ["id", "content"].iter().all(|name| bytes(one, name) == bytes(other, name));
    known.items().count() == written.items().count() && known.items().zip(written.items()).all(alike)
}

#[derive(Default)]
struct Writer {
    /// Every message, by its entry: what it hangs from, and its bytes when it became one.
    steps: hashbrown::HashMap<String, (Option<String>, Option<Vec<u8>>)>,
    leaf: Option<String>,
    payload: Option<Vec<u8>>,
    title: Option<String>,
    losses: Losses,
}

impl Writer {
    fn step(&mut self, step: &Step<'_>) {
        self.losses.entry();
        if let Some(records) = restore(step.raw, AGENT)
            && let Some(payload) = records.into_iter().next()
        {
            self.payload.get_or_insert(payload);
            self.losses.record(true);
            return;
        }
        let parent = step.parent.as_deref().map(str::to_owned);
        let message = self.message(step);
        match &step.what {
            What::Other(kind) if kind == "ramus.leaf" => self.leaf.clone_from(&parent),
            What::Title(title) => self.title = title.text().map(|title| title.into_owned()),
            _ => self.leaf = Some(step.id.clone().into_owned()),
        }
        self.steps.insert(step.id.clone().into_owned(), (parent, message));
    }

    fn message(&mut self, step: &Step<'_>) -> Option<Vec<u8>> {
        let (role, parts): (_, &[Part<'_>]) = match &step.what {
            What::User(parts) | What::Note(parts) => ("user", parts),
            What::Answer(answer) => ("assistant", &answer.parts),
            What::Compaction { summary, .. } => {
                self.losses.lose("a compaction is written as a message");
                return Some(message(step, "user", &[Part::Text(*summary)]));
            }
            What::Result(_) => {
                self.losses.lose("results of tools: OKCVM keeps what was said");
                return None;
            }
            What::System => {
                self.losses.lose("instructions: OKCVM has its own");
                return None;
            }
            What::Title(_) | What::Records => return None,
            What::Other(kind) if kind.starts_with("ramus.") => return None,
            What::Model { .. } => {
                self.losses.lose("changes of model");
                return None;
            }
            What::Other(kind) => {
                self.losses.lose(format!("entries of type {kind}"));
                return None;
            }
        };
        if parts.iter().any(|part| !matches!(part, Part::Text(_))) {
            self.losses.lose("parts of messages that are not text");
        }
        self.losses.record(false);
        Some(message(step, role, parts))
    }

    /// The messages on the path to the leaf, as a list.
    fn path(&self) -> Vec<u8> {
        let mut messages = Vec::new();
        let mut at = self.leaf.as_ref();
        while let Some((parent, message)) = at.and_then(|at| self.steps.get(at)) {
            messages.extend(message.as_deref());
            at = parent.as_ref();
        }
        messages.reverse();
        let mut list = b"[".to_vec();
        list.extend(messages.join(&b','));
        list.push(b']');
        list
    }
}

fn message(step: &Step<'_>, role: &str, parts: &[Part<'_>]) -> Vec<u8> {
    let mut composer = Composer::default();
    composer.text("id", &step.id);
    composer.text("role", role);
    match parts {
        [Part::Text(text)] => composer.raw("content", *text),
        _ => composer.text("content", &plain(parts)),
    }
    composer.text("timestamp", &step.iso());
    composer.flag("pending", false);
    let mut message = b"{".to_vec();
    message.extend(composer.finish().0);
    message.push(b'}');
    message
}
