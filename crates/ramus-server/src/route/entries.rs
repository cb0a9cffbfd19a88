//! Entries: what is stored, line by line, and appending.

mod sent;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use ramus_engine::{Cursor, EngineError, ErrorKind, SharedSession, Written};
use ramus_model::json::Raw;
use ramus_model::{Draft, Log, Seq, SessionId};
use ramus_wire::{entries as page, session as shape};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::{App, moved};
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::input::{Asked, Body, Expected, Key, Named};
use crate::role::Role;
use sent::Sent;

/// How many entries a page holds when nobody says, and at most.
const PAGE: usize = 100;
const MOST: usize = 1000;

/// How many bytes of entries a page holds, whatever was asked for.
const WEIGHT: usize = 8 << 20;

/// How many bytes of a batch are looked at without a thread of its own.
const LIGHT: usize = 1 << 16;

/// How many entries are appended at a time.
const BATCH: usize = 10_000;

/// Which entries are read.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// Only entries behind this position.
    cursor: Option<u64>,
    /// At most so many.
    limit: Option<usize>,
}

/// Reads stored entries in the order of the log, each as it is stored.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/entries", tag = "entries",
    params(("id" = String, Path, description = "The session"), Range),
    responses((status = 200, description = "The entries, and where the next page starts", body = page::EntryPage), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(range): Asked<Range>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let log = session.log();
        let behind = usize::try_from(range.cursor.unwrap_or_default()).unwrap_or(usize::MAX);
        let limit = range.limit.unwrap_or(PAGE).clamp(1, MOST);
        let mut body =
            format!("{{\"schema_version\":1,\"session\":{},\"entries\":[", Value::from(session.id().as_str()))
                .into_bytes();
        let mut last = None;
        for seq in log.seqs().skip(behind).take(limit) {
            if body.len() > WEIGHT {
                break;
            }
            if last.replace(seq).is_some() {
                body.push(b',');
            }
            put(&mut body, log, seq, &session.line(seq)?);
        }
        let len = log.len() as u64;
        let next = last.map(|seq| u64::from(seq.number())).filter(|last| *last < len);
        let rest = Value::Object(page::end(next, len)).to_string();
        body.extend_from_slice(b"],");
        // The members of the rest follow ours in the same object.
        body.extend_from_slice(rest.strip_prefix('{').unwrap_or("}").as_bytes());
        Ok(Answer::bytes(body).at(len))
    })
    .await
}

/// Writes an entry: its position, and the stored line as it is. A line that is no JSON is told as text.
fn put(body: &mut Vec<u8>, log: &Log, seq: Seq, line: &[u8]) {
    let id = Value::from(log.id(seq));
    body.extend_from_slice(format!("{{\"seq\":{},\"id\":{id},\"entry\":", seq.number()).as_bytes());
    match std::str::from_utf8(line) {
        Ok(text) if Raw::parse(line).is_some() => body.extend_from_slice(text.as_bytes()),
        _ => body.extend_from_slice(Value::from(String::from_utf8_lossy(line)).to_string().as_bytes()),
    }
    body.push(b'}');
}

/// Reads the stored line of an entry, byte for byte.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/entries/{entry}", tag = "entries",
    params(("id" = String, Path, description = "The session"), ("entry" = String, Path, description = "Id, unique prefix, #seq or label; @ is the leaf")),
    responses((status = 200, description = "The line", body = Value, content_type = "application/json"), Refusals))]
pub(crate) async fn line(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, entry)): Named<(String, String)>,
) -> Result<impl IntoResponse, ApiError> {
    let line = app.work(move |app| {
        let session = app.session(&owner, &id)?;
        // Behind an `@` the name may be empty: the leaf.
        Ok(session.line(session.resolve(entry.strip_prefix('@').unwrap_or(&entry))?)?)
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], line.await?))
}

