//! Two ways a conversation went, and what one of them tells the other.

use std::borrow::Cow;

use ramus_engine::{Comparison, Merged, Pair, Session, Side, View};
use ramus_model::EntryId;
use ramus_model::message::Part;
use ramus_model::usage::{Prices, Tokens};
use ramus_snapshot::FileDiff;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::usage::TokenCounts;
use crate::{object_of, path, words};

/// How much of a prompt names a side.
const NAME: usize = 200;

/// Where two ways part, and what was said on each.
#[derive(Serialize, ToSchema)]
pub struct SessionComparison<'c> {
    /// The last entry that both have; null when they have none.
    #[schema(required)]
    ancestor: Option<&'c str>,
    /// How many messages both have.
    shared_messages: usize,
    a: ComparedSide<'c>,
    b: ComparedSide<'c>,
    /// What was said since, side by side.
    messages: Vec<ComparedPair<'c>>,
    /// What differs in files; null when snapshots do not tell.
    #[schema(required)]
    files: Option<Vec<ComparedFile<'c>>>,
}

/// One way that a conversation went.
#[derive(Serialize, ToSchema)]
struct ComparedSide<'c> {
    session: &'c str,
    /// Its end; null when it has none.
    #[schema(required)]
    leaf: Option<&'c str>,
    /// How many messages it has alone.
    messages: usize,
    usage: TokenCounts,
    /// In millionths of a US dollar; null when nothing is known of it.
    #[schema(required)]
    cost_micros: Option<u64>,
    /// How many answers have no price.
    unpriced: u64,
    title: &'c str,
    #[schema(required)]
    label: Option<&'c str>,
    /// How the first thing begins that was said there.
    #[schema(required)]
    prompt: Option<String>,
    /// The snapshot at its end.
    #[schema(required)]
    snapshot: Option<&'c str>,
}

/// Messages in the same place; null where a side has none.
#[derive(Serialize, ToSchema)]
struct ComparedPair<'c> {
    #[schema(required)]
    a: Option<ComparedMessage<'c>>,
    #[schema(required)]
    b: Option<ComparedMessage<'c>>,
    /// Whether both say the same.
    same: bool,
}

/// A message of one side.
#[derive(Serialize, ToSchema)]
struct ComparedMessage<'c> {
    id: &'c str,
    /// Its position in the log.
    seq: u32,
    /// Who speaks, as it is stored.
    role: &'c str,
    text: String,
    /// How many there are about.
    tokens: u64,
    timestamp: &'c str,
    calls: Vec<ComparedCall<'c>>,
    /// Of a result: the tool.
    #[schema(required)]
    name: Option<&'c str>,
    /// Of a result: whether it failed.
    #[schema(required)]
    error: Option<bool>,
}

/// A call of a tool.
#[derive(Serialize, ToSchema)]
struct ComparedCall<'c> {
    name: &'c str,
    /// What it is given, as JSON in text.
    arguments: &'c str,
}

/// What differs in a file.
#[derive(Serialize, ToSchema)]
struct ComparedFile<'c> {
    path: Cow<'c, str>,
    #[schema(schema_with = words::differences)]
    status: &'static str,
    /// How many lines came.
    additions: u64,
    /// How many lines went.
    deletions: u64,
    /// A unified diff.
    diff: &'c str,
}

/// A comparison.
pub fn comparison(comparison: &Comparison, prices: &Prices) -> Map<String, Value> {
    object_of(&SessionComparison {
        ancestor: comparison.ancestor.as_ref().map(EntryId::as_str),
        shared_messages: comparison.shared,
        a: side(&comparison.left, prices),
        b: side(&comparison.right, prices),
        messages: comparison.pairs.iter().map(pair).collect(),
        files: comparison.files.as_ref().map(|files| files.iter().map(file).collect()),
    })
}

fn pair(pair: &Pair) -> ComparedPair<'_> {
    ComparedPair { a: pair.left.as_ref().map(message), b: pair.right.as_ref().map(message), same: pair.is_same }
}

fn message(view: &View) -> ComparedMessage<'_> {
    let result = view.message.result.as_ref();
    ComparedMessage {
        id: view.id.as_str(),
        seq: view.seq.number(),
        role: &view.message.role_name,
        text: view.message.text(),
        tokens: view.tokens,
        timestamp: &view.timestamp,
        calls: view.message.parts.iter().filter_map(call).collect(),
        name: result.map(|result| &*result.name),
        error: result.map(|result| result.is_error),
    }
}

fn file(file: &FileDiff) -> ComparedFile<'_> {
    ComparedFile {
        path: path(&file.path),
        status: file.status.as_str(),
        additions: file.additions,
        deletions: file.deletions,
        diff: &file.diff,
    }
}

/// What a message calls.
fn call(part: &Part) -> Option<ComparedCall<'_>> {
    let Part::ToolCall { name, arguments, .. } = part else { return None };
    Some(ComparedCall { name, arguments })
}

fn side<'c>(side: &'c Side, prices: &Prices) -> ComparedSide<'c> {
    let cost = side.totals.cost(prices);
    ComparedSide {
        session: side.session.as_str(),
        leaf: side.leaf.as_ref().map(EntryId::as_str),
        messages: side.messages,
        usage: Tokens::from(&side.usage).into(),
        cost_micros: cost.micros,
        unpriced: cost.unpriced,
        title: &side.title,
        label: side.label.as_deref(),
        prompt: side.prompt.as_ref().map(|prompt| prompt.chars().take(NAME).collect()),
        snapshot: side.snapshot.as_deref(),
    }
}

/// What was brought back, or would be.
#[derive(Serialize, ToSchema)]
pub struct MergedBack<'m> {
    /// The entries that tell it; none when it was only said.
    merged: Vec<&'m str>,
    /// The session that it comes from.
    from: &'m str,
    /// The entries that it comes from.
    sources: Vec<&'m str>,
    text: &'m str,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
    dry_run: bool,
}

/// What was brought back, or would be.
pub fn merged(merged: &Merged, into: &Session, dry_run: bool) -> Map<String, Value> {
    fn ids(ids: &[EntryId]) -> Vec<&str> {
        ids.iter().map(EntryId::as_str).collect()
    }
    object_of(&MergedBack {
        merged: ids(&merged.entries),
        from: merged.from.as_str(),
        sources: ids(&merged.sources),
        text: &merged.text,
        leaf: into.leaf().map(|leaf| leaf.to_string()),
        dry_run,
    })
}
