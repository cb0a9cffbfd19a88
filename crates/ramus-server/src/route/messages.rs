//! The conversation along a path.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{Say, Session, Written};
use ramus_model::Record;
use ramus_wire::session::{self as shape, MessageJson, MessagePage};
use ramus_wire::{object_of, versioned};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::input::{Asked, Body, Expected, Key, Named};
use crate::route::keyed;

/// How many messages a page holds when nobody says, and at most.
const PAGE: usize = 100;
const MOST: usize = 10_000;

/// Which messages are read.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// The end of the path; the leaf when none is named.
    entry: Option<String>,
    /// At most so many.
    limit: Option<usize>,
    /// Behind this message: the `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Reads messages from the root to the leaf, or to another entry.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/messages", tag = "entries",
    params(("id" = String, Path, description = "The session"), Range),
    responses((status = 200, description = "The session, its messages, and where the next page starts", body = shape::MessagePage), Refusals))]
pub(crate) async fn messages(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(range): Asked<Range>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let leaf = match &range.entry {
            Some(entry) => Some(session.resolve(entry)?),
            None => session.log().leaf(),
        };
        let limit = range.limit.unwrap_or(PAGE).clamp(1, MOST);
        let page = session.select_messages(leaf, Some(limit), range.cursor.as_deref())?;
        let info = app.describe(&session)?;
        let whole = shape::whole(&session, &info, &app.prices, &app.engine.open_shares()?);
        let front = MessagePage { session: whole, next_cursor: page.next_cursor.as_deref(), messages: Vec::new() };
        let mut body = versioned(object_of(&front)).to_string().into_bytes();
        // The messages follow in the same object, each written as soon as it is read.
        body.pop();
        body.extend_from_slice(b",\"messages\":[");
        let mut is_first = true;
        for (seq, parent) in page.entries {
            let Some(view) = session.view(seq, parent)? else { continue };
            if !std::mem::replace(&mut is_first, false) {
                body.push(b',');
            }
            MessageJson::of(&view).in_session(&session, &view).write(&mut body).map_err(unwritten)?;
        }
        body.extend_from_slice(b"]}");
        Ok(Answer::bytes(body).at(session.log().len() as u64))
    })
    .await
}

fn unwritten(error: serde_json::Error) -> ApiError {
    ApiError::new(Kind::Broken, error.to_string())
}

/// A text message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// What is said.
    text: String,
    /// Who says it.
    #[serde(default)]
    role: Speaker,
}

/// Who can say something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Speaker {
    /// A person.
    #[default]
    User,
    /// A model.
    Assistant,
    /// Whoever set it up.
    System,
}

/// Appends one text message. No model is asked.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/messages", tag = "entries", request_body = Words,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 201, description = "The entry", body = shape::WrittenEntry), Refusals))]
pub(crate) async fn say(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    (expected, Key(key)): (Expected, Key),
    Body(words): Body<Words>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let role = match words.role {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::System => "system",
        };
        let say = Say { role: role.into(), text: words.text, ..Say::default() };
        let Some(key) = key else {
            return said(app, app.session_at(&owner, &id, expected)?, say);
        };
        // What was said before is answered again, however long the log is since.
        let session = app.session(&owner, &id)?;
        let say = Say { id: Some(keyed::message(&session, &key)), ..say };
        if let Some(answer) = said_before(&session, &say)? {
            return Ok(answer);
        }
        match said(app, app.session_at(&owner, &id, expected)?, say.clone()) {
            // Someone else may have sent the same at the same time, perhaps to another process.
            Err(error) => said_before(&app.session(&owner, &id)?, &say)?.ok_or(error),
            answer => answer,
        }
    })
    .await
}

fn said(app: &App, mut session: Session, say: Say) -> Result<Answer, ApiError> {
    let written = app.engine.say(&mut session, say)?;
    app.metrics.entries.fetch_add(1, Ordering::Relaxed);
    let position = app.finish(&mut session)?;
    Ok(Answer::object(shape::written(&written)).status(StatusCode::CREATED).at(position))
}

/// Answers again what a message with this id was answered.
fn said_before(session: &Session, say: &Say) -> Result<Option<Answer>, ApiError> {
    let log = session.log();
    let Some((id, seq)) = say.id.as_ref().and_then(|id| Some((id, log.seq_of(id.as_str())?))) else {
        return Ok(None);
    };
    let known = session.message(seq)?;
    if !known.is_some_and(|known| known.role_name.as_str() == say.role && known.text() == say.text) {
        return Err(keyed::other());
    }
    let parent = log.record(seq).and_then(Record::parent).map(|parent| session.entry_id(parent));
    let written = Written { id: id.clone(), seq, parent };
    let answer = Answer::object(shape::written(&written)).status(StatusCode::CREATED);
    Ok(Some(answer.at(log.len() as u64)))
}
