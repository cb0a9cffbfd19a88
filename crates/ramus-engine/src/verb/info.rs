//! `info`: what a list shows of a session.

use std::collections::HashMap;
use std::path::PathBuf;

use ramus_model::json::Raw;
use ramus_model::message::{Message, Usage};
use ramus_model::usage::{ModelName, UsageTotals};
use ramus_model::{EntryId, Kind, Origin, Project, Role, Seq, SessionId, time};
use ramus_store::{Health, Residence, Runner};
use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::session::Session;

/// What a list shows of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// The id.
    pub id: SessionId,
    /// The file.
    pub path: Option<PathBuf>,
    /// Where it stands between draft and published.
    pub residence: Residence,
    /// The title to show.
    pub title: String,
    /// The working directory.
    pub cwd: String,
    /// How many messages there are, on all branches.
    pub messages: usize,
    /// How many entries there are, inert ones included.
    pub entries: usize,
    /// When it was created, as written.
    pub created: String,
    /// When its newest message was written, or when it was created if that is later.
    pub updated: String,
    /// Milliseconds since 1970 of `updated`, for sorting.
    pub updated_millis: i64,
    /// The owner.
    pub owner: String,
    /// The version of the engine that made it.
    pub engine_version: Option<String>,
    /// The provider of the model in force at the leaf.
    pub provider: Option<String>,
    /// The model in force at the leaf.
    pub model: Option<String>,
    /// Where it comes from.
    pub lineage: Lineage,
    /// Tokens and cost of all answers.
    pub usage: UsageTotals,
    /// Tokens of the last prompt.
    pub last_prompt_tokens: u64,
    /// Tokens of the last answer.
    pub last_completion_tokens: u64,
    /// When it was archived, if it is.
    pub archived_at: Option<String>,
    /// The repository that the working directory was in when the session was made.
    pub project: Option<Project>,
    /// The tags, in order, each once.
    pub tags: Vec<String>,
    /// Whether it is starred.
    pub starred: bool,
    /// Free metadata.
    pub metadata: Map<String, Value>,
    /// Whether the file is damaged.
    pub damaged: bool,
    /// What must be known first.
    pub status: SessionStatus,
}

/// What must be known about a session first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionStatus {
    /// Nothing goes on and nothing is wrong.
    #[default]
    Idle,
    /// A process runs turns in it.
    Running(Runner),
    /// Reading showed damage.
    Damaged,
    /// Its last write failed; reading works.
    Degraded,
}

impl SessionStatus {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running(_) => "running",
            Self::Damaged => "damaged",
            Self::Degraded => "degraded",
        }
    }
}

/// Where a session comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The session that spawned it.
    pub parent: Option<SessionId>,
    /// The entry it was forked from.
    pub forked_from: Option<Origin>,
    /// The opaque lineage string of version 3.
    pub parent_session: Option<String>,
}

/// What one pass over the messages of a session finds.
#[derive(Default)]
struct Survey {
    messages: usize,
    usage: UsageTotals,
    newest: Option<i64>,
}

impl Session {
    /// Collects what a list shows. Reads every message once.
    pub fn info(&self) -> Result<SessionInfo, EngineError> {
        let header = self.log().header();
        let survey = self.survey()?;
        let created = header.map(|header| header.timestamp.clone()).unwrap_or_default();
        let created_millis = time::parse(&created);
        // A fork is at least as new as itself, whatever it shares.
        let updated_millis = survey.newest.max(created_millis).unwrap_or_default();
        let model = self.context(self.log().leaf())?.state.models.remove("default");
        let last = self.last_answer()?;
        let last_usage = last.and_then(|message| message.answer).and_then(|answer| answer.usage).unwrap_or_default();
        let ramus = header.map(|header| &header.ramus);
        Ok(SessionInfo {
            id: self.id().clone(),
            path: self.location().path.clone(),
            residence: self.residence(),
            title: self.title(),
            cwd: self.cwd().to_owned(),
            messages: survey.messages,
            entries: self.log().own_len(),
            updated: if updated_millis == 0 { created.clone() } else { time::format(updated_millis) },
            created,
            updated_millis,
            owner: ramus.and_then(|ramus| ramus.owner.clone()).unwrap_or_else(|| "default".to_owned()),
            engine_version: ramus.and_then(|ramus| ramus.engine.clone()),
            provider: model.as_deref().and_then(|model| model.split_once('/')).map(|(provider, _)| provider.to_owned()),
            model,
            lineage: self.lineage(),
            usage: survey.usage,
            last_prompt_tokens: last_usage.prompt(),
            last_completion_tokens: last_usage.output,
            archived_at: self.archived_at(),
            project: ramus.and_then(|ramus| ramus.project.clone()),
            tags: self.tags(),
            starred: self.starred(),
            metadata: self.metadata(),
            damaged: self.log().is_damaged(),
            status: self.status(),
        })
    }

