//! A body that may be larger than memory. It is kept in a file of the home that has no name, so that nothing of it stays, whoever
//! leaves in the middle of it.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, Method, header};
use futures_util::StreamExt as _;
use ramus_engine::ErrorKind;

use crate::app::App;
use crate::error::{ApiError, Kind};

/// How much of it waits in memory to be written.
const PIECE: usize = 1 << 20;

/// How long somebody who sends too much is listened to, so that the answer is read and not lost with the connection.
const LINGER: Duration = Duration::from_secs(2);

/// Says whether a request brings such a body. How long it may take depends on how large it is and how fast it comes, so nothing
/// but the route can tell when it takes too long.
pub(crate) fn is_one(method: &Method, route: Option<&str>) -> bool {
    method == Method::POST && route == Some("/api/v1/import")
}

/// Keeps a body in a file, and returns that from its beginning.
pub(crate) async fn keep(app: &Arc<App>, headers: &HeaderMap, body: Body) -> Result<File, ApiError> {
    let most = app.limits.upload;
    let mut pieces = body.into_data_stream();
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most) {
        return Err(too_large(&mut pieces, most).await);
    }
    let mut file = app.work(|app| app.engine.spool().map_err(unkept)).await?;
    let (mut waiting, mut length) = (Vec::new(), 0);
    loop {
        let next = tokio::time::timeout(app.limits.request, pieces.next()).await;
        let piece = next.map_err(|_| ApiError::new(Kind::Late, "nothing more of the bundle comes in"))?;
        let is_end = piece.is_none();
        if let Some(piece) = piece {
            let piece = piece.map_err(|_| ApiError::usage("the bundle did not come in whole"))?;
            length += piece.len() as u64;
            if length > most {
                return Err(too_large(&mut pieces, most).await);
            }
            waiting.extend_from_slice(&piece);
        }
        if waiting.len() >= PIECE || is_end {
            let written = std::mem::take(&mut waiting);
            file = app.work(move |_| write(file, &written, is_end).map_err(unkept)).await?;
        }
        if is_end {
            return Ok(file);
        }
    }
}

fn write(mut file: File, piece: &[u8], is_end: bool) -> io::Result<File> {
    file.write_all(piece)?;
    if is_end {
        file.rewind()?;
    }
    Ok(file)
}

/// Listens for a while to what is not wanted, and keeps none of it.
pub(crate) async fn listen_out(pieces: &mut BodyDataStream) {
    let drain = async { while matches!(pieces.next().await, Some(Ok(_))) {} };
    let _ = tokio::time::timeout(LINGER, drain).await;
}

async fn too_large(pieces: &mut BodyDataStream, most: u64) -> ApiError {
    listen_out(pieces).await;
    let message = format!("the bundle is larger than the {most} bytes that this server takes");
    ApiError::new(Kind::TooLarge, message).hint(
        "the setting `largest_upload` of the server says how large a bundle may be; on its machine any can be imported",
    )
}

fn unkept(error: io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            let kind = Kind::Engine(ErrorKind::Full);
            ApiError::new(kind, format!("the server has no room to keep the bundle while it comes in: {error}"))
        }
        _ => ApiError::new(Kind::Broken, format!("the server cannot keep the bundle while it comes in: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_one() {
        let status = |kind: io::ErrorKind| unkept(kind.into()).status().as_u16();
        assert_eq!([status(io::ErrorKind::StorageFull), status(io::ErrorKind::QuotaExceeded)], [507, 507]);
        assert_eq!(status(io::ErrorKind::PermissionDenied), 500);
    }
}
