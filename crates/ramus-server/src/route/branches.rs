//! Going on from elsewhere: branches, forks and labels.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{ForkOptions, RestoreOptions, Session};
use ramus_model::SessionId;
use ramus_wire::{entries, session as shape};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Body, Expected, Key, Named};
use crate::role::Role;
use crate::route::files::reverted;
use crate::route::keyed;

/// Where a branch starts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    /// The entry to go on from; null: the next entry becomes a root.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required)]
    entry: Option<String>,
    /// A summary of the branch that is left; the model is told.
    #[serde(default)]
    summary: Option<String>,
    /// The files of that branch come along. This needs a token that may approve.
    #[serde(default)]
    files: bool,
    /// With `files`: only say what would happen.
    #[serde(default)]
    dry_run: bool,
    /// With `files`: overwrite what people changed.
    #[serde(default)]
    force: bool,
}

/// Goes on from another entry.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/branch", tag = "branches", request_body = Branch,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "Where the leaf is now", body = entries::BranchedSession), Refusals))]
pub(crate) async fn branch(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    axum::Extension(role): axum::Extension<Role>,
    Body(branch): Body<Branch>,
) -> Result<Answer, ApiError> {
    if branch.files && role < Role::Approve {
        return Err(ApiError::denied("changing files needs a token that may approve"));
    }
    if (branch.files && branch.summary.is_some()) || (!branch.files && (branch.dry_run || branch.force)) {
        return Err(ApiError::usage("`dry_run` and `force` go with `files`, and `summary` does not"));
    }
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let target = branch.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        if branch.files {
            let entry = target.ok_or_else(|| ApiError::usage("files come along from an entry"))?;
            let options = RestoreOptions { dry_run: branch.dry_run, force: branch.force, ..RestoreOptions::default() };
            let report = app.engine.branch_with_files(&mut session, entry, &options)?;
            return reverted(app, &mut session, &report);
        }
        let leaf = match (target, &branch.summary) {
            (target, Some(summary)) => Some(app.engine.branch_with_summary(&mut session, target, summary)?),
            (Some(target), None) => Some(app.engine.branch(&mut session, target)?),
            (None, None) => {
                app.engine.reset_leaf(&mut session)?;
                None
            }
        };
        let position = app.finish(&mut session)?;
        Ok(Answer::object(entries::leaf(leaf.as_ref().map(|leaf| leaf.as_str()))).at(position))
    })
    .await
}

/// Where a fork starts.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Fork {
    /// The last entry that both have; the leaf when none is named.
    entry: Option<String>,
    /// The title of the fork.
    title: Option<String>,
}

/// Starts a new session from an entry of this one.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/fork", tag = "branches", request_body = Fork,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 201, description = "The fork", body = shape::MadeSession), Refusals))]
pub(crate) async fn fork(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    (expected, Key(key)): (Expected, Key),
    Body(fork): Body<Fork>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let origin = app.session(&owner, &id)?;
        let order = keyed::order(&json!({"entry": fork.entry, "title": fork.title}));
        let chosen = key.map(|key| (keyed::session(&owner, Some(origin.id()), &key), order));
        // What was forked before is answered again, however long the log is since.
        if let Some(answer) = forked_before(app, &owner, &origin, chosen.as_ref(), &fork)? {
            return Ok(answer);
        }
        let origin = app.session_at(&owner, &id, expected)?;
        let entry = match &fork.entry {
            Some(entry) => origin.resolve(entry)?,
            None => origin.log().leaf().ok_or_else(|| ApiError::invalid("the session has no leaf to fork from"))?,
        };
        let options = ForkOptions { title: fork.title.clone() };
        let made = match &chosen {
            None => app.engine.fork(&origin, entry, &options),
            Some((id, order)) => app.engine.fork_ordered((id, order), &origin, entry, &options),
        };
        match made {
            Ok(made) => {
                Ok(Answer::of(&shape::MadeSession { session: shape::forked(&made) })?.status(StatusCode::CREATED))
            }
            // Someone else may have sent the same at the same time.
            Err(error) => forked_before(app, &owner, &origin, chosen.as_ref(), &fork)?.ok_or_else(|| error.into()),
        }
    })
    .await
}

/// Answers again what a fork with this id was answered.
fn forked_before(
    app: &App,
    owner: &Owner,
    origin: &Session,
    chosen: Option<&(SessionId, String)>,
    fork: &Fork,
) -> Result<Option<Answer>, ApiError> {
    let Some((id, order)) = chosen else { return Ok(None) };
    if !app.engine.is_taken(id)? {
        return Ok(None);
    }
    let known = app.session(owner, id.as_str())?;
    let is_same = match known.order() {
        Some(known) => known == order,
        None => is_like(&known, origin, fork)?,
    };
    if !is_same {
        return Err(keyed::other());
    }
    Ok(Some(Answer::of(&shape::MadeSession { session: shape::brief_session(&known) })?.status(StatusCode::CREATED)))
}

/// Says whether a fork looks like what is ordered now: earlier versions did not keep what was ordered.
fn is_like(known: &Session, origin: &Session, fork: &Fork) -> Result<bool, ApiError> {
    let entry = fork.entry.as_deref().map(|entry| origin.resolve(entry)).transpose()?.map(|seq| origin.entry_id(seq));
    let is_from_there = known.lineage().forked_from.is_some_and(|from| entry.is_none_or(|entry| entry == from.entry));
    let title = fork.title.as_deref().map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = known.log().header().and_then(|header| header.title.clone());
    Ok(is_from_there && (title.is_none() || title == first))
}

/// A name for an entry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Label {
    /// The entry.
    entry: String,
    /// The name; null takes the name away.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required)]
    name: Option<String>,
}

/// Names an entry, or takes its name away.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/label", tag = "branches", request_body = Label,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The entry that says so", body = shape::LabelEntry), Refusals))]
pub(crate) async fn label(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(label): Body<Label>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let entry = session.resolve(&label.entry)?;
        let written = app.engine.label(&mut session, entry, label.name.as_deref())?;
        // A name that is given to the end of a turn is given to what was said last.
        let named = label.name.as_deref().and_then(|name| session.resolve(name).ok()).unwrap_or(entry);
        let named = session.entry_id(named);
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::labelled(&written, named.as_str())).at(position))
    })
    .await
}
