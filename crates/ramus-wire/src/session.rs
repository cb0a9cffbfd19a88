//! Sessions, messages and entries.

mod brief;
mod list;
mod message;
mod written;

use std::borrow::Cow;

use ramus_engine::{RevertMark, Session, SessionInfo, Share, Summary};
use ramus_model::usage::Prices;
use ramus_model::{ImportedFrom, Origin};
use ramus_store::Residence;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use self::brief::{BriefJson, MadeSession, brief, brief_session, forked};
pub use self::list::ListJson;
pub use self::message::{KnownPart, MessageJson, MessagePage, MessagePart, UnknownPart, message, message_of};
pub use self::written::{AppendedEntries, LabelEntry, WrittenEntry, appended, labelled, written};
use crate::share::{self, KnownShare};
use crate::usage::TokenCounts;
use crate::{object_of, path, words};

/// A session as lists show it. What this version does not keep track of is null, zero or empty.
// There may be thousands, so it is written as it is, not built up first.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionJson<'i> {
    id: &'i str,
    /// The file; null when the home has none.
    #[schema(required)]
    path: Option<Cow<'i, str>>,
    title: &'i str,
    /// The directory that it works in.
    cwd: &'i str,
    /// Where that directory is now, as far as that is known.
    #[schema(required)]
    moved_to: Option<&'i str>,
    #[schema(schema_with = words::residences)]
    state: &'static str,
    messages: usize,
    entries: usize,
    /// Of a log that lost its header nobody knows.
    #[schema(required)]
    created: Option<&'i str>,
    #[schema(required)]
    updated: Option<&'i str>,
    #[schema(required)]
    compacting: Option<&'i str>,
    #[schema(required)]
    archived_at: Option<&'i str>,
    archived: bool,
    /// Whom it belongs to.
    owner: &'i str,
    #[schema(required)]
    project: Option<&'i str>,
    #[schema(required)]
    provider: Option<&'i str>,
    #[schema(required)]
    model: Option<&'i str>,
    #[schema(required)]
    engine_version: Option<&'i str>,
    /// The session that started it.
    #[schema(required)]
    parent: Option<&'i str>,
    #[schema(required)]
    forked_from: Option<OriginJson<'i>>,
    #[schema(required)]
    imported_from: Option<ImportedFromJson<'i>>,
    context_tokens: u64,
    last_prompt_tokens: u64,
    last_completion_tokens: u64,
    usage: TokenCounts,
    /// In millionths of a US dollar; null when nothing is known of it.
    #[schema(required)]
    cost_micros: Option<u64>,
    /// How many answers have no price.
    unpriced: u64,
    summary: ChangedLines,
    #[schema(required)]
    latest_snapshot: Option<&'i str>,
    git: GitJson<'i>,
    /// What is shared of it, filled in by whoever asks the home.
    #[schema(required)]
    share: Option<KnownShare<'i>>,
    #[schema(required)]
    revert: Option<RevertInForce<'i>>,
    /// The rules of the session, as they are stored.
    permission: &'i Value,
    /// Free metadata.
    metadata: &'i Map<String, Value>,
    tags: &'i [String],
    starred: bool,
    #[schema(schema_with = words::standings)]
    status: &'static str,
    damaged: bool,
}

/// How much changed in files.
#[derive(Serialize, ToSchema)]
pub struct ChangedLines {
    /// How many lines came.
    additions: u64,
    /// How many lines went.
    deletions: u64,
    /// How many files differ.
    files: u64,
}

impl From<Summary> for ChangedLines {
    fn from(summary: Summary) -> Self {
        let Summary { additions, deletions, files } = summary;
        Self { additions, deletions, files }
    }
}

/// A revert that can be taken back.
#[derive(Serialize, ToSchema)]
pub struct RevertInForce<'i> {
    /// The last message that counts.
    message: &'i str,
    /// Always null: messages are kept whole.
    #[schema(required)]
    part: Option<&'i str>,
    /// The files as they were then, if a snapshot tells.
    #[schema(required)]
    snapshot: Option<&'i str>,
    /// What the revert changed, as a unified diff; the start of it when it is long.
    diff: &'i str,
    time: &'i str,
    /// The files as they were before the revert, if it changed any.
    #[schema(required)]
    safety_snapshot: Option<&'i str>,
}

impl<'i> From<&'i RevertMark> for RevertInForce<'i> {
    fn from(mark: &'i RevertMark) -> Self {
        Self {
            message: &mark.message,
            part: mark.part.as_deref(),
            snapshot: mark.snapshot.as_deref(),
            diff: &mark.diff,
            time: &mark.time,
            safety_snapshot: mark.safety_snapshot.as_deref(),
        }
    }
}

/// An entry of another session.
#[derive(Serialize, ToSchema)]
#[schema(as = Origin)]
struct OriginJson<'i> {
    session: &'i str,
    entry: &'i str,
}

impl<'i> From<&'i Origin> for OriginJson<'i> {
    fn from(origin: &'i Origin) -> Self {
        Self { session: origin.session.as_str(), entry: origin.entry.as_str() }
    }
}