/// Entries to append.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    /// Bodies of entries: `type` and its members; `id`, `parentId` and `timestamp` are optional.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<Box<RawValue>>,
    /// The entry that the first one hangs from; when someone was faster, the batch becomes a branch and the leaf stays.
    #[serde(default)]
    parent: Option<String>,
}

/// Appends entries, all or none. Answers when they are as durable as the home makes them. `If-Match` has them written only at
/// that position; with the same `Idempotency-Key` they are written once, however often they are sent. Entries whose
/// `customType` begins with `ramus.` need a token that may approve.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/entries", tag = "entries", request_body = Batch,
    params(("id" = String, Path, description = "The session"),
        ("If-Match" = Option<String>, Header, description = "The expected position"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 201, description = "Where the entries are", body = shape::AppendedEntries),
        (status = 200, description = "Where they are already", body = shape::AppendedEntries), Refusals))]
pub(crate) async fn append(
    State(app): State<Arc<App>>,
    owner: Owner,
    axum::Extension(role): axum::Extension<Role>,
    Named(id): Named<String>,
    expected: Expected,
    Key(key): Key,
    Body(batch): Body<Batch>,
) -> Result<Answer, ApiError> {
    let weight: usize = batch.entries.iter().map(|entry| entry.get().len()).sum();
    let is_simple = key.is_none() && expected.0.is_none() && batch.parent.is_none() && weight <= LIGHT;
    let id = SessionId::from(id.as_str());
    let shared = match app.shelf.held(&owner, &id) {
        Some(held) => held,
        None => {
            let id = id.clone();
            app.work(move |app| Ok(app.shelf.open(&app.engine, app.durability, app.session(&owner, id.as_str())?)))
                .await?
        }
    };
    let ready = {
        let (id, shared) = (id.clone(), Arc::clone(&shared));
        let prepare = move || prepare(&batch, role, &shared, &id, key.as_deref(), expected);
        // Whatever asks the log may wait for whoever writes; what is long takes a while.
        if is_simple { prepare() } else { app.work.run(prepare).await }
    };
    // What was open under the id is gone, or another session by now.
    if ready.as_ref().is_err_and(|error| error.kind() == Kind::Engine(ErrorKind::NotFound)) {
        app.shelf.close(&id);
    }
    let (drafts, cursor, sent) = match ready? {
        Ready::New(drafts, cursor, sent) => (drafts, cursor, sent),
        Ready::Known(answer) => return Ok(answer),
    };
    let submitted = shared.submit(drafts, cursor);
    if let Some(carrier) = submitted.carrier {
        app.work.start(move || carrier.run())?;
    }
    let lost = |_| ApiError::new(Kind::Late, "the server could not get to it; it was not written");
    match submitted.outcome.await.map_err(lost)? {
        Ok(appended) => {
            app.metrics.entries.fetch_add(appended.entries.len() as u64, Ordering::Relaxed);
            Ok(answer(&appended.entries, appended.is_sibling).status(StatusCode::CREATED))
        }
        Err(error) => app.work(move |app| recover(app, &shared, &id, sent, expected, error)).await,
    }
}

/// A batch that can be handed in, or what it was answered before.
enum Ready {
    New(Vec<Draft>, Cursor, Option<Sent>),
    Known(Answer),
}

fn prepare(
    batch: &Batch,
    role: Role,
    shared: &SharedSession,
    id: &SessionId,
    key: Option<&str>,
    expected: Expected,
) -> Result<Ready, ApiError> {
    let mut drafts = batch.drafts()?;
    check_ours(&drafts, role)?;
    let sent = key.map(|key| Sent::named(&mut drafts, id, key)).transpose()?;
    if let Some(sent) = &sent
        && let Some(answer) = sent.written_before(shared)?
    {
        return Ok(Ready::Known(answer));
    }
    Ok(Ready::New(drafts, cursor(shared, expected, batch.parent.as_deref())?, sent))
}

