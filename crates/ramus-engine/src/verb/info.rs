//! `info`: what a list shows of a session.

use std::path::PathBuf;

use ramus_model::json::Raw;
use ramus_model::usage::UsageTotals;
use ramus_model::{EntryId, ImportedFrom, Kind, Origin, Project, Seq, SessionId, time};
use ramus_store::{Health, Residence, Runner};
use serde_json::{Map, Value};

use crate::engine::DEFAULT_OWNER;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::describe::Gist;
use crate::verb::revert::RevertMark;
use crate::verb::survey::Survey;
use crate::workspace::{Summary, short};

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
    /// When its older part was last summarised, on the path to the leaf.
    pub compacted_at: Option<String>,
    /// The repository that the working directory was in when the session was made or moved there. Lists say what is there
    /// now when nothing was recorded.
    pub project: Option<Project>,
    /// The directory that was asked for, when what `cwd` held is proven to be there now.
    pub moved_to: Option<String>,
    /// The tags, in order, each once.
    pub tags: Vec<String>,
    /// Whether it is starred.
    pub starred: bool,
    /// Free metadata.
    pub metadata: Map<String, Value>,
    /// What its model may do beside what settings say, as it is stored.
    pub permission: Value,
    /// The workspace it works in.
    pub workspace: Workspace,
    /// The state of that workspace.
    pub git: GitState,
    /// What its turns changed in files, along the path to the leaf.
    pub summary: Summary,
    /// The newest snapshot of its files on that path.
    pub latest_snapshot: Option<String>,
    /// The revert that can be taken back.
    pub revert: Option<RevertMark>,
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
    /// The file of another agent that it was read from.
    pub imported_from: Option<ImportedFrom>,
}

/// The workspace of a session, as its metadata tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Where it is.
    pub root: Option<String>,
    /// Where the session sees it.
    pub mount: Option<String>,
    /// Under which name it is kept.
    pub session: Option<String>,
}

/// The state of a workspace, as the session's metadata tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitState {
    /// The commit it is at.
    pub commit: Option<String>,
    /// Whether it has changes.
    pub dirty: Option<bool>,
}

impl Session {
    /// Collects what a list shows. Reads every message once.
    pub fn info(&self) -> Result<SessionInfo, EngineError> {
        self.info_of_survey(self.survey()?)
    }

    /// Collects what a list shows when the messages were counted already.
    pub(crate) fn info_of_survey(&self, survey: Survey) -> Result<SessionInfo, EngineError> {
        self.info_of_gist(self.gist(survey)?)
    }

    /// Collects what a list shows when the messages were read already.
    pub(crate) fn info_of_gist(&self, gist: Gist) -> Result<SessionInfo, EngineError> {
        let header = self.log().header();
        let created = header.map(|header| header.timestamp.clone()).unwrap_or_default();
        let created_millis = time::parse(&created);
        // A fork is at least as new as itself, whatever it shares.
        let updated_millis = gist.newest.max(created_millis).unwrap_or_default();
        let (model, account) = (gist.model, gist.account);
        let ramus = header.map(|header| &header.ramus);
        let git = self.git_state();
        Ok(SessionInfo {
            id: self.id().clone(),
            path: self.location().path.clone(),
            residence: self.residence(),
            title: self.title(),
            cwd: self.cwd().to_owned(),
            messages: gist.messages,
            entries: self.log().own_len(),
            updated: if updated_millis == 0 { created.clone() } else { time::format(updated_millis) },
            created,
            updated_millis,
            owner: ramus.and_then(|ramus| ramus.owner.clone()).unwrap_or_else(|| DEFAULT_OWNER.to_owned()),
            engine_version: ramus.and_then(|ramus| ramus.engine.clone()),
            provider: model.as_deref().and_then(|model| model.split_once('/')).map(|(provider, _)| provider.to_owned()),
            model,
            lineage: self.lineage(),
            usage: gist.usage,
            last_prompt_tokens: gist.last_prompt_tokens,
            last_completion_tokens: gist.last_completion_tokens,
            archived_at: self.archived_at(),
            compacted_at: self.compacted_at()?,
            project: self.project(),
            moved_to: None,
            tags: self.tags(),
            starred: self.starred(),
            metadata: self.metadata(),
            permission: self.stored_rules(),
            workspace: self.workspace(),
            // What somebody reported counts before what was seen.
            git: if git == GitState::default() { account.git } else { git },
            summary: account.summary,
            latest_snapshot: account.latest.map(short),
            revert: self.revert_mark()?,
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
            forked_from: forked.or_else(|| header.ramus.copied_from.clone()).or_else(|| self.copied_from()),
            parent_session: header.parent_session.clone(),
            imported_from: header.ramus.imported_from.clone(),
        }
    }

    /// Where its copied entries come from, when that was found out after it was made.
    fn copied_from(&self) -> Option<Origin> {
        let origin = self.log().facts().meta().get("copied_from")?;
        let text = |name: &str| origin.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        Some(Origin { session: SessionId::from(text("session")?), entry: EntryId::from(text("entry")?) })
    }

    /// Returns when its older part was last summarised. A clear summarises nothing.
    fn compacted_at(&self) -> Result<Option<String>, EngineError> {
        let log = self.log();
        let is_compaction = |seq: &Seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Compaction);
        for compaction in log.ancestors(log.leaf()).filter(is_compaction) {
            let line = self.line(compaction)?;
            let text = |name| Raw::parse(&line).and_then(|raw| raw.field(name)).and_then(Raw::text);
            if text("summary").is_some_and(|summary| !summary.is_empty()) {
                return Ok(text("timestamp").map(|text| text.into_owned()));
            }
        }
        Ok(None)
    }

    /// Returns when the session was archived, if it is.
    pub fn archived_at(&self) -> Option<String> {
        self.log().facts().meta().get("archived_at").and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns the repository that is recorded for the working directory.
    pub fn project(&self) -> Option<Project> {
        let meta = self.log().facts().meta();
        match meta.get("cwd") {
            // Where it was started says nothing about where it was moved to.
            Some(_) => meta.get("project").and_then(Project::from_json),
            None => self.log().header().and_then(|header| header.ramus.project.clone()),
        }
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

    /// Returns what the metadata says about the workspace.
    pub fn workspace(&self) -> Workspace {
        let text = |name| self.fact("workspace", name).and_then(Value::as_str).map(str::to_owned);
        Workspace { root: text("root"), mount: text("mount"), session: text("session") }
    }

    /// Returns what the metadata says about the state of the workspace.
    pub fn git_state(&self) -> GitState {
        let commit = self.fact("git", "commit").and_then(Value::as_str).map(str::to_owned);
        GitState { commit, dirty: self.fact("git", "dirty").and_then(Value::as_bool) }
    }

    fn fact(&self, object: &str, member: &str) -> Option<&Value> {
        self.log().facts().meta().get(object)?.get(member)
    }

    /// Says whether reading showed that something else changed the file.
    pub(crate) fn is_changed_outside(&self) -> bool {
        self.log().is_changed_outside()
    }

    /// Returns the ends of all branches.
    pub fn leaves(&self) -> Vec<EntryId> {
        self.tree(ramus_model::Scope::Visible).leaves.iter().map(|seq| self.entry_id(*seq)).collect()
    }
}
