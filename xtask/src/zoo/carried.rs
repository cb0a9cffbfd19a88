//! Our side of a pair: what was read of an agent's session, and the same written where another agent looks for it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use ramus_interchange::place::destination;
use ramus_interchange::{LogPassage, MemoryTarget, Start, TAKEN_ID, taken_id};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use ramus_model::{Depth, Log};

use super::agent::Session;
use super::history::Item;
use super::stage::Stage;
use super::{RESUMED, judge, store};

/// A session of ours that came from an agent.
pub(super) struct Carried {
    pub(super) log: Vec<u8>,
    /// Records of the store, all of which are kept.
    pub(super) records: u64,
    pub(super) sessions: u64,
}

impl Carried {
    /// Reads everything that an agent stored, and takes the session in which the prompt is.
    pub(super) fn read(stage: &Stage<'_>, prompt: &str) -> Result<Self> {
        let mut found = Vec::new();
        let (mut records, mut sessions) = (0, 0);
        for stored in store::find(stage.agent.format(), &stage.environment())? {
            let (read, report) =
                stored.read(stage.agent.format()).with_context(|| stored.path.display().to_string())?;
            records += report.records;
            sessions += report.sessions;
            for session in read.sessions {
                let said = items(&session.bytes)?;
                if said.iter().any(|item| matches!(item, Item::User(text) if text.trim() == prompt.trim())) {
                    found.push(session.bytes);
                }
            }
        }
        ensure!(found.len() == 1, "the prompt is in {} of {sessions} sessions", found.len());
        let log = found.pop().context("there is one")?;
        Ok(Self { log, records, sessions })
    }

    /// Writes the session for an agent, lets it resume, and returns what it sent.
    pub(super) fn resumed_by(&self, stage: &Stage<'_>, folder: &Path, id: &str) -> Result<Vec<Item>> {
        let start = Start {
            id: id.to_owned(),
            cwd: stage.work.to_string_lossy().into_owned(),
            created: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
            ..Start::default()
        };
        let format = stage.agent.format();
        let peek = |path: &Path| fs::read_to_string(path).ok();
        let place = destination(format, &stage.environment(), &start, &peek);
        for marker in place.markers.iter().filter(|marker| !marker.path.exists()) {
            fs::create_dir_all(marker.path.parent().context("a marker lies in a folder")?)?;
            fs::write(&marker.path, &marker.content)?;
        }
        let mut target = MemoryTarget::default();
        format.codec().write(&LogPassage::new(&self.log).starting(start), &mut target)?;
        let folder = place.directory.as_deref().unwrap_or(folder);
        fs::create_dir_all(folder)?;
        for (name, bytes) in &target.files {
            fs::write(folder.join(name), bytes)?;
        }
        let mut id = place.resume.last().cloned().unwrap_or_default();
        if let Some((_, arguments)) = place.import.split_first() {
            let file = folder.join(&place.file).to_string_lossy().into_owned();
            let said = stage.run(&arguments.iter().cloned().chain([file]).collect::<Vec<_>>())?;
            if id == TAKEN_ID {
                id = taken_id(&said).with_context(|| format!("no session is named: {said}"))?.to_owned();
            }
        }
        Ok(judge::own(stage.agent, &stage.prompt(Session::Named(&id), RESUMED.prompt)?.0))
    }
}

/// The summary that stands for what came before, when a log was compacted.
pub(super) fn summary(log: &[u8]) -> Result<Option<String>> {
    let read = Log::from_bytes(log, Depth::Envelope);
    let context = ramus_model::context::build(&read, read.leaf(), log)?;
    let compacted = context.items.iter().any(|item| matches!(item, ramus_model::context::Item::CompactionSummary(_)));
    Ok(if compacted {
        items(log)?.into_iter().find_map(|item| if let Item::User(text) = item { Some(text) } else { None })
    } else {
        None
    })
}

/// What a model would be sent of a log.
pub(super) fn items(log: &[u8]) -> Result<Vec<Item>> {
    let read = Log::from_bytes(log, Depth::Envelope);
    let context = ramus_model::context::build(&read, read.leaf(), log)?;
    let mut items = Vec::new();
    for item in &context.items {
        let place = read.place(item.seq()).context("an entry has a place")?;
        let from = usize::try_from(place.offset)?;
        let bytes = log.get(from..from + usize::try_from(place.len)?).context("an entry is in the log")?;
        let raw = Raw::parse(bytes).context("an entry is JSON")?;
        let Some(message) = Message::of_entry(raw) else { continue };
        let text = |part: &Part| if let Part::Text(text) = part { Some(text.clone()) } else { None };
        if let Some(result) = &message.result {
            let text = message.parts.iter().filter_map(text).collect();
            items.push(Item::Result { id: result.call.to_string(), text });
            continue;
        }
        for part in &message.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) if message.role_name == "assistant" => items.push(Item::Assistant(text.clone())),
                Part::Text(text) => items.push(Item::User(text.clone())),
                Part::ToolCall { id, name, arguments } => items.push(Item::Call {
                    id: id.to_string(),
                    name: name.to_string(),
                    arguments: serde_json::from_str(&arguments.to_string())?,
                }),
                _ => {}
            }
        }
    }
    Ok(items)
}
