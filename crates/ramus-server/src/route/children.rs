//! Sessions that a session started.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::Filter;
use ramus_wire::session::{self as shape, SessionJson};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::Named;

/// Lists the sessions that this one started.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/children", tag = "sessions", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The sessions", body = shape::SessionChildren), Refusals))]
pub(crate) async fn children(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let parent = app.session(&owner, &id)?;
        let filter = Filter {
            parent: Some(parent.id().clone()),
            owner: Some(owner.name().to_owned()),
            drafts: true,
            archived: true,
            ..Filter::default()
        };
        let listing = app.engine.list(&filter)?;
        let children = listing.sessions.iter().map(|info| SessionJson::of(info, &app.prices)).collect();
        Answer::of(&shape::SessionChildren { children })
    })
    .await
}
