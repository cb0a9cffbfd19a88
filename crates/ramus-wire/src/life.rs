//! The life of a session: its root, starting afresh, starting over, and what goes when nobody wants it any more.

use std::borrow::Cow;

use ramus_engine::{Booted, Cleared, Purged, Reset, Retained, Session};
use ramus_model::EntryId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, path};

/// The root of a session.
#[derive(Serialize, ToSchema)]
pub struct BootedSession<'b> {
    /// The entry.
    entry: &'b str,
    /// A word of welcome, for people.
    welcome: &'b str,
    /// Where the session worked then, as it is stored.
    workspace: &'b Value,
    /// Whether it was just made.
    is_new: bool,
}

/// The root of a session.
pub fn booted(booted: &Booted) -> Map<String, Value> {
    object_of(&BootedSession {
        entry: booted.entry.as_str(),
        welcome: &booted.welcome,
        workspace: &booted.workspace,
        is_new: booted.is_new,
    })
}

/// What a model is not sent any more.
#[derive(Serialize, ToSchema)]
pub struct ClearedContext<'c> {
    /// The entry that says so; null when none was needed, or it was only said.
    #[schema(required)]
    cleared: Option<&'c str>,
    /// How many messages are left out.
    messages: usize,
    /// How many messages stay.
    kept: usize,
    tokens_before: u64,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
    dry_run: bool,
}

/// What a model is not sent any more.
pub fn cleared(cleared: &Cleared, session: &Session, dry_run: bool) -> Map<String, Value> {
    object_of(&ClearedContext {
        cleared: cleared.entry.as_ref().map(EntryId::as_str),
        messages: cleared.messages,
        kept: cleared.kept,
        tokens_before: cleared.tokens_before,
        leaf: session.leaf().map(|leaf| leaf.to_string()),
        dry_run,
    })
}

/// A session that starts over.
#[derive(Serialize, ToSchema)]
pub struct ResetSession<'r> {
    history_cleared: bool,
    cleared_messages: usize,
    removed: ResetTally<'r>,
    /// Its workspace; null when it has none of its own.
    #[schema(required)]
    workspace: Option<Cow<'r, str>>,
    /// How its messages are named from now on.
    namespace: &'r str,
    dry_run: bool,
}

/// What was erased of a session.
#[derive(Serialize, ToSchema)]
struct ResetTally<'r> {
    entries: usize,
    bytes: u64,
    blobs: u64,
    /// The copies of the file that went with it.
    copies: Vec<Cow<'r, str>>,
    /// The shares that ended, because they show what is gone.
    shares: &'r [String],
}

/// What was erased.
pub fn reset(reset: &Reset, dry_run: bool) -> Map<String, Value> {
    object_of(&ResetSession {
        history_cleared: !dry_run,
        cleared_messages: reset.messages,
        removed: ResetTally {
            entries: reset.entries,
            bytes: reset.bytes,
            blobs: reset.blobs,
            copies: reset.copies.files.iter().map(|copy| path(copy)).collect(),
            shares: &reset.shares,
        },
        workspace: reset.workspace.as_deref().map(path),
        namespace: &reset.namespace,
        dry_run,
    })
}

/// What was erased of a session, or would be.
#[derive(Serialize, ToSchema)]
pub struct PurgedSession<'p> {
    purged: PurgedEntries<'p>,
    /// Entries that still say something of them.
    mentions: Vec<&'p str>,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<&'p str>,
    dry_run: bool,
}

/// What was erased.
#[derive(Serialize, ToSchema)]
struct PurgedEntries<'p> {
    entries: Vec<&'p str>,
    messages: usize,
    bytes: u64,
    blobs: u64,
    /// The copies of the file that went with it.
    copies: Vec<Cow<'p, str>>,
    /// The shares that ended, because they show something of it.
    shares: &'p [String],
    /// How many prompts were forgotten with it.
    prompts: usize,
}

/// What was erased of a session, or would be. `prompts` is how many prompts were forgotten with it.
pub fn purged(purged: &Purged, prompts: usize, dry_run: bool) -> Map<String, Value> {
    fn ids(ids: &[EntryId]) -> Vec<&str> {
        ids.iter().map(EntryId::as_str).collect()
    }
    object_of(&PurgedSession {
        purged: PurgedEntries {
            entries: ids(&purged.entries),
            messages: purged.messages,
            bytes: purged.bytes,
            blobs: purged.blobs,
            copies: purged.copies.files.iter().map(|copy| path(copy)).collect(),
            shares: &purged.shares,
            prompts,
        },
        mentions: ids(&purged.mentions),
        leaf: purged.leaf.as_ref().map(EntryId::as_str),
        dry_run,
    })
}

/// What went by the rules of the settings.
#[derive(Serialize, ToSchema)]
pub struct RetainedHome<'r> {
    /// The sessions that went.
    sessions: Vec<GoneSession<'r>>,
    files: Vec<Cow<'r, str>>,
    bytes: u64,
    /// What went of what repairs set aside.
    quarantine: Vec<Cow<'r, str>>,
    /// How many sessions stayed although they are old.
    exempt: usize,
    failed: Vec<KeptSession<'r>>,
    dry_run: bool,
}

/// A session that went.
#[derive(Serialize, ToSchema)]
struct GoneSession<'r> {
    id: &'r str,
    title: &'r str,
    updated: &'r str,
    /// The rule that says so.
    rule: &'static str,
    bytes: u64,
}

/// A session that could not go.
#[derive(Serialize, ToSchema)]
struct KeptSession<'r> {
    id: &'r str,
    error: &'r str,
}

/// What went by the rules of the settings.
pub fn retained(retained: &Retained, dry_run: bool) -> Map<String, Value> {
    let going = retained.sessions.iter().map(|going| GoneSession {
        id: going.session.as_str(),
        title: &going.title,
        updated: &going.updated,
        rule: going.rule,
        bytes: going.bytes,
    });
    let failed = retained.failed.iter().map(|(id, error)| KeptSession { id: id.as_str(), error });
    object_of(&RetainedHome {
        sessions: going.collect(),
        files: retained.removed.files.iter().map(|file| path(file)).collect(),
        bytes: retained.removed.bytes,
        quarantine: retained.quarantine.files.iter().map(|file| path(file)).collect(),
        exempt: retained.exempt,
        failed: failed.collect(),
        dry_run,
    })
}
