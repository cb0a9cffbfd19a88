//! Reading: a rollout, and those it builds on, into entries.

mod event;
mod said;

use std::borrow::Cow;
use std::io::Read;

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw};
use ramus_model::{EntryId, time};
use sha2::{Digest as _, Sha256};

use super::AGENT;
use super::item::Item;
use super::pending::{self, Behind, Pending};
use crate::compose::Composer;
use crate::emit::{Emitter, New};
use crate::error::Error;
use crate::expand::expanded;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::record::Record;
use crate::sink::{ForkPoint, Report, Sink, Start};
use crate::source::{Source, Wanted};

/// Names of tools are remembered for calls that have no outcome yet, so many of them at most.
const MAX_CALLS: usize = 100_000;

/// Reads a thread.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let (thread, rollout) = ids_in(source.name());
    let id = match (&thread, &rollout) {
        (Some(thread), Some(rollout)) => format!("{thread}.{rollout}"),
        (Some(thread), None) => thread.clone(),
        _ => source.name().to_owned(),
    };
    let start = Start { id, title: source.title(), format: Some(Format::Codex), ..Start::default() };
    let key = rollout.clone().or(thread).unwrap_or_else(|| source.name().to_owned());
    let mut reader = Reader {
        source,
        limits,
        emitter: Emitter::new(sink, AGENT, start),
        pending: Pending::default(),
        names: HashMap::new(),
        turns: Vec::new(),
        provider: String::new(),
        model: String::new(),
        key,
        is_second_rollout: rollout.is_some(),
    };
    reader.file(source.open()?, None)?;
    reader.settle()?;
    reader.emitter.finish()
}

/// The ids in the name of a rollout: `rollout-<time>-<thread>[_<rollout>].jsonl[.zst]`.
fn ids_in(name: &str) -> (Option<String>, Option<String>) {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    let Some(ids) = name.strip_prefix("rollout-").and_then(|name| name.get(20..)) else { return (None, None) };
    match ids.split_once('_') {
        Some((thread, rollout)) => (Some(thread.to_owned()), Some(rollout.to_owned())),
        None => (Some(ids.to_owned()), None),
    }
}

struct Reader<'s> {
    source: &'s dyn Source,
    limits: Limits,
    emitter: Emitter<'s>,
    pending: Pending,
    names: HashMap<String, String>,
    /// For every turn: what it hangs from, which is where undoing it leads.
    turns: Vec<Option<EntryId>>,
    provider: String,
    model: String,
    /// What the ids of entries are made from: the rollout that is being read, and the place of the record in it.
    key: String,
    is_second_rollout: bool,
}

/// How much of a rollout is read.
#[derive(Clone, Copy)]
struct Until {
    ordinal: u64,
    /// How many rollouts stand in front of this one.
    depth: usize,
}

