//! Sessions, messages and entries.

use std::borrow::Cow;
use std::path::Path;

use ramus_engine::{Forked, Listing, RevertMark, Session, SessionInfo, Share, Summary, View, Written};
use ramus_model::message::Part;
use ramus_model::usage::{Prices, Tokens};
use ramus_model::{EntryId, ImportedFrom, Origin};
use ramus_store::Residence;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{members, share};

/// A session as lists show it. What this version does not keep track of is null, zero or empty. There may be thousands, so
/// it is written as it is, not built up first.
#[derive(Serialize)]
pub struct SessionJson<'i> {
    id: &'i str,
    path: Option<&'i Path>,
    title: &'i str,
    cwd: &'i str,
    moved_to: Option<&'i str>,
    state: &'static str,
    messages: usize,
    entries: usize,
    /// Of a log that lost its header nobody knows.
    created: Option<&'i str>,
    updated: Option<&'i str>,
    compacting: Option<&'i str>,
    archived_at: Option<&'i str>,
    archived: bool,
    owner: &'i str,
    project: Option<&'i str>,
    provider: Option<&'i str>,
    model: Option<&'i str>,
    engine_version: Option<&'i str>,
    parent: Option<&'i str>,
    forked_from: Option<OriginJson<'i>>,
    imported_from: Option<ImportedFromJson<'i>>,
    context_tokens: u64,
    last_prompt_tokens: u64,
    last_completion_tokens: u64,
    usage: Tokens,
    cost_micros: Option<u64>,
    unpriced: u64,
    summary: Summary,
    latest_snapshot: Option<&'i str>,
    git: GitJson<'i>,
    /// What is shared of it, filled in by whoever asks the home.
    share: Option<Value>,
    revert: Option<&'i RevertMark>,
    permission: &'i Value,
    metadata: &'i Map<String, Value>,
    tags: &'i [String],
    starred: bool,
    status: &'static str,
    damaged: bool,
}

#[derive(Serialize)]
struct OriginJson<'i> {
    session: &'i str,
    entry: &'i str,
}

#[derive(Serialize)]
struct ImportedFromJson<'i> {
    agent: &'i str,
    file: &'i str,
}

#[derive(Serialize)]
struct GitJson<'i> {
    commit: Option<&'i str>,
    dirty: Option<bool>,
}

impl<'i> SessionJson<'i> {
    /// Describes a session.
    pub fn of(info: &'i SessionInfo, prices: &Prices) -> Self {
        let cost = info.usage.cost(prices);
        let origin = |origin: &'i Origin| OriginJson { session: origin.session.as_str(), entry: origin.entry.as_str() };
        let imported = |from: &'i ImportedFrom| ImportedFromJson { agent: &from.agent, file: &from.file };
        Self {
            id: info.id.as_str(),
            path: info.path.as_deref(),
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
            forked_from: info.lineage.forked_from.as_ref().map(origin),
            imported_from: info.lineage.imported_from.as_ref().map(imported),
            context_tokens: info.last_prompt_tokens + info.last_completion_tokens,
            last_prompt_tokens: info.last_prompt_tokens,
            last_completion_tokens: info.last_completion_tokens,
            usage: info.usage.tokens,
            cost_micros: cost.micros,
            unpriced: cost.unpriced,
            summary: info.summary,
            latest_snapshot: info.latest_snapshot.as_deref(),
            git: GitJson { commit: info.git.commit.as_deref(), dirty: info.git.dirty },
            share: None,
            revert: info.revert.as_ref(),
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

impl SessionJson<'_> {
    /// Says what is shared of it.
    pub fn shared_as(mut self, shares: &[Share]) -> Self {
        self.share = share::of_session(shares, self.id);
        self
    }
}

/// A session as lists show it, to be shown with more.
pub fn session(info: &SessionInfo, prices: &Prices) -> Map<String, Value> {
    // What is made of text and numbers always becomes JSON.
    members(serde_json::to_value(SessionJson::of(info, prices)).unwrap_or_default())
}

/// A session that was just made or changed.
pub fn brief_session(session: &Session) -> Map<String, Value> {
    members(json!({
        "id": session.id().as_str(),
        "path": session.location().path,
        "cwd": session.cwd(),
        "title": session.title(),
        "state": state(session.residence()),
        "forked_from": forked_from(session.lineage().forked_from.as_ref()),
    }))
}

/// Makes of a session as it is described what is told of one that was just changed.
pub fn brief(described: &Map<String, Value>) -> Map<String, Value> {
    let kept = ["id", "path", "cwd", "title", "state", "forked_from"];
    kept.into_iter().filter_map(|name| Some((name.to_owned(), described.get(name)?.clone()))).collect()
}

/// What is told about a session that was just forked.
pub fn forked(fork: &Forked) -> Map<String, Value> {
    members(json!({
        "id": fork.id.as_str(),
        "path": fork.location.path,
        "cwd": fork.cwd,
        "title": fork.title,
        "state": state(fork.location.residence),
        "forked_from": forked_from(Some(&fork.origin)),
    }))
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

fn forked_from(origin: Option<&Origin>) -> Value {
    origin.map_or(Value::Null, |origin| json!({"session": origin.session.as_str(), "entry": origin.entry.as_str()}))
}

/// One message of a conversation. There may be thousands, so it is written as it is, not built up first.
#[derive(Serialize)]
pub struct MessageJson<'v> {
    id: &'v str,
    seq: u32,
    parent: Option<&'v str>,
    role: &'v str,
    text: Cow<'v, str>,
    parts: Vec<PartJson<'v>>,
    tokens: u64,
    timestamp: &'v str,
    label: Option<&'v str>,
    changed: Option<Summary>,
    /// What kind of entry it is, and that it shows; only told where nothing else is.
    #[serde(flatten)]
    kind: Option<KindJson>,
}

#[derive(Serialize)]
struct KindJson {
    #[serde(rename = "type")]
    kind: &'static str,
    hidden: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PartJson<'v> {
    /// The usual one, without building it up.
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: &'v str,
    },
    Other(Value),
}

impl<'v> MessageJson<'v> {
    /// Describes a message.
    pub fn of(view: &'v View) -> Self {
        let part = |part: &'v Part| match part {
            Part::Text(text) => PartJson::Text { kind: "text", text },
            other => PartJson::Other(other.to_json()),
        };
        let text = match view.message.parts.as_slice() {
            [Part::Text(text)] => Cow::Borrowed(text.as_str()),
            _ => Cow::Owned(view.message.text()),
        };
        Self {
            id: view.id.as_str(),
            seq: view.seq.number(),
            parent: view.parent.as_ref().map(EntryId::as_str),
            role: &view.message.role_name,
            text,
            parts: view.message.parts.iter().map(part).collect(),
            tokens: view.tokens,
            timestamp: &view.timestamp,
            label: view.label.as_deref(),
            changed: view.changed,
            kind: None,
        }
    }

