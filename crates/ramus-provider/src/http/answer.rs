//! An answer that comes in: events from the connection, deltas from the decoder, and the verdict at the end.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use ramus_model::delta::Delta;
use reqwest::Response;

use super::events::{Events, Interruption};
use super::{Patience, Secrets, causes};
use crate::error::ProviderError;
use crate::wire::{Decoder, Event};

/// How long the end of a body is waited for when the answer in it is complete.
const DRAIN: Duration = Duration::from_millis(100);

/// What is said, or why nothing more is.
type Said = Result<Delta, ProviderError>;

pub(crate) struct Answer {
    events: Events,
    decoder: Box<dyn Decoder>,
    patience: Patience,
    secrets: Secrets,
    ready: VecDeque<Said>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// More may come.
    Open,
    /// Everything was said. The body may have an end that was not read yet.
    Complete,
    /// Nothing more is read.
    Over,
}

impl Answer {
    pub(super) fn new(response: Response, decoder: Box<dyn Decoder>, patience: Patience, secrets: Secrets) -> Self {
        let chunks = response.bytes_stream().map(|chunk| chunk.map_err(|error| causes(&error.without_url())));
        Self::of_chunks(chunks.boxed(), decoder, patience, secrets)
    }

    pub(crate) fn of_chunks(
        chunks: BoxStream<'static, Result<Bytes, String>>,
        decoder: Box<dyn Decoder>,
        patience: Patience,
        secrets: Secrets,
    ) -> Self {
        let ready = VecDeque::new();
        Self { events: Events::new(chunks), decoder, patience, secrets, ready, state: State::Open }
    }

    pub(crate) fn deltas(self) -> impl Stream<Item = Said> + Send {
        stream::unfold(self, |mut answer| async move {
            let said = answer.next().await?;
            Some((said, answer))
        })
    }

    async fn next(&mut self) -> Option<Said> {
        loop {
            if let Some(said) = self.ready.pop_front() {
                return Some(said);
            }
            match self.state {
                State::Open => self.hear().await,
                State::Complete => self.drain().await,
                State::Over => return None,
            }
        }
    }

    /// Waits for one event and makes ready what it says.
    async fn hear(&mut self) {
        let wait = if self.decoder.is_finished() { self.patience.straggler } else { self.patience.idle };
        let heard = match tokio::time::timeout(wait, self.events.next()).await {
            Ok(Some(Ok(event))) => {
                let data = event.data.as_deref().unwrap_or_default();
                if data.is_empty() {
                    return;
                }
                self.decoder.take(Event { name: event.event.as_deref(), data })
            }
            Ok(Some(Err(interruption))) => return self.end(Some(self.interrupted(interruption))),
            Ok(None) => return self.end(None),
            Err(_) => return self.end(Some(ProviderError::Stalled { after: wait })),
        };
        match heard {
            Ok(deltas) => {
                self.ready.extend(deltas.into_iter().map(Ok));
                if self.decoder.is_over() {
                    self.state = State::Complete;
                }
            }
            // The body ended within an event. If the answer was complete before, nothing is missing.
            Err(ProviderError::BadAnswer { .. }) if self.events.has_ended() => self.end(None),
            Err(error) => self.fail(error),
        }
    }

    fn interrupted(&self, interruption: Interruption) -> ProviderError {
        match interruption {
            Interruption::Broken(message) => ProviderError::Broken { message },
            Interruption::NotText if self.events.has_ended() => ProviderError::Truncated,
            other => ProviderError::BadAnswer { message: other.to_string() },
        }
    }

    /// Nothing more comes. Whether that matters depends on whether the answer was complete.
    fn end(&mut self, cause: Option<ProviderError>) {
        match self.decoder.end() {
            Ok(deltas) => {
                self.ready.extend(deltas.into_iter().map(Ok));
                self.state = State::Over;
            }
            Err(ProviderError::Truncated) => self.fail(cause.unwrap_or(ProviderError::Truncated)),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: ProviderError) {
        self.ready.push_back(Err(error.scrubbed(&self.secrets)));
        self.state = State::Over;
    }

    /// Reads the end of the body: a connection that was read to its end can be used again.
    async fn drain(&mut self) {
        self.state = State::Over;
        let _ = tokio::time::timeout(DRAIN, self.events.next()).await;
    }
}
