//! Sessions as other agents store them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;

use axum::http::HeaderName;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_engine::{Extent, OneFile, Session};
use ramus_interchange::{Format as Agent, MemoryTarget, Report};
use serde_json::{Value, json};

use super::{Form, file_headers};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::error::{ApiError, Kind};
use crate::route::pieces;

/// How often something was left out that the agent has no words for.
const LOSSY: HeaderName = HeaderName::from_static("x-ramus-lossy");

/// Answers with a session as an agent stores it. It is kept in a nameless file until it is whole: what was left out is told
/// before it.
pub(super) async fn answer(
    app: &Arc<App>,
    owner: Owner,
    id: String,
    form: Form,
    agent: Agent,
) -> Result<Response, ApiError> {
    let making = Arc::clone(app);
    let make = move || {
        let app = &making;
        let session = app.session(&owner, &id)?;
        let extent = match form.entry.as_deref().map(|entry| session.resolve(entry)).transpose()? {
            None if form.all => Extent::Whole,
            entry => Extent::Path(entry),
        };
        match agent {
            Agent::Directory => several(app, &session, extent).map(Made::Files),
            _ => one(app, &session, extent, agent).map(|(file, length, report)| Made::File(file, length, report)),
        }
    };
    match app.exports.run(make).await? {
        Made::Files(answer) => Ok(answer.into_response()),
        Made::File(file, length, report) => {
            let lossy = [(LOSSY, lost(&report).to_string())];
            let headers = file_headers("application/octet-stream", &format!("session.{}", agent.name()));
            Ok((headers, lossy, pieces(Arc::clone(app), file, length)).into_response())
        }
    }
}

enum Made {
    File(File, u64, Report),
    Files(Answer),
}

fn one(app: &App, session: &Session, extent: Extent, agent: Agent) -> Result<(File, u64, Report), ApiError> {
    let file = app.engine.spool().map_err(unkept)?;
    let mut out = io::BufWriter::new(file);
    let report = app.engine.convert(session, agent, extent, session.start(), &mut OneFile::new(&mut out))?;
    out.flush().map_err(unkept)?;
    let mut file = out.into_inner().map_err(|error| unkept(error.into_error()))?;
    let length = file.stream_position().map_err(unkept)?;
    file.rewind().map_err(unkept)?;
    Ok((file, length, report))
}

/// A format of several files is one object.
fn several(app: &App, session: &Session, extent: Extent) -> Result<Answer, ApiError> {
    let mut target = MemoryTarget { files: BTreeMap::new() };
    let report = app.engine.convert(session, Agent::Directory, extent, session.start(), &mut target)?;
    let told = |(path, bytes): (String, Vec<u8>)| match String::from_utf8(bytes) {
        Ok(text) => json!({"path": path, "text": text}),
        Err(error) => json!({"path": path, "base64": STANDARD.encode(error.as_bytes())}),
    };
    let files: Vec<Value> = target.files.into_iter().map(told).collect();
    let lossy = report.losses.iter().map(|loss| json!({"why": loss.why, "line": loss.line, "count": loss.count}));
    Ok(Answer::json(json!({"entries": report.entries, "files": files, "lossy": lossy.collect::<Vec<_>>()})))
}

fn lost(report: &Report) -> u64 {
    report.losses.iter().map(|loss| loss.count).sum()
}

fn unkept(error: io::Error) -> ApiError {
    ApiError::new(Kind::Broken, format!("the file could not be kept while it was made: {error}"))
}
