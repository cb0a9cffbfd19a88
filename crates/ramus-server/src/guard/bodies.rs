//! Bodies are kept in memory while they are worked on. How large one is shows before it is read, and all of them together
//! have a bound.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;
use crate::error::{ApiError, Kind};
use crate::upload::listen_out;

/// How many bytes are counted as one.
const UNIT: usize = 1 << 10;

/// The longest body that is not counted: connections bound how many of them there are.
const SMALL: usize = 16 << 10;

/// Room for bodies.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    room: Arc<Semaphore>,
    longest: usize,
}

impl Bodies {
    pub(crate) fn new(limits: &Limits) -> Self {
        // What one may have there must be room for.
        let units = limits.bodies.max(limits.body).div_ceil(UNIT);
        Self { room: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))), longest: limits.body }
    }

    /// Makes room for a body. One that does not say how large it is may become as large as any.
    pub(crate) async fn admit(&self, body: Body) -> Result<(Body, Option<OwnedSemaphorePermit>), ApiError> {
        let announced = body.size_hint();
        if announced.lower() > self.longest as u64 {
            listen_out(&mut body.into_data_stream()).await;
            return Err(ApiError::new(Kind::TooLarge, "the body is too large"));
        }
        let length = announced.upper().and_then(|length| usize::try_from(length).ok()).unwrap_or(self.longest);
        let length = length.min(self.longest);
        if length <= SMALL {
            return Ok((body, None));
        }
        let units = u32::try_from(length.div_ceil(UNIT)).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).try_acquire_many_owned(units) {
            Ok(room) => Ok((body, Some(room))),
            Err(_) => {
                listen_out(&mut body.into_data_stream()).await;
                Err(ApiError::new(Kind::Late, "too many large requests are worked on"))
            }
        }
    }
}

/// A body that has room until all of it was read, for whoever works on without it for as long as that takes.
pub(crate) fn with_room(body: Body, room: OwnedSemaphorePermit) -> Body {
    let pieces = (body.into_data_stream(), room);
    Body::from_stream(futures_util::stream::unfold(pieces, |(mut pieces, room)| async move {
        let piece = pieces.next().await?;
        Some((piece, (pieces, room)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_bodies_share_a_room() {
        let limits = Limits { body: 1 << 20, bodies: 2 << 20, ..Limits::default() };
        let bodies = Bodies::new(&limits);
        let body = |length: usize| Body::from(vec![b'x'; length]);
        let admit = |length: usize| bodies.admit(body(length));
        let status = |error: ApiError| error.status().as_u16();
        let held = [admit(1 << 20).await, admit(1 << 20).await];
        assert!(held.iter().all(|held| matches!(held, Ok((_, Some(_))))));
        assert_eq!(admit(1 << 15).await.map(drop).map_err(status), Err(503));
        assert_eq!(admit((1 << 20) + 1).await.map(drop).map_err(status), Err(413));
        assert!(matches!(admit(SMALL).await, Ok((_, None))));
        drop(held);
        assert!(matches!(admit(1 << 15).await, Ok((_, Some(_)))));
        let unknown = || Body::from_stream(futures_util::stream::pending::<std::io::Result<Vec<u8>>>());
        let held = [bodies.admit(unknown()).await];
        assert!(held.iter().all(|held| matches!(held, Ok((_, Some(room))) if room.num_permits() == 1 << 10)));
    }
}