impl Reader<'_> {
    /// Reads a rollout: the one that was asked for, or the beginning of one that it builds on.
    fn file(&mut self, reader: Box<dyn Read + '_>, until: Option<Until>) -> Result<(), Error> {
        let mut lines = Lines::new(expanded(reader, self.limits)?, self.limits);
        let mut first = true;
        let mut next_ordinal = None;
        while let Some(line) = lines.next()? {
            let Some(record) = Record::take(&line, &mut self.emitter)? else { continue };
            let Some(object) = record.object() else { continue };
            let ordinal = object.field("ordinal").and_then(Raw::unsigned);
            if until.is_some_and(|until| ordinal.unwrap_or(record.line - 1) >= until.ordinal) {
                break;
            }
            let Some(payload) = object.field("payload").and_then(Raw::object) else {
                self.emitter.report.records += 1;
                self.bare(&record, &object, first && until.is_none())?;
                first = false;
                continue;
            };
            let kind = object.text("type").unwrap_or_default();
            if first && kind == "session_meta" {
                first = false;
                self.meta(&record, &payload, until)?;
                next_ordinal = ordinal.map(|ordinal| ordinal + 1);
                continue;
            }
            self.emitter.report.records += 1;
            if let (Some(expected), Some(found)) = (next_ordinal, ordinal)
                && found > expected
            {
                self.settle()?;
                let id = self.entry_id(expected);
                self.emitter.bridge(&id, object.text("timestamp").as_deref(), Some(found - expected))?;
            }
            next_ordinal = ordinal.map(|ordinal| ordinal.saturating_add(1)).or(next_ordinal);
            self.record(&record, &object, &kind, &payload)?;
            if self.pending.is_full() || self.emitter.is_full() {
                self.settle()?;
                self.emitter.flush()?;
            }
        }
        Ok(())
    }

    /// Takes a line of the first versions, which wrote items bare behind a line with the id.
    fn bare(&mut self, record: &Record<'_>, line: &Object<'_>, first: bool) -> Result<(), Error> {
        if line.field("type").is_some() {
            self.item(record, line, line)?;
            if self.pending.is_full() || self.emitter.is_full() {
                self.settle()?;
                self.emitter.flush()?;
            }
            return Ok(());
        }
        if let Some(id) = line.text("id").filter(|id| first && !id.is_empty()) {
            self.key = id.into_owned();
            self.emitter.start.id.clone_from(&self.key);
            let created = line.text("timestamp").filter(|text| time::parse(text).is_some());
            self.emitter.start.created = created.map(Cow::into_owned).unwrap_or_default();
            self.provider = "openai".to_owned();
        }
        self.wait(record);
        Ok(())
    }

    /// Takes the first line. What the thread builds on is read in its place.
    fn meta(&mut self, record: &Record<'_>, payload: &Object<'_>, until: Option<Until>) -> Result<(), Error> {
        let text = |name: &str| payload.text(name).map(|text| text.into_owned()).filter(|text| !text.is_empty());
        if until.is_none() {
            self.emitter.report.records += 1;
            let start = &mut self.emitter.start;
            if let Some(id) = text("id").filter(|_| !self.is_second_rollout) {
                self.key.clone_from(&id);
                start.id = id;
            }
            start.cwd = text("cwd").unwrap_or_default();
            start.created = text("timestamp").filter(|text| time::parse(text).is_some()).unwrap_or_default();
            start.version = text("cli_version");
            start.parent = text("parent_thread_id").or_else(|| spawner(payload));
            let origin = text("forked_from_id");
            start.forked_from = origin.map(|session| ForkPoint { session, entry: None });
            self.emitter.keep(record.whole());
        } else if until.is_some_and(|until| until.depth == 1) {
            // `forked_from_id` is inherited by whatever is made of a fork; what a rollout builds on is what it was made of.
            let thread = text("id").filter(|thread| *thread != self.key);
            let session = thread.map_or_else(|| self.key.clone(), |thread| format!("{thread}.{}", self.key));
            self.emitter.start.forked_from = Some(ForkPoint { session, entry: None });
        }
        self.provider = text("model_provider").unwrap_or_else(|| "openai".to_owned());
        self.base(payload, until)
    }

    /// Reads the beginning of the rollout that this one continues.
    fn base(&mut self, payload: &Object<'_>, until: Option<Until>) -> Result<(), Error> {
        let Some(base) = payload.field("history_base").and_then(Raw::object) else { return Ok(()) };
        let (Some(id), Some(end)) =
            (base.text("thread_id"), base.field("end_ordinal_exclusive").and_then(Raw::unsigned))
        else {
            return self.emitter.lose(None, "the thread builds on another one and does not say on which part of it");
        };
        let depth = until.map_or(0, |until| until.depth) + 1;
        if depth > self.limits.bases {
            return Err(Error::Limit(format!("more than {} rollouts build on one another", self.limits.bases)));
        }
        match self.source.other(Wanted::Rollout(&id))? {
            Some(reader) => {
                let key = std::mem::replace(&mut self.key, id.into_owned());
                self.file(reader, Some(Until { ordinal: end, depth }))?;
                self.settle()?;
                self.emitter.flush()?;
                self.key = key;
            }
            None => {
                let id = self.entry_id(end.saturating_sub(1));
                self.emitter.flush()?;
                self.emitter.bridge(&id, None, Some(end))?;
            }
        }
        Ok(())
    }

    /// The id of the entry that a record becomes: the same in every thread that builds on the rollout.
    fn entry_id(&self, ordinal: u64) -> String {
        let mut hash = Sha256::new();
        hash.update(self.key.as_bytes());
        hash.update(ordinal.to_be_bytes());
        let mut id = hex::encode(hash.finalize());
        id.truncate(12);
        id
    }

    fn id_of(&self, record: &Record<'_>) -> String {
        let ordinal = record.object().and_then(|object| object.field("ordinal")?.unsigned());
        self.entry_id(ordinal.unwrap_or(record.line - 1))
    }

    fn record(
        &mut self,
        record: &Record<'_>,
        line: &Object<'_>,
        kind: &str,
        payload: &Object<'_>,
    ) -> Result<(), Error> {
        if let Some((tokens, response)) = pending::usage(kind, payload).filter(|_| !self.pending.is_empty()) {
            self.pending.used(tokens, response);
            self.wait(record);
            return self.settle();
        }
        match kind {
            "response_item" => return self.item(record, line, payload),
            "compacted" => return self.compaction(record, line, payload),
            "turn_context" => {
                if let Some(model) = payload.text("model") {
                    self.settle()?;
                    self.model = model.into_owned();
                }
            }
            "event_msg" => match &*payload.text("type").unwrap_or_default() {
                "thread_rolled_back" => return self.roll_back(record, line, payload),
                "thread_name_updated" => return self.title(record, line, payload),
                _ => {}
            },
            _ => {}
        }
        self.wait(record);
        Ok(())
    }

    /// Keeps a record that is no entry, behind the answer that is coming in.
    fn wait(&mut self, record: &Record<'_>) {
        match self.pending.is_empty() {
            true => self.emitter.keep(record.whole()),
            false => self.pending.wait(Behind::Record(record.whole())),
        }
    }

    fn give(
        &mut self,
        kind: &'static str,
        record: &Record<'_>,
        line: &Object<'_>,
        composer: Composer<'_>,
    ) -> Result<(), Error> {
        let (members, holes) = composer.finish();
        let (id, time, records) = (self.id_of(record), line.text("timestamp"), [record.kept(holes)]);
        let new =
            New { kind, id: &id, timestamp: time.as_deref(), members: &members, records: &records, ..New::default() };
        self.emitter.entry(&new).map(drop)
    }
}

/// The thread that spawned this one, as rollouts say it that do not say it for themselves.
fn spawner(payload: &Object<'_>) -> Option<String> {
    let source = payload.field("source")?.field("subagent")?.field("thread_spawn")?;
    let thread = source.field("parent_thread_id")?.text()?;
    (!thread.is_empty()).then(|| thread.into_owned())
}

/// Writes when a message was said.
fn stamp(message: &mut Composer<'_>, line: &Object<'_>) {
    if let Some(millis) = line.text("timestamp").and_then(|text| time::parse(&text)) {
        message.number("timestamp", millis);
    }
}

/// What is said in the history that replaces what came before, when there is no summary of it.
fn history_text(payload: &Object<'_>) -> String {
    let items = payload.field("replacement_history").into_iter().flat_map(Raw::items);
    let said = items.filter(|item| item.object().is_some_and(|item| Item::of(&item) != Item::Beside));
    let texts = said
        .filter_map(|item| item.field("content"))
        .flat_map(Raw::items)
        .filter_map(|part| part.field("text")?.text());
    texts.collect::<Vec<_>>().join("\n\n")
}