impl Batch {
    fn drafts(&self) -> Result<Vec<Draft>, ApiError> {
        if self.entries.is_empty() || self.entries.len() > BATCH {
            return Err(ApiError::invalid(format!("a batch has 1 to {BATCH} entries")));
        }
        let draft = |(at, entry): (usize, &RawValue)| {
            // A line has no breaks. In JSON they stand between tokens only, where spaces mean the same.
            let spaced = |byte: u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte };
            let line: Vec<u8> = entry.get().bytes().map(spaced).collect();
            Draft::parse(&line)
                .map_err(|error| EngineError::InvalidLine { line: at + 1, reason: error.to_string() }.into())
        };
        self.entries.iter().map(|entry| &**entry).enumerate().map(draft).collect()
    }
}

/// What the engine writes about a session can allow something: rules, the directory, which snapshots there are. Whoever may
/// not answer a question must not answer it in advance.
fn check_ours(drafts: &[Draft], role: Role) -> Result<(), ApiError> {
    let mut ours = drafts.iter().filter(|draft| draft.body.is_ours()).peekable();
    if role >= Role::Approve || ours.peek().is_none() {
        // What nobody could read would be damage.
        return match ours.all(|draft| is_sound(&draft.body)) {
            true => Ok(()),
            false => Err(ApiError::invalid("an entry of ramus itself lacks what its type requires")),
        };
    }
    let denied = ApiError::denied("entries of ramus itself need a token that may approve");
    Err(denied.hint("choose a `customType` that does not begin with `ramus.`"))
}

/// Says whether readers find in an entry of ours what holds for the whole session, where its type says that.
fn is_sound(body: &ramus_model::Body) -> bool {
    let member = |name: &str| body.member("data").and_then(|data| data.field(name));
    match body.member("customType").and_then(Raw::text).as_deref() {
        Some("ramus.meta") => {
            member("set").is_some_and(|set| serde_json::from_slice::<Map<String, Value>>(set.bytes()).is_ok())
        }
        Some("ramus.segment") => member("replacement").and_then(Raw::text).is_some(),
        _ => true,
    }
}

/// Where a batch goes. Who expects more than we know has seen what another process wrote.
fn cursor(shared: &SharedSession, expected: Expected, parent: Option<&str>) -> Result<Cursor, ApiError> {
    let is_ahead = |expected| shared.read(|session| expected > session.log().len() as u64);
    if parent.is_some() || expected.0.is_some_and(is_ahead) {
        shared.with(|engine, session| engine.read_on(session))?;
    }
    match (expected.0, parent) {
        (Some(_), Some(_)) => Err(ApiError::usage("a batch has a parent or an expected position, not both")),
        (Some(expected), None) => Ok(Cursor::Expecting(expected)),
        (None, None) => Ok(Cursor::Leaf),
        (None, Some(parent)) => {
            let found = shared.read(|session| session.resolve(parent).map(|seq| session.entry_id(seq)));
            Ok(Cursor::At(found?))
        }
    }
}

/// What becomes of an append that failed.
fn recover(
    app: &App,
    shared: &SharedSession,
    id: &SessionId,
    sent: Option<Sent>,
    expected: Expected,
    error: EngineError,
) -> Result<Answer, ApiError> {
    // Someone else may have sent the same at the same time, perhaps to another process.
    if let Some(sent) = sent
        && error.kind() == ErrorKind::Invalid
        && let Some(answer) = sent.written_before(shared)?
    {
        return Ok(answer);
    }
    if error.kind() == ErrorKind::NotFound {
        app.shelf.close(id);
    }
    if let (ErrorKind::Conflict, Some(expected)) = (error.kind(), expected.0) {
        let found = shared.read(|session| session.log().len() as u64);
        if found != expected {
            return Err(moved(found, expected));
        }
        return Err(ApiError::new(Kind::Precondition, error.to_string()));
    }
    Err(error.into())
}

fn answer(written: &[Written], is_sibling: bool) -> Answer {
    let position = written.last().map(|last| u64::from(last.seq.number()));
    let answer = Answer::object(shape::appended(written, is_sibling));
    position.map_or(answer.clone(), |position| answer.at(position))
}
