//! What tools made for people to look at: deployments and presentations, as files of a client's own session.
//!
//! They are pages that a model wrote, served beside everything that a token opens. So no script of theirs runs, they send
//! nothing, nothing frames them, and whatever is not shown is handed over as a file. Only what lies in the directories of
//! the session itself is served, wherever links lead.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::body::Body as Sent;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use ramus_engine::Session;
use ramus_tools::Workspace;
use ramus_tools::tool::artifact::slug;
use ramus_tools::workspace::{Intent, PlaceError};
use serde_json::Value;

use super::{Client, Whose};
use crate::access::Owner;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::input::Named;

/// The directories that tools put things in.
const KINDS: [&str; 2] = ["deployments", "generated_slides"];

/// Where this is served.
const PLACE: &str = "/api/session/assets/";

/// How much of a file is read at a time.
const PIECE: usize = 1 << 16;

/// What pages may do: look as they were made. Scripts do not run, nothing is sent anywhere, nothing opens or leads elsewhere. They
/// keep their origin, or the guard would take what belongs to them for a request from elsewhere.
const POLICY: &str = "sandbox allow-same-origin; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
    media-src 'self' data:; script-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'none'";

/// Shows a file of a deployment or presentation of the client's session. A directory stands for its `index.html`.
#[utoipa::path(get, path = "/api/session/assets/{*path}", tag = "workbench",
    params(("path" = String, Path, description = "The file: what the `url` of an artefact says"), Whose),
    responses((status = 200, description = "The file", body = Vec<u8>, content_type = "application/octet-stream"), Refusals))]
pub(crate) async fn asset(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(path): Named<String>,
) -> Result<Response, ApiError> {
    let path = checked(&path)?;
    let (file, length, kind) = app
        .work(move |app| {
            let session = app.client_session(&owner, &client)?.ok_or_else(missing)?;
            open(&session, &path)
        })
        .await?;
    let disposition = if kind == FILE { "attachment" } else { "inline" };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, disposition.to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow, noarchive".to_owned()),
    ];
    Ok((headers, pieces(app, file, length)).into_response())
}

/// Takes a path that leads downwards and nowhere else.
fn checked(path: &str) -> Result<PathBuf, ApiError> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_downwards = Path::new(path).components().all(is_plain) && !path.contains(['\\', '\0']) && !path.is_empty();
    // `a/./b` has no such component left, and means nothing that `a/b` does not.
    let is_spelled_out = path.split('/').all(|part| part != "." && part != "..");
    if is_downwards && is_spelled_out { Ok(path.into()) } else { Err(ApiError::usage("the path leads elsewhere")) }
}

fn missing() -> ApiError {
    ApiError::not_found("File not found")
}

/// Opens a file that is in one of the session's own directories.
fn open(session: &Session, path: &Path) -> Result<(File, u64, &'static str), ApiError> {
    let workspace = Workspace::open(Path::new(session.cwd()), &[]).map_err(|_| missing())?;
    let own: Vec<PathBuf> = KINDS.iter().map(|kind| Path::new(kind).join(slug(session.id().as_str()))).collect();
    let mut path = path.to_owned();
    for _ in 0..2 {
        let text = path.to_str().ok_or_else(missing)?;
        let place = workspace.resolve(text, Intent::Read).map_err(|_| missing())?;
        // Where it really is: a link may have led out of the directory.
        if !own.iter().any(|own| place.path().starts_with(own)) {
            return Err(missing());
        }
        match workspace.open_file(&place) {
            Ok(file) => {
                let failed = |error: std::io::Error| ApiError::new(Kind::Broken, error.to_string());
                let length = file.metadata().map_err(failed)?.len();
                return Ok((file, length, kind_of(&path)));
            }
            Err(PlaceError::Kind(..)) => path.push("index.html"),
            Err(_) => return Err(missing()),
        }
    }
    Err(missing())
}

const FILE: &str = "application/octet-stream";

/// What a browser takes a file for. Scripts are text: none of them runs, here or elsewhere.
fn kind_of(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "txt" | "md" | "js" | "mjs" | "csv" => "text/plain; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => FILE,
    }
}

/// Reads a file while it is taken, as long as it was when it was opened.
pub(crate) fn pieces(app: Arc<App>, file: File, length: u64) -> Sent {
    Sent::from_stream(futures_util::stream::try_unfold((app, file, length), |(app, mut file, left)| async move {
        if left == 0 {
            return Ok::<_, ApiError>(None);
        }
        let read = app.work.run(move || {
            let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
            let failed = |error: std::io::Error| ApiError::new(Kind::Broken, error.to_string());
            let read = file.read(&mut piece).map_err(failed)?;
            piece.truncate(read);
            Ok((piece, file))
        });
        let (piece, file) = read.await?;
        if piece.is_empty() {
            return Err(ApiError::new(Kind::Broken, "the file became shorter"));
        }
        let left = left - piece.len() as u64;
        Ok(Some((Bytes::from(piece), (app, file, left))))
    }))
}

/// Lists the directories of what tools of a session made.
pub(super) fn kept(session: &Session) -> Vec<String> {
    let mut found = Vec::new();
    for kind in KINDS {
        let own = Path::new(kind).join(slug(session.id().as_str()));
        let inner = std::fs::read_dir(Path::new(session.cwd()).join(&own)).into_iter().flatten().flatten();
        found.extend(inner.map(|entry| own.join(entry.file_name()).display().to_string()));
    }
    found.sort_unstable();
    found
}

/// Gives an artefact the address under which its client sees it.
pub(super) fn addressed(mut artifact: Value, client: &Client) -> Value {
    if let Some(url) = artifact.get("url").and_then(Value::as_str) {
        let address = address(url, client);
        if let Some(object) = artifact.as_object_mut() {
            object.insert("url".into(), address.into());
        }
    }
    artifact
}

/// An address with the client in it. One of another machine is left alone.
fn address(url: &str, client: &Client) -> String {
    let host = url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let address = match host {
        Some(host) => {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            if !matches!(name, "127.0.0.1" | "localhost" | "0.0.0.0") {
                return url.to_owned();
            }
            url.to_owned()
        }
        None => format!("{PLACE}{}", encoded(url.trim_start_matches('/'), true)),
    };
    let query = address.split_once('?').map(|(_, query)| query);
    let is_named = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("client_id=")));
    let sign = if query.is_some() { '&' } else { '?' };
    if is_named { address } else { format!("{address}{sign}client_id={}", encoded(client.name(), false)) }
}

/// Spells out what may not stand in an address as it is.
fn encoded(text: &str, is_path: bool) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') || (is_path && byte == b'/')
    };
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_downwards() {
        assert!(checked("deployments/s/site/index.html").is_ok());
        for wrong in ["", "/etc/passwd", "../x", "a/../b", "a/./b", "a/..", "a\\..\\b", "a\0b"] {
            assert!(checked(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nothing_that_could_run_is_served_as_such() {
        for name in ["a.js", "a.mjs", "a.MJS"] {
            assert!(kind_of(Path::new(name)).starts_with("text/plain"), "{name}");
        }
        for name in ["a", "a.exe", "a.xhtml", "a.wasm", "a.pdf"] {
            assert_eq!(kind_of(Path::new(name)), FILE, "{name}");
        }
    }
}
