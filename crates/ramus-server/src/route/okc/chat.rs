//! A message to a model, answered when the turn is over, or while it goes on.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequest as _, Request, State};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use utoipa::ToSchema;

use super::live::wants_events;
use super::reply::Awaited;
use super::{Client, Whose, stream};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::guard::late;
use crate::hub::Reader;
use crate::input::{Body, Key};
use crate::run::{Order, Running, Taken, WhenBusy};

/// What is said.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Message {
    /// The text.
    message: String,
    /// Leave the last thing that was said out, with what was answered; both stay as a branch.
    #[serde(default)]
    replace_last: bool,
    /// Tell what happens while it does; only with `Accept: text/event-stream`.
    #[serde(default)]
    stream: bool,
    /// The model, as `PROVIDER/NAME`.
    #[serde(default)]
    model: Option<String>,
    /// Whether questions wait for an answer at `/api/v1/sessions/{id}/runs`; otherwise what must be asked is denied.
    #[serde(default)]
    ask: bool,
}

/// Says something in the session of a client, which is made and seeded if need be, and answers with what the model says. The
/// turn goes on whoever waits for it.
#[utoipa::path(post, path = "/api/chat", tag = "workbench", request_body = Message,
    params(Whose, ("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 200, description = "The answer, what was made, and the state of history and workspace; or events",
        content((ramus_wire::okc::ChatReply = "application/json"), (String = "text/event-stream"))), Refusals))]
pub(crate) async fn chat(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Key(key): Key,
    request: Request,
) -> Result<Response, ApiError> {
    let limit = app.limits.request;
    let begun = tokio::time::timeout(limit, begin(app, owner, client, key, request));
    let Begun { run, is_old, reader, ended } = begun.await.map_err(|_| late(&Method::POST))??;
    match reader {
        // Nothing of it is told any more.
        Some(_) if is_old && run.is_over() => Ok(stream::answer(None, ended)),
        Some(reader) => Ok(stream::answer(Some(reader.until_end_of(&run, is_old)), ended)),
        // A turn takes as long as it takes, and this is its answer.
        None => {
            let failed = |_| ApiError::new(Kind::Broken, "the server failed; look before trying again");
            Ok(Answer::object(ended.await.map_err(failed)??).into_response())
        }
    }
}

/// Says whether a request is answered when a turn is over, however long that takes.
pub(crate) fn waits_for_turn(method: &Method, route: Option<&str>) -> bool {
    method == Method::POST && route == Some("/api/chat")
}

/// A turn that was started, whoever watches it, and what comes of it.
struct Begun {
    run: Arc<Running>,
    /// Whether it was started before, with the same key.
    is_old: bool,
    reader: Option<Reader>,
    ended: JoinHandle<Result<Map<String, Value>, ApiError>>,
}

async fn begin(
    app: Arc<App>,
    owner: Owner,
    client: Client,
    key: Option<String>,
    request: Request,
) -> Result<Begun, ApiError> {
    let headers = request.headers().clone();
    let Body(said) = Body::<Message>::from_request(request, &()).await?;
    if said.message.trim().is_empty() {
        return Err(ApiError::invalid("a message has words"));
    }
    let started = Instant::now();
    let (whose, name) = (owner.clone(), client.clone());
    let session = app.work_alone(&owner, &client, move |app| app.start_client_session(&whose, &name));
    let session = session.await?;
    // Whoever wants to see it all watches before it starts.
    let reader = match said.stream && wants_events(&headers) {
        true => {
            let id = session.id().clone();
            let read = app.work(move |app| Ok(app.engine.open_id(&id)?)).await?;
            Some(Reader::start(&app, read, None).await?)
        }
        false => None,
    };
    app.runs.freed(session.id()).await;
    let prompt = said.message;
    // The answer is that of one turn, so what comes while another one runs is not told to that.
    let when_busy = WhenBusy::Reject;
    let (model, ask, leave_last) = (said.model, Some(said.ask), said.replace_last);
    let order = Order { prompt: Some(prompt.clone()), model, ask, leave_last, when_busy, ..Order::default() };
    let whose = owner.clone();
    // In one piece: a turn that was taken is started, whoever has left meanwhile.
    let run = app.work(move |app| {
        if let Some(past) = app.recall(&whose, &session, &order, key.as_deref())? {
            return Ok((past, true));
        }
        // A turn that runs refuses what comes; one that could not run is refused before anybody is told of it.
        let is_known = app.runs.is_known(&whose, session.id().as_str(), key.as_deref());
        if !is_known && !app.runs.is_running(session.id()) {
            app.check_order(&session, &order)?;
        }
        match app.runs.take(&whose, session.id(), &order, key.as_deref())? {
            Taken::Told(run) => Ok((run, true)),
            Taken::Started(run, letters) => {
                app.start(&run, session, order, letters);
                Ok((run, false))
            }
        }
    });
    let (run, is_old) = run.await?;
    let awaited = Awaited { app: Arc::clone(&app), owner, client, run: Arc::clone(&run), prompt, started };
    // It is brought to its end also when nobody waits any more.
    let ended = tokio::spawn(awaited.reply());
    Ok(Begun { run, is_old, reader, ended })
}