/// A session of another agent.
#[derive(Serialize, ToSchema)]
#[schema(as = ImportedFrom)]
struct ImportedFromJson<'i> {
    agent: &'i str,
    file: &'i str,
}

/// The repository that it works in, as it was when a turn last ended.
#[derive(Serialize, ToSchema)]
#[schema(as = GitState)]
struct GitJson<'i> {
    #[schema(required)]
    commit: Option<&'i str>,
    #[schema(required)]
    dirty: Option<bool>,
}

impl<'i> SessionJson<'i> {
    /// Describes a session.
    pub fn of(info: &'i SessionInfo, prices: &Prices) -> Self {
        let cost = info.usage.cost(prices);
        let imported = |from: &'i ImportedFrom| ImportedFromJson { agent: &from.agent, file: &from.file };
        Self {
            id: info.id.as_str(),
            path: info.path.as_deref().map(path),
            title: &info.title,
            cwd: &info.cwd,
            moved_to: info.moved_to.as_deref(),
            state: state(info.residence),
            messages: info.messages,
            entries: info.entries,
            created: known(&info.created),
            updated: known(&info.updated),
            compacting: info.compacted_at.as_deref(),
            archived_at: info.archived_at.as_deref(),
            archived: info.archived_at.is_some(),
            owner: &info.owner,
            project: info.project.as_ref().map(|project| project.name()),
            provider: info.provider.as_deref(),
            model: info.model.as_deref(),
            engine_version: info.engine_version.as_deref(),
            parent: info.lineage.parent.as_ref().map(|id| id.as_str()),
            forked_from: info.lineage.forked_from.as_ref().map(OriginJson::from),
            imported_from: info.lineage.imported_from.as_ref().map(imported),
            context_tokens: info.last_prompt_tokens + info.last_completion_tokens,
            last_prompt_tokens: info.last_prompt_tokens,
            last_completion_tokens: info.last_completion_tokens,
            usage: info.usage.tokens.into(),
            cost_micros: cost.micros,
            unpriced: cost.unpriced,
            summary: info.summary.into(),
            latest_snapshot: info.latest_snapshot.as_deref(),
            git: GitJson { commit: info.git.commit.as_deref(), dirty: info.git.dirty },
            share: None,
            revert: info.revert.as_ref().map(RevertInForce::from),
            permission: &info.permission,
            metadata: &info.metadata,
            tags: &info.tags,
            starred: info.starred,
            status: info.status.name(),
            damaged: info.damaged,
        }
    }
}

/// A time, when there is one.
fn known(time: &str) -> Option<&str> {
    Some(time).filter(|time| !time.is_empty())
}

impl<'i> SessionJson<'i> {
    /// Says what is shared of it.
    pub fn shared_as(mut self, shares: &'i [Share]) -> Self {
        self.share = share::of_session(shares, self.id);
        self
    }
}

/// A session as lists show it, to be shown with more.
pub fn session(info: &SessionInfo, prices: &Prices) -> Map<String, Value> {
    object_of(&SessionJson::of(info, prices))
}

/// A session as lists show it, alone.
#[derive(Serialize, ToSchema)]
pub struct ListedSession {
    /// What is told of it.
    #[schema(value_type = SessionJson)]
    pub session: Map<String, Value>,
}

/// The sessions that a session started.
#[derive(Serialize, ToSchema)]
pub struct SessionChildren<'i> {
    /// What is told of them.
    pub children: Vec<SessionJson<'i>>,
}

/// Where a session stands.
pub fn state(residence: Residence) -> &'static str {
    match residence {
        Residence::Draft => "draft",
        Residence::Published => "published",
        Residence::InPlace => "in-place",
        Residence::Memory => "ephemeral",
        Residence::Base => "base",
    }
}

/// A session with everything that is told of one alone: what is shared of it, and where it ends.
#[derive(Serialize, ToSchema)]
#[schema(as = WholeSession)]
pub struct WholeJson<'i> {
    #[serde(flatten)]
    session: SessionJson<'i>,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
    /// The ends of all branches.
    leaves: Vec<String>,
}

/// A session with everything that is told of one alone: what is shared of it, and where it ends.
pub fn whole(session: &Session, info: &SessionInfo, prices: &Prices, shares: &[Share]) -> Map<String, Value> {
    object_of(&WholeJson {
        session: SessionJson::of(info, prices).shared_as(shares),
        leaf: session.leaf().map(|leaf| leaf.to_string()),
        leaves: session.leaves().iter().map(ToString::to_string).collect(),
    })
}

/// A session, alone.
#[derive(Serialize, ToSchema)]
pub struct OneSession {
    /// What is told of it.
    #[schema(value_type = WholeJson)]
    pub session: Map<String, Value>,
}

/// A session that was changed.
#[derive(Serialize, ToSchema)]
pub struct ChangedSession {
    /// How it is now.
    #[schema(value_type = WholeJson)]
    pub session: Map<String, Value>,
    /// What was written for the title.
    #[schema(value_type = Vec<WrittenEntry>)]
    pub written: Vec<Map<String, Value>>,
}
