//! Shares: making them, taking them back, and the pages themselves, which need no token but a secret of their own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ramus_engine::{Include, Opened, Share as Kept, ShareOptions};
use ramus_wire::share as shape;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::{Failure, Refusals};
use crate::error::{ApiError, Kind};
use crate::guard::{Peer, Site};
use crate::input::{Asked, Body, Expected, Named};

/// How long a share lasts when nobody says.
const DAYS: i64 = 7;

/// The longest that a share lasts, in seconds; whoever wants more says `null`.
const LONGEST: i64 = 36_500 * 86_400;

/// What is shared.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Share {
    /// The entry that the path ends with; the leaf when none is named.
    entry: Option<String>,
    /// What is in it: messages, diffs, tools, thinking.
    include: Vec<Part>,
    /// For how many seconds; null for until it is taken back.
    expires_in: Option<i64>,
    /// Only say what would be shared.
    dry_run: bool,
    /// The page too, as `page`.
    page: bool,
}

impl Default for Share {
    fn default() -> Self {
        let include = vec![Part::Messages, Part::Diffs, Part::Tools];
        Self { entry: None, include, expires_in: Some(DAYS * 86_400), dry_run: false, page: false }
    }
}

/// What can be in a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// What people and models said.
    Messages,
    /// How calls changed files.
    Diffs,
    /// Calls of tools and their results.
    Tools,
    /// What models thought.
    Thinking,
}

/// Shares the path to an entry as a page that others can open. Secrets, names and directories are taken out of it.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/share", tag = "shares", request_body = Share,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 201, description = "The share, and the address that opens it", body = shape::MadeShare),
        (status = 200, description = "What would be shared", body = shape::PreviewedShare), Refusals))]
pub(crate) async fn share(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    axum::Extension(site): axum::Extension<Site>,
    Body(share): Body<Share>,
) -> Result<Answer, ApiError> {
    if share.expires_in.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
        return Err(ApiError::invalid(format!(
            "a share lasts 1 to {LONGEST} seconds, or until it is taken back: null"
        )));
    }
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let has = |part| share.include.contains(&part);
        let include = Include {
            messages: has(Part::Messages),
            diffs: has(Part::Diffs),
            tools: has(Part::Tools),
            thinking: has(Part::Thinking),
            system: false,
        };
        let entry = share.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        let lifetime = share.expires_in.map(|seconds| seconds.saturating_mul(1000));
        let options = ShareOptions { entry, include, lifetime };
        let preview = app.engine.preview_share(&mut session, &options, &app.workshop.redactor())?;
        let page = share.page.then(|| preview.page());
        if share.dry_run {
            return Ok(Answer::object(shape::previewed(&preview, page)));
        }
        let shared = app.engine.share(&mut session, &options, &preview)?;
        let position = app.finish(&mut session)?;
        let url = format!("{}/share/{}?secret={}", site.as_str(), shared.share.id, shared.secret);
        Ok(Answer::object(shape::made(&shared, &preview, &url, page)).status(StatusCode::CREATED).at(position))
    })
    .await
}

/// Lists what is and was shared of a session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/share", tag = "shares", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The shares, without what opens them", body = shape::Shares), Refusals))]
pub(crate) async fn of_session(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let all = app.engine.list_shares()?.into_iter();
        let ours: Vec<Kept> = all.filter(|share| share.session == session.id().as_str()).collect();
        Ok(Answer::object(shape::list(&ours)))
    })
    .await
}

/// Lists what is and was shared of all sessions.
#[utoipa::path(get, path = "/api/v1/shares", tag = "shares",
    responses((status = 200, description = "The shares, without what opens them", body = shape::Shares), Refusals))]
pub(crate) async fn list(State(app): State<Arc<App>>, owner: Owner) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let sessions = app.sessions_of(&owner)?;
        let all = app.engine.list_shares()?.into_iter();
        let ours: Vec<Kept> = all.filter(|share| sessions.contains(&share.session.as_str().into())).collect();
        Ok(Answer::object(shape::list(&ours)))
    })
    .await
}

/// Which share is taken back.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The share, or the start of its id; all of the session when none is named.
    share: Option<String>,
}

/// Takes shares of a session back: their addresses never work again.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}/share", tag = "shares",
    params(("id" = String, Path, description = "The session"), Which, ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The shares that were open", body = shape::EndedShares), Refusals))]
pub(crate) async fn unshare(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Asked(which): Asked<Which>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let ended = app.engine.unshare(&mut session, which.share.as_deref())?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::ended(&ended)).at(position))
    })
    .await
}

/// What opens a share.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Opening {
    /// The secret of the address.
    secret: String,
}

/// Shows a share to whoever has its address. One that never was or has another secret is not there; one that is over is gone,
/// for whoever could have seen it. Guessing takes time, as it does with tokens.
#[utoipa::path(get, path = "/share/{id}", tag = "shares", security(()),
    params(("id" = String, Path, description = "The share"), Opening),
    responses((status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 410, description = "The share is over", body = Failure), Refusals))]
pub(crate) async fn page(
    State(app): State<Arc<App>>,
    axum::Extension(peer): axum::Extension<Peer>,
    Named(id): Named<String>,
    Asked(opening): Asked<Opening>,
) -> Result<Response, ApiError> {
    let found = app.work(move |app| Ok(app.engine.open_share(&id, &opening.secret)?)).await?;
    let page = match found {
        Opened::Page(page) => page,
        Opened::Over => return Err(ApiError::new(Kind::Gone, "the share is over")),
        Opened::Nothing => {
            app.guesses.failed(&peer).await?;
            return Err(ApiError::not_found("there is no such share"));
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, format!("{}; frame-ancestors 'none'", ramus_publish::html::policy())),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow, noarchive".to_owned()),
    ];
    Ok((headers, page).into_response())
}
