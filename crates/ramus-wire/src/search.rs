//! What a search found, and prompts that were remembered.

use ramus_catalogue::Prompt;
use ramus_engine::{Hit, Hits, IndexState};
use ramus_model::time;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;
use crate::usage::{UnreadableJson, unreadable};

/// What a search found.
#[derive(Serialize, ToSchema)]
pub struct SearchHits<'h> {
    /// Best first.
    hits: Vec<SearchHit<'h>>,
    /// How many there are in all.
    total: usize,
    /// Whether there are exactly so many.
    total_is_exact: bool,
    /// The sessions that were searched as far as they could be read.
    damaged: &'h [String],
    unreadable: Vec<UnreadableJson<'h>>,
    /// How far the index is; null when none was asked, or when it would tell of others.
    #[schema(required)]
    index: Option<SearchIndex>,
}

/// How far the index is.
#[derive(Serialize, ToSchema)]
struct SearchIndex {
    /// Whether everything is in it.
    ready: bool,
    /// How many sessions are in it.
    indexed: usize,
    /// How many there are.
    sessions: usize,
}

impl From<IndexState> for SearchIndex {
    fn from(state: IndexState) -> Self {
        let IndexState { ready, indexed, sessions } = state;
        Self { ready, indexed, sessions }
    }
}

/// Something that was found.
#[derive(Serialize, ToSchema)]
struct SearchHit<'h> {
    session: &'h str,
    /// The entry; null when the title was found.
    #[schema(required)]
    entry: Option<&'h str>,
    /// Who speaks, as it is stored.
    role: &'h str,
    /// Why it was found, as text.
    snippet: String,
    timestamp: &'h str,
    /// The title of the session.
    title: &'h str,
    /// The directory of the session.
    cwd: &'h str,
    /// The higher, the better.
    score: f64,
    /// The same as `snippet`, in parts.
    segments: Vec<SnippetSegment<'h>>,
    /// The tools that are called or answer.
    tools: &'h [String],
    /// Who answered.
    #[schema(required)]
    model: Option<&'h str>,
    /// Whether something failed.
    error: bool,
}

/// A part of why something was found.
#[derive(Serialize, ToSchema)]
struct SnippetSegment<'h> {
    text: &'h str,
    /// Whether it is what was looked for.
    #[serde(rename = "match")]
    is_match: bool,
}

impl<'h> SearchHit<'h> {
    fn of(hit: &'h Hit) -> Self {
        let segments = hit.snippet.segments.iter();
        Self {
            session: &hit.session,
            entry: hit.entry.as_ref().map(|entry| entry.as_str()),
            role: &hit.role,
            snippet: hit.snippet.text(),
            timestamp: &hit.timestamp,
            title: &hit.title,
            cwd: &hit.cwd,
            score: (hit.score * 1000.0).round() / 1000.0,
            segments: segments.map(|s| SnippetSegment { text: &s.text, is_match: s.is_match }).collect(),
            tools: &hit.tools,
            model: hit.model.as_deref(),
            error: hit.error,
        }
    }
}

/// What a search found.
pub fn hits(hits: &Hits) -> Map<String, Value> {
    object_of(&SearchHits {
        hits: hits.hits.iter().map(SearchHit::of).collect(),
        total: hits.total,
        total_is_exact: hits.is_counted,
        damaged: &hits.damaged,
        unreadable: unreadable(&hits.unreadable),
        index: hits.index.map(SearchIndex::from),
    })
}

/// Prompts that were remembered.
#[derive(Serialize, ToSchema)]
pub struct Prompts<'p> {
    /// Newest first.
    prompts: Vec<RememberedPrompt<'p>>,
}

/// Something a person asked once.
#[derive(Serialize, ToSchema)]
struct RememberedPrompt<'p> {
    prompt: &'p str,
    created: String,
    /// The directory it was asked in.
    cwd: &'p str,
}

/// What people asked.
pub fn prompts(prompts: &[Prompt]) -> Map<String, Value> {
    object_of(&Prompts { prompts: prompts.iter().map(prompt).collect() })
}

fn prompt(prompt: &Prompt) -> RememberedPrompt<'_> {
    RememberedPrompt { prompt: &prompt.text, created: time::format(prompt.created), cwd: &prompt.cwd }
}
