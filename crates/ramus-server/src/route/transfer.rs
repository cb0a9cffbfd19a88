//! Sessions as files for elsewhere, and bundles that come in.

mod convert;

use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body as Sent, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use ramus_engine::{BundleOptions, ErrorKind, Forks, ImportOptions, Include, Session, TranscriptScope, redact};
use ramus_interchange::Format as Agent;
use ramus_publish::markdown;
use ramus_wire::import as shape;
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};
use crate::upload;

/// How much of a bundle is made before somebody takes it: pieces of this size, and so many.
const PIECE: usize = 1 << 16;
const PIECES: usize = 8;

/// What a session becomes.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Form {
    /// `json`, a bundle that loses nothing; `html`, one page; `md`; `pi` or `omp`, one file of version 3; or a session as
    /// another agent stores it. `directory`, which has several files, is a JSON object: `files`, each with its `path` and its
    /// `text`, or its bytes in `base64`.
    #[param(inline)]
    to: Format,
    /// For `html`, `md` and other agents: the entry that the path ends with.
    entry: Option<String>,
    /// For `md`, `claude` and `okcvm`: every branch.
    all: bool,
    /// For `json`: the sessions that it spawned too, and theirs.
    with_children: bool,
    /// For `json`: the files of every snapshot too, so that they can be restored elsewhere.
    with_snapshots: bool,
    /// For `json`: a fork as it is, behind what it stands on, instead of as a file that stands on its own; for whoever
    /// draws it elsewhere.
    with_origins: bool,
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
    /// The same.
    Omp,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// goose.
    Goose,
    /// Opal.
    Opal,
    /// Shepherd.
    Shepherd,
    /// OKCVM.
    Okcvm,
    /// A file for each message.
    Directory,
    /// ATIF.
    Atif,
}

impl Format {
    /// The agent whose sessions look so; none for what this program writes itself.
    fn agent(self) -> Option<Agent> {
        Some(match self {
            Self::Json | Self::Html | Self::Md | Self::Pi | Self::Omp => return None,
            Self::Claude => Agent::Claude,
            Self::Codex => Agent::Codex,
            Self::Gemini => Agent::Gemini,
            Self::Opencode => Agent::Opencode,
            Self::Goose => Agent::Goose,
            Self::Opal => Agent::Opal,
            Self::Shepherd => Agent::Shepherd,
            Self::Okcvm => Agent::Okcvm,
            Self::Directory => Agent::Directory,
            Self::Atif => Agent::Atif,
        })
    }
}

/// Writes a session as a file. Of what another agent has no words for, `X-Ramus-Lossy` tells how often, and the
/// object of a `directory` also what.
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
    if let Some(agent) = form.to.agent() {
        return convert::answer(&app, owner, id, form, agent).await;
    }
    let (kind, name) = match form.to {
        Format::Json => ("application/json", "session.json"),
        Format::Html => ("text/html; charset=utf-8", "session.html"),
        Format::Md => ("text/markdown; charset=utf-8", "session.md"),
        _ => ("application/x-ndjson", "session.jsonl"),
    };
    let body = match form.to {
        Format::Json => bundle(&app, owner, id, &form).await?,
        Format::Html => page(&app, owner, id, form).await?,
        _ => Sent::from(app.work(move |app| written(app, app.session(&owner, &id)?, &form)).await?),
    };
    Ok((file_headers(kind, name), body).into_response())
}

