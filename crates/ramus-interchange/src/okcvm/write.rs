//! Writing: a path as the messages of a payload, and the other branches as versions of it.

mod known;
mod versions;

use std::io::Write;

use ramus_model::json::{Raw, quote};

use self::known::Known;
use super::AGENT;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::{restore, with_also, with_members};
use crate::passage::Passage;
use crate::sink::Report;
use crate::step::{Part, Step, What, parts, plain};

/// Writes a passage. Of a tree, the path to its leaf is what counts, and the other branches are versions.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let mut writer = Writer::default();
    passage.each(&mut |line| {
        if let Some(step) = Step::read(line) {
            writer.step(&step);
        }
        Ok(())
    })?;
    let start = passage.start();
    let leaf = passage.leaf().filter(|leaf| writer.steps.contains_key(*leaf)).map(str::to_owned).or(writer.leaf.take());
    let payload = writer.payload.take();
    let known = payload.as_deref().and_then(Raw::parse);
    let tree = known.map(Known::of).unwrap_or_default();
    let messages = writer.way(&tree, leaf.as_deref()).list();
    let branches = writer.branches(&tree, known, leaf.as_deref());
    let payload = match &payload {
        Some(payload) => {
            let mut title = Vec::new();
            quote(writer.title.as_deref().unwrap_or_default(), &mut title);
            let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
            let known = known.and_then(|payload| payload.field("messages"));
            if known.map(Raw::bytes) != Some(&messages) && !same(known, &messages) {
                changes.push(("messages", Some(&messages)));
            }
            if writer.title.is_some() {
                changes.push(("title", Some(&title)));
            }
            let changed = if changes.is_empty() { None } else { with_members(payload, &changes) };
            let changed = changed.unwrap_or_else(|| payload.clone());
            match &branches {
                Some(branches) => with_also(&changed, &[("branches", branches)]).unwrap_or(changed),
                None => changed,
            }
        }
        None => {
            let mut composer = Composer::default();
            composer.text("id", &start.id);
            composer.text("title", writer.title.as_deref().or(start.title.as_deref()).unwrap_or("Imported session"));
            composer.text("createdAt", &start.created);
            composer.text("updatedAt", &start.created);
            let mut payload = b"{".to_vec();
            payload.extend(composer.finish().0);
            // What tells the format stands in front: messages may be long.
            payload.extend_from_slice(b",\"branches\":");
            payload.extend(branches.as_deref().unwrap_or(b"{}"));
            payload.extend_from_slice(b",\"messages\":");
            payload.extend(&messages);
            payload.push(b'}');
            writer.losses.directory(&start.cwd);
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

/// What became of an entry.
struct Kept {
    parent: Option<String>,
    /// The bytes of the message, when it became one.
    message: Option<Vec<u8>>,
    /// The message that it hangs from.
    above: Option<String>,
    /// Whether no payload has it.
    is_fresh: bool,
    is_user: bool,
}

#[derive(Default)]
struct Writer {
    /// Every message, by its entry.
    steps: hashbrown::HashMap<String, Kept>,
    /// The messages, in their order.
    order: Vec<String>,
    leaf: Option<String>,
    payload: Option<Vec<u8>>,
    title: Option<String>,
    losses: Losses,
}

impl Writer {
    fn step(&mut self, step: &Step<'_>) {
        self.losses.entry();
        let records = restore(step.raw, AGENT);
        let is_theirs = records.is_some();
        if let Some(payload) = records.and_then(|records| records.into_iter().next()) {
            self.payload.get_or_insert(payload);
            self.losses.record(true);
            return;
        }
        let parent = step.parent.as_deref().map(str::to_owned);
        let message = self.message(step, is_theirs);
        match &step.what {
            What::Other(kind) if kind == "ramus.leaf" => self.leaf.clone_from(&parent),
            What::Title(title) => self.title = title.text().map(|title| title.into_owned()),
            _ => self.leaf = Some(step.id.clone().into_owned()),
        }
        let above = parent.as_ref().and_then(|parent| {
            let kept = self.steps.get(parent)?;
            if kept.message.is_some() { Some(parent.clone()) } else { kept.above.clone() }
        });
        let id = step.id.clone().into_owned();
        if message.is_some() {
            self.order.push(id.clone());
        }
        let is_user = matches!(step.what, What::User(_));
        self.steps.insert(id, Kept { parent, message, above, is_fresh: !is_theirs, is_user });
    }

    fn message(&mut self, step: &Step<'_>, is_theirs: bool) -> Option<Vec<u8>> {
        let (role, parts): (_, &[Part<'_>]) = match &step.what {
            What::User(parts) | What::Note(parts) => ("user", parts),
            What::Answer(answer) => {
                self.losses.model(answer);
                self.losses.used(answer);
                self.losses.cost(answer);
                self.losses.ending(answer);
                ("assistant", &answer.parts)
            }
            What::Compaction { summary, .. } => {
                self.losses.lose("a compaction is written as a message");
                return Some(message(step, "user", &[Part::Text(*summary)]));
            }
            What::Result(_) => {
                self.losses.lose("results of tools: OKCVM keeps what was said");
                return None;
            }
            What::System if is_theirs => {
                let content = step.raw.field("message").and_then(|message| message.field("content"));
                return Some(message(step, "system", &parts(content)));
            }
            What::System => {
                self.losses.lose("instructions: OKCVM has its own");
                return None;
            }
            What::Title(_) | What::Records => return None,
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
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
        };
        self.losses.untold(parts);
        if parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            self.losses.lose("calls of tools: OKCVM keeps what was said");
        }
        self.losses.record(false);
        Some(message(step, role, parts))
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
