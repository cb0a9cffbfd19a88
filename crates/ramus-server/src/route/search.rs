//! Searching what was said.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use ramus_engine::{Search, WhichDirectory};
use ramus_model::SessionId;
use ramus_model::search::{Query, QueryError, Reading};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::Asked;

/// How many hits there are when nobody says, and at most.
const HITS: usize = 20;
const MOST: usize = 1000;

/// What is looked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Sought {
    /// The words and operators.
    q: String,
    /// Only in this session.
    session: Option<String>,
    /// Only in sessions of this directory.
    cwd: Option<String>,
    /// At most so many hits.
    limit: Option<usize>,
    /// Whether the last word is being typed.
    prefix: bool,
}

/// Finds entries by their words.
#[utoipa::path(get, path = "/api/v1/search", tag = "search", params(Sought),
    responses((status = 200, description = "The hits, best first", body = ramus_wire::search::SearchHits), Refusals))]
pub(crate) async fn search(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(sought): Asked<Sought>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let query = Query::parse(&sought.q, Reading { now, typing: sought.prefix }).map_err(|error| refusal(&error))?;
        let mut request = Search::new(query);
        request.limit = sought.limit.unwrap_or(HITS).clamp(1, MOST);
        if let Some(cwd) = sought.cwd {
            request.directory = WhichDirectory::One(cwd);
        }
        let hits = match &sought.session {
            Some(id) => app.engine.search_in(&app.session(&owner, id)?, &request)?,
            None => in_all(app, &owner, request)?,
        };
        Ok(Answer::object(ramus_wire::search::hits(&hits)))
    })
    .await
}

/// Searches the sessions of an owner. What is told of others, by name or by number, is left out.
fn in_all(app: &App, owner: &Owner, mut request: Search) -> Result<ramus_engine::Hits, ApiError> {
    let ours = app.sessions_of(owner)?;
    let is_alone = app.engine.session_ids()?.iter().all(|id| ours.contains(id));
    if is_alone {
        return Ok(app.engine.search(&request)?);
    }
    request.owner = Some(owner.name().to_owned());
    let mut hits = app.engine.search(&request)?;
    let is_ours = |id: &str| ours.contains(&SessionId::from(id));
    hits.damaged.retain(|session| is_ours(session));
    hits.unreadable.retain(|(session, _)| is_ours(session));
    hits.index = None;
    Ok(hits)
}

fn refusal(error: &QueryError) -> ApiError {
    let refusal = ApiError::usage(error.to_string());
    match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}