/// Nothing of a session is shown by a browser that asked for a file.
fn file_headers(kind: &str, name: &str) -> [(HeaderName, String); 2] {
    let disposition = format!("attachment; filename=\"{name}\"");
    [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)]
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
        let agent = self.to.agent();
        let has_branches = agent.is_some_and(ramus_engine::has_branches);
        let wrong = [
            (self.redact && !is_reading, "`redact` works with html and md: the other formats lose nothing"),
            (self.all && !is_reading && !has_branches, "`all` works with html, md, claude, opal and okcvm"),
            (self.entry.is_some() && !is_reading && agent.is_none(), "`entry` works with html, md and other agents"),
            (self.entry.is_some() && self.all && agent.is_some(), "`entry` and `all` do not go together"),
            (self.with_children && self.to != Format::Json, "`with_children` works with json"),
            (self.with_snapshots && self.to != Format::Json, "`with_snapshots` works with json"),
            (self.with_origins && self.to != Format::Json, "`with_origins` works with json"),
            (self.with_origins && self.with_children, "`with_origins` and `with_children` do not go together"),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, message)| Err(ApiError::usage(*message)))
    }
}

fn written(app: &App, mut session: Session, form: &Form) -> Result<Vec<u8>, ApiError> {
    if matches!(form.to, Format::Pi | Format::Omp) {
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
    let forks = if form.with_origins { Forks::WithOrigins } else { Forks::Alone };
    let (with_children, options) = (form.with_children, BundleOptions { snapshots: form.with_snapshots, forks });
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
        let app = Arc::clone(&making);
        let made = making.exports.run(move || {
            let pace = Pace { grace: app.limits.request, rate: app.limits.pace, taken: 0, waited: Duration::ZERO };
            let mut out = Pieces { sender, piece: Vec::with_capacity(PIECE), pace, runtime: app.runtime.clone() };
            make(&app, &mut out)?;
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
    pace: Pace,
    runtime: Handle,
}

/// How much was taken, and how long was waited for that.
struct Pace {
    grace: Duration,
    rate: u64,
    taken: u64,
    waited: Duration,
}

impl Pace {
    /// Returns how long is waited for the next piece to be taken. Time that it took to make pieces is not counted.
    fn left(&self) -> Duration {
        let earned = Duration::from_secs(self.taken / self.rate.max(1));
        self.grace.saturating_add(earned).saturating_sub(self.waited)
    }

    fn take(&mut self, length: usize, waited: Duration) {
        self.taken = self.taken.saturating_add(length as u64);
        self.waited = self.waited.saturating_add(waited);
    }
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
        let (length, left, asked) = (piece.len(), self.pace.left(), Instant::now());
        let sender = &self.sender;
        // A timer is made inside the runtime that it belongs to.
        let sent = self.runtime.block_on(async { tokio::time::timeout(left, sender.send(Ok(piece))).await });
        self.pace.take(length, asked.elapsed());
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
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
    responses((status = 200, description = "What came in", body = shape::ImportedBundle), Refusals))]
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(coming): Asked<Coming>,
    headers: HeaderMap,
    body: Sent,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    let bundle = upload::keep(&app, &headers, body).await?;
    let taken = app.work(move |app| {
        let options = ImportOptions { dry_run: coming.dry_run, as_new: coming.as_new, bases: false };
        let bundle = BufReader::with_capacity(PIECE, bundle);
        // What is wrong with a bundle that was sent is not wrong with the server.
        let imported = app.engine.import_bundle(bundle, options).map_err(|error| match error.kind() {
            ErrorKind::Corrupt => ApiError::invalid(error.to_string()),
            _ => error.into(),
        })?;
        Ok(Answer::object(shape::imported(&imported, coming.dry_run)))
    });
    // How long that takes depends on how much it is, and nobody can send it in smaller parts.
    taken.await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_enough_in_a_second_is_waited_for_and_who_does_not_is_not() {
        let second = Duration::from_secs(1);
        let mut pace = Pace { grace: 2 * second, rate: 1000, taken: 0, waited: Duration::ZERO };
        assert_eq!(pace.left(), 2 * second);
        for _ in 0..1000 {
            pace.take(1000, second);
            assert_eq!(pace.left(), 2 * second, "a thousand in a second is enough");
        }
        for _ in 0..4 {
            pace.take(500, second);
        }
        assert_eq!(pace.left(), Duration::ZERO);
    }
}
