//! Making room: the older part of a path becomes a summary.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{Compact, Compacted, KEEP};
use ramus_model::budget::Keep;
use ramus_model::tokens;
use ramus_wire::room as shape;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Body, Expected, Named};

/// How a path is compacted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Request {
    /// The last two messages stay when nothing else would be summarised.
    force: bool,
    /// The newest messages with about so many tokens stay.
    keep_tokens: Option<u64>,
    /// So many of the newest messages stay.
    keep_messages: Option<usize>,
    /// Only say what would be summarised.
    dry_run: bool,
}

/// Replaces the older part of what a model is sent by a summary.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/compact", tag = "branches", request_body = Request,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was summarised", body = shape::CompactedPath), Refusals))]
pub(crate) async fn compact(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(request): Body<Request>,
) -> Result<Answer, ApiError> {
    let keep = match (request.keep_tokens, request.keep_messages) {
        (Some(_), Some(_)) => return Err(ApiError::usage("say keep_tokens or keep_messages, not both")),
        (Some(tokens), None) => Keep::Tokens(tokens),
        (None, Some(messages)) => Keep::Messages(messages),
        (None, None) => KEEP,
    };
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        // What stays is measured as turns measure it.
        let counting = app.workshop.counting(&session)?;
        let prepared = counting.prepare_compaction(&session, Compact { keep, force: request.force })?;
        let compacted = match prepared {
            None => {
                let context = session.context(session.log().leaf())?;
                let tokens = tokens::of_context(session.log(), &context, &session.lines()).map_err(engine)?;
                Compacted::nothing(tokens, context.items.len())
            }
            Some(prepared) => {
                let summary = prepared.plain_summary(&session)?;
                match request.dry_run {
                    true => prepared.outcome(&session, summary)?,
                    false => counting.compact(&mut session, &prepared, &summary)?,
                }
            }
        };
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::compacted(&compacted)).at(position))
    })
    .await
}

fn engine(error: ramus_store::StoreError) -> ApiError {
    ramus_engine::EngineError::from(error).into()
}

/// What is left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evict {
    /// How many tokens must become free.
    tokens: u64,
    /// Only say what would be left out.
    #[serde(default)]
    dry_run: bool,
}

/// Leaves the oldest messages out of what a model is sent.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/evict", tag = "branches", request_body = Evict,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What is left out", body = shape::EvictedMessages), Refusals))]
pub(crate) async fn evict(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(evict): Body<Evict>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let evicted = app.engine.evict(&mut session, evict.tokens, evict.dry_run)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::evicted(&evicted, evict.dry_run)).at(position))
    })
    .await
}

/// A stretch of entries, and what stands in its place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segment {
    /// The first entry to replace.
    first: String,
    /// The last one, below the first.
    last: String,
    /// What stands in their place.
    text: String,
}

/// Replaces a stretch of entries by one that summarises them.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/replace-segment", tag = "branches", request_body = Segment,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was replaced", body = shape::ReplacedSegment), Refusals))]
pub(crate) async fn replace_segment(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(segment): Body<Segment>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let (first, last) = (session.resolve(&segment.first)?, session.resolve(&segment.last)?);
        let replaced = app.engine.replace_segment(&mut session, first, last, &segment.text)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::replaced(&replaced, &session)).at(position))
    })
    .await
}
