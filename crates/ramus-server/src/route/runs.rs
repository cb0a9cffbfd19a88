//! Turns: starting them, talking to them, answering what they ask.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ramus_model::SessionId;
use ramus_wire::run as shape;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::hub::{Reader, event};
use crate::input::{Body, Expected, Key, Named, Nothing};
use crate::role::Role;
use crate::route::events::stream;
use crate::run::{Order, Reply, Taken, WhenBusy};

/// The kinds of pictures that models are shown.
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Lists the turns of a session, those that run first, with what they have said so far.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/runs", tag = "runs", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The turns", body = shape::Runs), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    let (session, whose) = (id.clone(), owner.clone());
    app.work(move |app| app.session(&whose, &session).map(drop)).await?;
    let runs = app.runs.of_session(&owner, &id).iter().map(|run| run.to_json_whole()).collect();
    Answer::of(&shape::Runs { runs })
}

/// Starts a turn. Answers at once with its name; with `Accept: text/event-stream`, with what happens until it ends. The turn
/// goes on whoever reads.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/runs", tag = "runs", request_body = Order,
    params(("id" = String, Path, description = "The session"),
        ("If-Match" = Option<String>, Header, description = "The expected position"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 202, description = "The turn", body = shape::RunningTurn),
        (status = 200, description = "What happens until it ends", body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    (expected, Key(key)): (Expected, Key),
    axum::Extension(role): axum::Extension<Role>,
    headers: HeaderMap,
    Body(order): Body<Order>,
) -> Result<Response, ApiError> {
    // Rules that allow something are answers given in advance.
    if !order.permission.is_empty() && role < Role::Approve {
        return Err(ApiError::denied("rules for a turn need a token that may approve"));
    }
    let brings = !order.pictures.is_empty() || !order.attachments.is_empty();
    if order.regenerate && (order.prompt.is_some() || order.edit.is_some() || brings) {
        return Err(ApiError::usage("what is answered again is not said again: `regenerate` goes alone"));
    }
    if (order.edit.is_some() || brings) && order.prompt.is_none() {
        return Err(ApiError::usage("`edit`, `pictures` and `attachments` go with a prompt"));
    }
    if let Some(picture) = order.pictures.iter().find(|picture| !KINDS.contains(&picture.kind.as_str())) {
        return Err(ApiError::invalid(format!("{:?} is no kind of picture", picture.kind)));
    }
    let wants_events = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("text/event-stream")));
    if order.prompt.as_deref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err(
            ApiError::usage("there is nothing to say").hint("leave `prompt` out to have the end of the path answered")
        );
    }
    // One that is about to end is not one that runs.
    app.runs.freed(&SessionId::from(id.as_str())).await;
    let (whose, given) = (owner.clone(), key.clone());
    let found = app.work(move |app| {
        let session = app.session(&whose, &id)?;
        // What was carried out before is answered again, however long the log is since.
        let past = app.recall(&whose, &session, &order, given.as_deref())?;
        let is_old = past.is_some() || app.runs.is_known(&whose, &id, given.as_deref());
        if is_old {
            return Ok((session, order));
        }
        let session = app.session_at(&whose, &id, expected)?;
        // A turn that runs is told words, or refuses what is more.
        if !app.runs.is_running(session.id()) {
            app.check_order(&session, &order)?;
        }
        Ok((session, order))
    });
    let (session, order) = found.await?;
    // Whoever wants to see it all watches before it starts.
    let reader = match wants_events {
        true => {
            let id = session.id().clone();
            let read = app.work(move |app| Ok(app.engine.open_id(&id)?)).await?;
            Some(Reader::start(&app, read, None).await?)
        }
        false => None,
    };
    app.runs.freed(session.id()).await;
    let (run, is_old) = match app.runs.take(&owner, session.id(), &order, key.as_deref())? {
        Taken::Told(run) => (run, true),
        Taken::Started(run, letters) => {
            app.start(&run, session, order, letters);
            (run, false)
        }
    };
    match reader {
        Some(_) if is_old && run.is_over() => Ok(stream(futures_util::stream::iter([Ok(run.end_frame().text)]), &run)),
        Some(reader) => {
            let told = json!({"type": "open", "seq": reader.position()});
            let first = event("open", reader.id().as_deref(), &told).text;
            Ok(stream(reader.until_end_of(&run, is_old).into_stream(first), &run))
        }
        None => Ok(Answer::object(run.to_json()).status(StatusCode::ACCEPTED).into_response()),
    }
}