    /// Says what kind of entry it is.
    pub fn in_session(mut self, session: &Session, view: &View) -> Self {
        let kind = session.log().record(view.seq).and_then(|record| record.kind.wire()).unwrap_or_default();
        self.kind = Some(KindJson { kind, hidden: false });
        self
    }
}

/// One message of a conversation, to be shown with more.
pub fn message(view: &View) -> Map<String, Value> {
    // What is made of text and numbers always becomes JSON.
    members(serde_json::to_value(MessageJson::of(view)).unwrap_or_default())
}

/// The same, with what kind of entry it is.
pub fn message_of(session: &Session, view: &View) -> Map<String, Value> {
    members(serde_json::to_value(MessageJson::of(view).in_session(session, view)).unwrap_or_default())
}

/// An entry that was just written.
pub fn written(written: &Written) -> Map<String, Value> {
    members(json!({
        "id": written.id.as_str(),
        "seq": written.seq.number(),
        "parent": written.parent.as_ref().map(EntryId::as_str),
    }))
}

/// An entry that names another one, and which that is.
pub fn labelled(written: &Written, entry: &str) -> Map<String, Value> {
    let mut object = self::written(written);
    object.insert("entry".into(), entry.into());
    object
}

/// A list as programs are told.
#[derive(Serialize)]
pub struct ListJson<'l> {
    sessions: Vec<SessionJson<'l>>,
    next_cursor: Option<&'l str>,
    hidden: HiddenJson,
    unreadable: Vec<UnreadableJson<'l>>,
    /// The ids of all sessions that could be named, for whoever shortens them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ids: Vec<&'l str>,
}

#[derive(Serialize)]
struct HiddenJson {
    archived: usize,
    drafts: usize,
    other_directories: usize,
}

#[derive(Serialize)]
struct UnreadableJson<'l> {
    session: &'l str,
    reason: &'l str,
}

impl<'l> ListJson<'l> {
    /// Describes a list.
    pub fn of(listing: &'l Listing, prices: &Prices, shares: &[Share]) -> Self {
        let unreadable = listing.unreadable.iter().map(|(session, reason)| UnreadableJson { session, reason });
        Self {
            sessions: listing.sessions.iter().map(|info| SessionJson::of(info, prices).shared_as(shares)).collect(),
            next_cursor: listing.next_cursor.as_deref(),
            hidden: HiddenJson {
                archived: listing.hidden.archived,
                drafts: listing.hidden.drafts,
                other_directories: listing.hidden.other_directories,
            },
            unreadable: unreadable.collect(),
            ids: listing.ids.iter().map(|id| id.as_str()).collect(),
        }
    }
}

/// A session with everything that is told of one alone: what is shared of it, and where it ends.
pub fn whole(session: &Session, info: &SessionInfo, prices: &Prices, shares: &[Share]) -> Map<String, Value> {
    let mut object = self::session(info, prices);
    object.insert("share".into(), json!(share::of_session(shares, info.id.as_str())));
    object.insert("leaf".into(), json!(session.leaf().map(|leaf| leaf.to_string())));
    object.insert("leaves".into(), json!(session.leaves().iter().map(EntryId::as_str).collect::<Vec<_>>()));
    object
}