    /// Says what must be known first. Whether the file is damaged is told beside it, so what is going on comes before.
    pub fn status(&self) -> SessionStatus {
        if !matches!(self.health(), Health::Healthy) {
            return SessionStatus::Degraded;
        }
        // A lock that cannot be asked stands in nobody's way here.
        match self.store.runner(self.location()) {
            Ok(Some(runner)) => SessionStatus::Running(runner),
            _ if self.log().is_damaged() => SessionStatus::Damaged,
            _ => SessionStatus::Idle,
        }
    }

    /// Returns where the session comes from.
    pub fn lineage(&self) -> Lineage {
        let Some(header) = self.log().header() else { return Lineage::default() };
        let forked = header.ramus.forked_from.as_ref().map(|fork| fork.origin.clone());
        Lineage {
            parent: header.ramus.parent.clone(),
            forked_from: forked.or_else(|| header.ramus.copied_from.clone()),
            parent_session: header.parent_session.clone(),
        }
    }

    /// Returns when the session was archived, if it is.
    pub fn archived_at(&self) -> Option<String> {
        self.log().facts().meta().get("archived_at").and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns the tags, in order, each once.
    pub fn tags(&self) -> Vec<String> {
        let tags = self.log().facts().meta().get("tags").and_then(Value::as_array).into_iter().flatten();
        let mut tags: Vec<String> = tags.filter_map(Value::as_str).map(str::to_owned).collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// Says whether the session is starred.
    pub fn starred(&self) -> bool {
        self.log().facts().meta().get("starred") == Some(&Value::Bool(true))
    }

    /// Returns the ends of all branches.
    pub fn leaves(&self) -> Vec<EntryId> {
        self.tree(ramus_model::Scope::Visible).leaves.iter().map(|seq| self.entry_id(*seq)).collect()
    }

    fn survey(&self) -> Result<Survey, EngineError> {
        let mut survey = Survey::default();
        let mut responses: HashMap<String, (ModelName, Usage)> = HashMap::new();
        let lines = self.lines();
        for seq in self.log().visible() {
            let Some(record) = self.log().record(seq).filter(|record| record.kind == Kind::Message) else { continue };
            survey.messages += 1;
            if !matches!(record.role, Role::User | Role::Assistant) {
                continue;
            }
            let Some(place) = self.log().place(seq) else { continue };
            let line = ramus_model::Lines::line(&lines, place)?;
            let Some(raw) = Raw::parse(&line) else { continue };
            let Some(message) = Message::of_entry(raw) else { continue };
            let written = raw.field("timestamp").and_then(Raw::text).and_then(|text| time::parse(&text));
            survey.newest = survey.newest.max(message.timestamp.or(written));
            let answer =
                message.answer.and_then(|answer| Some((ModelName::of(&answer), answer.response, answer.usage?)));
            match answer {
                // Of the messages of one response the last one counts.
                Some((model, Some(response), usage)) => drop(responses.insert(response, (model, usage))),
                Some((model, None, usage)) => survey.usage.add(&model, &usage),
                None => {}
            }
        }
        responses.values().for_each(|(model, usage)| survey.usage.add(model, usage));
        Ok(survey)
    }

    fn last_answer(&self) -> Result<Option<Message>, EngineError> {
        let is_answer = |seq: &Seq| self.log().record(*seq).is_some_and(|record| record.role == Role::Assistant);
        match self.log().ancestors(self.log().leaf()).find(is_answer) {
            Some(seq) => self.message(seq),
            None => Ok(None),
        }
    }
}