/// Who would answer.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Answering {
    /// The model, as `PROVIDER/NAME`.
    model: Option<String>,
    /// The agent.
    agent: Option<String>,
}

/// Lists the tools that a turn would have. Those of other programs are asked for, so the programs are started; nothing is
/// changed.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/tools", tag = "runs", request_body = Answering,
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "What they are called and what they do", body = shape::RunTools), Refusals))]
pub(crate) async fn tools(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Body(Answering { model, agent }): Body<Answering>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let order = Order { model, agent, ..Order::default() };
        let tools = app.workshop.tools(&session, &order, &app.runtime)?;
        Ok(Answer::object(shape::tools(&tools)))
    })
    .await
}

/// Describes a turn: what it asks and has said so far while it runs, and how it ended.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/runs/{run}", tag = "runs",
    params(("id" = String, Path, description = "The session"), ("run" = String, Path, description = "The turn")),
    responses((status = 200, description = "The turn", body = shape::RunningTurn), Refusals))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, run)): Named<(String, String)>,
) -> Result<Answer, ApiError> {
    Ok(Answer::object(app.runs.find(&owner, &id, &run)?.to_json_whole()))
}

/// Something to say to a model while it works.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RunWords)]
pub(crate) struct Words {
    /// What is said.
    text: String,
    /// When it counts: `steer`, before the next request; `queue`, when the turn would end. `steer` when nobody says.
    #[serde(default = "soon")]
    when: WhenBusy,
}

fn soon() -> WhenBusy {
    WhenBusy::Steer
}

/// Says something while a turn runs.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/runs/{run}/messages", tag = "runs", request_body = Words,
    params(("id" = String, Path, description = "The session"), ("run" = String, Path, description = "The turn")),
    responses((status = 202, description = "It was taken", body = shape::RunningTurn), Refusals))]
pub(crate) async fn say(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, run)): Named<(String, String)>,
    Body(words): Body<Words>,
) -> Result<Answer, ApiError> {
    let run = app.runs.find(&owner, &id, &run)?;
    let when = if words.when == WhenBusy::Reject { WhenBusy::Steer } else { words.when };
    run.say(&words.text, when)?;
    Ok(Answer::object(run.to_json()).status(StatusCode::ACCEPTED))
}

/// What is not to be said after all.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RunWordsTakenOut)]
pub(crate) struct TakenOut {
    /// What was said.
    text: String,
}

/// Takes out what was said to a turn, unless the model has it already. `queue.changed` tells when it was.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/runs/{run}/messages/take-out", tag = "runs", request_body = TakenOut,
    params(("id" = String, Path, description = "The session"), ("run" = String, Path, description = "The turn")),
    responses((status = 202, description = "It is taken out if it still waits", body = shape::RunningTurn), Refusals))]
pub(crate) async fn take_out(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, run)): Named<(String, String)>,
    Body(TakenOut { text }): Body<TakenOut>,
) -> Result<Answer, ApiError> {
    let run = app.runs.find(&owner, &id, &run)?;
    run.take_out(text)?;
    Ok(Answer::object(run.to_json()).status(StatusCode::ACCEPTED))
}

/// Stops a turn. What it has done stays.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/runs/{run}/cancel", tag = "runs", request_body = Nothing,
    params(("id" = String, Path, description = "The session"), ("run" = String, Path, description = "The turn")),
    responses((status = 202, description = "It was told to stop", body = shape::RunningTurn), Refusals))]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, run)): Named<(String, String)>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    let run = app.runs.find(&owner, &id, &run)?;
    run.cancel();
    Ok(Answer::object(run.to_json()).status(StatusCode::ACCEPTED))
}

/// Answers what a turn asks. The first answer counts.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/runs/{run}/permissions/{call}", tag = "runs", request_body = Reply,
    params(("id" = String, Path, description = "The session"), ("run" = String, Path, description = "The turn"),
        ("call" = String, Path, description = "The call that it is about")),
    responses((status = 200, description = "It was the first", body = shape::RunningTurn), Refusals))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, run, call)): Named<(String, String, String)>,
    Body(reply): Body<Reply>,
) -> Result<Answer, ApiError> {
    let run = app.runs.find(&owner, &id, &run)?;
    run.desk.answer(&call, &reply)?;
    Ok(Answer::object(run.to_json()))
}
