//! Sessions as files for elsewhere, and bundles that come in.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body as Sent, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use ramus_engine::{BundleOptions, ErrorKind, ImportOptions, Include, Session, TranscriptScope, redact};
use ramus_publish::markdown;
use ramus_wire::import as shape;
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::{Refusals, Shape};
use crate::error::{ApiError, Kind};
use crate::input::{Asked, Named};

/// How much of a bundle is made before somebody takes it: pieces of this size, and so many.
const PIECE: usize = 1 << 16;
const PIECES: usize = 8;

/// What a session becomes.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Form {
    /// `json`, a bundle that loses nothing; `html`, one page; `md`; or `pi`, one file of version 3.
    #[param(inline)]
    to: Format,
    /// For `html` and `md`: the entry that the path ends with.
    entry: Option<String>,
    /// For `md`: every branch.
    all: bool,
    /// For `json`: the sessions that it spawned too, and theirs.
    with_children: bool,
    /// For `json`: the files of every snapshot too, so that they can be restored elsewhere.
    with_snapshots: bool,
    /// For `html` and `md`: secrets, names and home directories are taken out.
    redact: bool,
}

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// A bundle.
    #[default]
    Json,
    /// A page.
    Html,
    /// Markdown.
    Md,
    /// One file of version 3.
    Pi,
}

/// Writes a session as a file.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/export", tag = "transfer",
    params(("id" = String, Path, description = "The session"), Form),
    responses((status = 200, description = "The file", body = String, content_type = "application/octet-stream"), Refusals))]
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(form): Asked<Form>,
) -> Result<Response, ApiError> {
    form.check()?;
    let (kind, name) = match form.to {
        Format::Json => ("application/json", "session.json"),
        Format::Html => ("text/html; charset=utf-8", "session.html"),
        Format::Md => ("text/markdown; charset=utf-8", "session.md"),
        Format::Pi => ("application/x-ndjson", "session.jsonl"),
    };
    let body = match form.to {
        Format::Json => bundle(&app, owner, id, &form).await?,
        Format::Html => page(&app, owner, id, form).await?,
        _ => Sent::from(app.work(move |app| written(app, app.session(&owner, &id)?, &form)).await?),
    };
    // Nothing of a session is shown by a browser that asked for a file.
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, body).into_response())
}

impl Form {
    /// Which entries are shown: a page has every branch unless an entry is named.
    fn scope(&self, session: &Session) -> Result<TranscriptScope, ApiError> {
        let entry = self.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        let leaf = entry.or(session.log().leaf());
        let is_whole = self.all || (self.to == Format::Html && entry.is_none());
        Ok(if is_whole { TranscriptScope::Whole(leaf) } else { TranscriptScope::Path(leaf) })
    }

    fn check(&self) -> Result<(), ApiError> {
        let is_reading = matches!(self.to, Format::Html | Format::Md);
        let wrong = [
            (self.redact && !is_reading, "`redact` works with html and md: the other formats lose nothing"),
            (self.all && !is_reading, "`all` works with html and md: the other formats have every branch"),
            (self.entry.is_some() && !is_reading, "`entry` works with html and md"),
            (self.with_children && self.to != Format::Json, "`with_children` works with json"),
            (self.with_snapshots && self.to != Format::Json, "`with_snapshots` works with json"),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, message)| Err(ApiError::usage(*message)))
    }
}

fn written(app: &App, mut session: Session, form: &Form) -> Result<Vec<u8>, ApiError> {
    if form.to == Format::Pi {
        return Ok(app.engine.export(&session)?);
    }
    let scope = form.scope(&session)?;
    let mut transcript = app.engine.transcript(&mut session, scope, Include::everything())?;
    if form.redact {
        let redactor = app.workshop.redactor();
        redact(&mut transcript, &mut redactor.pass());
    }
    Ok(markdown::write(&transcript).into_bytes())
}

/// A page is made while it is taken: it is longer than the session, which may be long.
async fn page(app: &Arc<App>, owner: Owner, id: String, form: Form) -> Result<Sent, ApiError> {
    let (mut session, scope, redact) = app
        .work(move |app| {
            let session = app.session(&owner, &id)?;
            let scope = form.scope(&session)?;
            Ok((session, scope, form.redact))
        })
        .await?;
    Ok(streamed(app, "the page could not be finished", move |app, out| {
        let redactor = redact.then(|| app.workshop.redactor());
        app.engine.write_page(&mut session, scope, Include::everything(), redactor.as_ref(), out)?;
        Ok(())
    }))
}

/// A bundle is made while it is taken: it may be larger than memory. One that cannot be finished breaks off.
async fn bundle(app: &Arc<App>, owner: Owner, id: String, form: &Form) -> Result<Sent, ApiError> {
    let (with_children, options) = (form.with_children, BundleOptions { snapshots: form.with_snapshots });
    let sessions = app
        .work(move |app| {
            let session = app.session(&owner, &id)?;
            let mut all = if with_children { app.engine.with_children(session)? } else { vec![session] };
            all.retain(|session| session.owner() == owner.name());
            Ok(all)
        })
        .await?;
    Ok(streamed(app, "the bundle could not be finished", move |app, out| {
        app.engine.export_bundle(&sessions, options, out)?;
        Ok(())
    }))
}

/// Sends what is made as it is made. What cannot be finished breaks off.
fn streamed(
    app: &Arc<App>,
    trouble: &'static str,
    make: impl FnOnce(&App, &mut dyn Write) -> Result<(), ApiError> + Send + 'static,
) -> Sent {
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(PIECES);
    let making = Arc::clone(app);
    tokio::spawn(async move {
        let failed = sender.clone();
        let made = making.work(move |app| {
            let mut out = Pieces { sender, piece: Vec::with_capacity(PIECE) };
            make(app, &mut out)?;
            // Whoever took it has left, if this fails.
            let _ = out.flush();
            Ok(())
        });
        if made.await.is_err() {
            let _ = failed.send(Err(io::Error::other(trouble))).await;
        }
    });
    Sent::from_stream(futures_util::stream::unfold(receiver, |mut receiver| async move {
        let piece = receiver.recv().await?;
        Some((piece, receiver))
    }))
}

/// Hands on what is written, in pieces.
struct Pieces {
    sender: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE)));
        self.sender.blocking_send(Ok(piece)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

/// How a bundle comes in.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Coming {
    /// Only say what would happen.
    dry_run: bool,
    /// Every session gets a new id, whatever is here.
    as_new: bool,
}

/// Takes in the sessions of a bundle, all of them or none. Only the user of the home may: a bundle says whose its sessions
/// are.
#[utoipa::path(post, path = "/api/v1/import", tag = "transfer", params(Coming),
    request_body(content = String, content_type = "application/json"),
    responses((status = 200, description = "What came in", body = Shape), Refusals))]
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(coming): Asked<Coming>,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    let too_large = |_| ApiError::new(Kind::TooLarge, "the bundle is too large; use `ramus import` on the machine");
    let bundle = body.map_err(too_large)?;
    app.work(move |app| {
        let options = ImportOptions { dry_run: coming.dry_run, as_new: coming.as_new };
        // What is wrong with a bundle that was sent is not wrong with the server.
        let imported = app.engine.import_bundle(&*bundle, options).map_err(|error| match error.kind() {
            ErrorKind::Corrupt => ApiError::invalid(error.to_string()),
            _ => error.into(),
        })?;
        Ok(Answer::object(shape::imported(&imported, coming.dry_run)))
    })
    .await
}
