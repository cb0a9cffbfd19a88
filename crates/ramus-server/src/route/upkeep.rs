//! What nothing needs any more: only the user of the home may look for it and remove it.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::{collection, life};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::Body;

/// Whether something is removed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Sweep {
    /// Only say what would be removed; so it is unless this is false.
    dry_run: bool,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { dry_run: true }
    }
}

/// Removes blobs that nothing refers to and snapshots that nothing names.
#[utoipa::path(post, path = "/api/v1/gc", tag = "health", request_body = Sweep,
    responses((status = 200, description = "What was removed, and what the home takes", body = collection::CollectedHome), Refusals))]
pub(crate) async fn gc(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(sweep): Body<Sweep>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    app.work(move |app| {
        let collected = app.engine.gc(sweep.dry_run)?;
        let swept = app.engine.gc_snapshots(sweep.dry_run)?;
        let report = app.engine.disk()?;
        Ok(Answer::object(collection::collected(&collected, &swept, &report, sweep.dry_run)))
    })
    .await
}

/// Removes old sessions by the rules of the settings.
#[utoipa::path(post, path = "/api/v1/retain", tag = "health", request_body = Sweep,
    responses((status = 200, description = "What was removed", body = life::RetainedHome), Refusals))]
pub(crate) async fn retain(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(sweep): Body<Sweep>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    app.work(move |app| {
        let rules = app.workshop.retention()?;
        if !rules.is_any() {
            return Err(ApiError::invalid("no rule says what may go").hint("`retention_drafts` is one of the settings"));
        }
        let retained = app.engine.retain(&rules, sweep.dry_run)?;
        retained.sessions.iter().for_each(|going| app.shelf.close(&going.session));
        Ok(Answer::object(life::retained(&retained, sweep.dry_run)))
    })
    .await
}
