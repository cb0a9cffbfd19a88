//! The events of a body.
//!
//! Two things are added to what a parser of events does: an event has a size limit, and the last one counts even when the
//! body ends without the empty line that should follow it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use sse_stream::{Sse, SseByteStream};
use thiserror::Error;

/// The largest event. The last one of a response repeats all of it.
const LARGEST: usize = 32 * 1024 * 1024;

/// Why no more events come.
#[derive(Debug, Error)]
pub(crate) enum Interruption {
    #[error("{0}")]
    Broken(String),
    #[error("an event is larger than {LARGEST} bytes")]
    TooLarge,
    #[error("an event is not UTF-8")]
    NotText,
}

/// Reads events from chunks of bytes.
pub(crate) struct Events {
    parser: SseByteStream<Body>,
    tally: Arc<Tally>,
}

/// What the body and the parser's user both know.
#[derive(Default)]
struct Tally {
    /// Bytes since the last event.
    pending: AtomicUsize,
    has_ended: AtomicBool,
}

impl Events {
    pub(crate) fn new(chunks: BoxStream<'static, Result<Bytes, String>>) -> Self {
        let tally = Arc::new(Tally::default());
        Self { parser: SseByteStream::new(Body { chunks, tally: Arc::clone(&tally) }), tally }
    }

    pub(crate) async fn next(&mut self) -> Option<Result<Sse, Interruption>> {
        let event = self.parser.next().await?;
        self.tally.pending.store(0, Ordering::Relaxed);
        Some(event.map_err(|error| match error {
            sse_stream::Error::Body(cause) => match cause.downcast::<Interruption>() {
                Ok(interruption) => *interruption,
                Err(other) => Interruption::Broken(other.to_string()),
            },
            _ => Interruption::NotText,
        }))
    }

    /// Says whether the body ended: what is not understood now was cut off.
    pub(crate) fn has_ended(&self) -> bool {
        self.tally.has_ended.load(Ordering::Relaxed)
    }
}

/// A body that ends with an empty line.
struct Body {
    chunks: BoxStream<'static, Result<Bytes, String>>,
    tally: Arc<Tally>,
}

impl Stream for Body {
    type Item = Result<Bytes, Interruption>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.tally.has_ended.load(Ordering::Relaxed) {
            return Poll::Ready(None);
        }
        self.chunks.poll_next_unpin(context).map(|chunk| match chunk {
            Some(Ok(bytes)) => {
                let before = self.tally.pending.fetch_add(bytes.len(), Ordering::Relaxed);
                Some(if before > LARGEST { Err(Interruption::TooLarge) } else { Ok(bytes) })
            }
            Some(Err(message)) => Some(Err(Interruption::Broken(message))),
            None => {
                self.tally.has_ended.store(true, Ordering::Relaxed);
                Some(Ok(Bytes::from_static(b"\n\n")))
            }
        })
    }
}
