//! A file as the body of a request: sent piece by piece, so that memory does not grow with it.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read as _, Seek as _};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::{self, Stream};
use reqwest::Body;

/// How much is read at a time.
const PIECE: usize = 1 << 18;

/// A file that is sent, from where it stands to its end.
#[derive(Debug)]
pub(crate) struct Upload {
    file: File,
    length: u64,
    /// How many pieces were taken from it.
    taken: Arc<AtomicU64>,
}

impl Upload {
    pub(crate) fn of(mut file: File) -> io::Result<Self> {
        let length = file.metadata()?.len().saturating_sub(file.stream_position()?);
        Ok(Self { file, length, taken: Arc::default() })
    }

    /// Returns how many bytes are sent.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns what tells whether it moves.
    pub(crate) fn progress(&self) -> Progress {
        Progress(Arc::clone(&self.taken))
    }

    pub(crate) fn into_body(self) -> Body {
        Body::wrap_stream(self.pieces())
    }

    fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        // What is written to it meanwhile was not announced.
        let whole = self.file.take(self.length);
        let taken = self.taken;
        stream::unfold(Some(whole), move |whole| {
            let taken = Arc::clone(&taken);
            async move {
                let mut whole = whole?;
                let read = tokio::task::spawn_blocking(move || {
                    let mut piece = Vec::with_capacity(PIECE);
                    whole.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
                    Ok::<_, io::Error>((piece, whole))
                });
                taken.fetch_add(1, Ordering::Relaxed);
                match read.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
                    Ok((piece, _)) if piece.is_empty() => None,
                    Ok((piece, whole)) => Some((Ok(Bytes::from(piece)), Some(whole))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        })
    }
}

/// Whether something is still sent.
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Waits for something, as long as pieces are taken; none when none was for so long.
    pub(crate) async fn wait<T>(&self, patience: Duration, work: impl Future<Output = T>) -> Option<T> {
        let idle = async {
            let mut seen = None;
            loop {
                let taken = self.0.load(Ordering::Relaxed);
                if seen.replace(taken) == Some(taken) {
                    return;
                }
                tokio::time::sleep(patience).await;
            }
        };
        match select(pin!(work), pin!(idle)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}
