//! `compact`: the older part of a path becomes a summary. Nothing is removed: the summary is an entry like any other, so
//! going back to before it undoes it.
//!
//! The invariant: what a model is sent gets shorter, or nothing is written.

mod files;
mod plain;
mod transcript;

use std::sync::Arc;

use ramus_model::budget::{self, Keep, Plan, Weighed, What};
use ramus_model::json::Raw;
use ramus_model::tokens::{self, Counter};
use ramus_model::{Body, EntryId, Seq};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
pub use files::Files;
pub use transcript::Transcript;

/// How much is kept when nobody says.
pub const KEEP: Keep = Keep::Tokens(20_000);

/// How a path is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compact {
    /// How much is kept as it is.
    pub keep: Keep,
    /// Whether the last two messages are kept when that much would keep everything.
    pub force: bool,
}

impl Default for Compact {
    fn default() -> Self {
        Self { keep: KEEP, force: false }
    }
}

/// A compaction that can be made.
#[derive(Clone)]
pub struct Prepared {
    path: Vec<Weighed>,
    plan: Plan,
    /// The leaf that it is made for.
    leaf: Option<Seq>,
    /// What the last compaction said, if there is one on the path.
    pub previous: Option<String>,
    /// The files that were read and changed in what is summarised.
    pub files: Files,
    tokens_before: u64,
    messages_before: usize,
    /// What the context is estimated to have, and what of it is kept.
    estimate_before: u64,
    estimate_kept: u64,
    messages_kept: usize,
    counter: Arc<dyn Counter>,
}

/// What a compaction did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Its entry; none when nothing was written.
    pub entry: Option<EntryId>,
    /// The first entry that is kept; none when there is nothing to summarise.
    pub first_kept: Option<EntryId>,
    /// The tokens of the context before and after.
    pub tokens: (u64, u64),
    /// The messages of the context before and after.
    pub messages: (usize, usize),
    /// The summary.
    pub summary: String,
}

impl Engine {
    /// Finds out what a compaction of the path to the leaf would summarise. None when there is nothing to do.
    pub fn prepare_compaction(&self, session: &Session, how: Compact) -> Result<Option<Prepared>, EngineError> {
        let leaf = session.log().leaf();
        let context = session.context(leaf)?;
        let lines = session.lines();
        let path = session.log().path(leaf);
        let weighed = budget::weigh(session.log(), &path, &lines, &*self.counter)?;
        let start = budget::start(session.log(), &path, context.compacted_by, &lines)?;
        let previous = context.compacted_by.map(|last| session.summary_of(last)).transpose()?.flatten();
        let plan = budget::plan(&weighed, start, how.keep).or_else(|| {
            let messages = weighed.iter().skip(start).filter(|entry| is_message(entry.what)).count();
            (how.force && messages > 2).then(|| budget::plan(&weighed, start, Keep::Messages(2))).flatten()
        });
        let Some(plan) = plan else { return Ok(None) };
        let kept = weighed.get(plan.first_kept..).unwrap_or_default();
        let old_summary = previous.as_deref().map_or(0, |text| self.counter.count(&[text]));
        let files = session.files_of(&weighed, &plan, context.compacted_by)?;
        Ok(Some(Prepared {
            leaf,
            previous,
            files,
            tokens_before: tokens::count_context(session.log(), &context, &lines, &*self.counter)?,
            messages_before: context.items.len(),
            estimate_before: weighed.iter().skip(start).map(|entry| entry.tokens).sum::<u64>() + old_summary,
            estimate_kept: kept.iter().map(|entry| entry.tokens).sum(),
            counter: Arc::clone(&self.counter),
            messages_kept: kept.iter().filter(|entry| is_message(entry.what)).count(),
            path: weighed,
            plan,
        }))
    }

    /// Writes a compaction with this summary.
    pub fn compact(&self, session: &mut Session, prepared: &Prepared, summary: &str) -> Result<Compacted, EngineError> {
        if session.log().leaf() != prepared.leaf {
            return Err(EngineError::Conflict("the session went on while it was summarised".into()));
        }
        let summary = prepared.files.appended_to(summary);
        let mut compacted = prepared.outcome(session, summary)?;
        let Some(first_kept) = &compacted.first_kept else { return Ok(compacted) };
        let body = Body::new(
            "compaction",
            [
                ("summary", Value::from(compacted.summary.clone())),
                ("firstKeptEntryId", Value::from(first_kept.as_str())),
                ("tokensBefore", Value::from(prepared.tokens_before)),
                ("details", prepared.files.to_json()),
            ],
        );
        compacted.entry = Some(self.record_one(session, "compact", body)?.id);
        Ok(compacted)
    }
}

impl Prepared {
    /// Says what a compaction with this summary comes to. One that makes nothing shorter is refused.
    pub fn outcome(&self, session: &Session, summary: String) -> Result<Compacted, EngineError> {
        let after = self.estimate_kept + self.counter.count(&[&summary]);
        if after >= self.estimate_before {
            return Err(EngineError::Conflict(format!(
                "the summary would not make the context shorter: {} tokens before, {after} after",
                self.estimate_before
            )));
        }
        let first_kept = self.path.get(self.plan.first_kept).map(|entry| session.entry_id(entry.seq));
        Ok(Compacted {
            entry: None,
            first_kept,
            tokens: (self.tokens_before, after),
            messages: (self.messages_before, self.messages_kept + 1),
            summary,
        })
    }

    /// Returns what is summarised, as text for a model.
    pub fn transcript(&self, session: &Session) -> Result<Transcript, EngineError> {
        transcript::of(session, &self.path, &self.plan)
    }

    /// Summarises without a model: what was asked, how much was said, and which files were touched.
    pub fn plain_summary(&self, session: &Session) -> Result<String, EngineError> {
        plain::summary(session, &self.path, &self.plan, self.previous.as_deref())
    }
}

impl Session {
    /// What a compaction says.
    fn summary_of(&self, compaction: Seq) -> Result<Option<String>, EngineError> {
        let line = self.line(compaction)?;
        Ok(Raw::parse(&line).and_then(|raw| raw.field("summary")).and_then(Raw::text).map(|text| text.into_owned()))
    }
}

fn is_message(what: What) -> bool {
    !matches!(what, What::Other | What::Compaction)
}

impl Compacted {
    /// Nothing was to be done.
    pub fn nothing(tokens: u64, messages: usize) -> Self {
        Self {
            entry: None,
            first_kept: None,
            tokens: (tokens, tokens),
            messages: (messages, messages),
            summary: String::new(),
        }
    }
}
