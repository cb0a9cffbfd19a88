//! The body of a streamed answer on its way: where its chunks end, and where it stops.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::OwnedWriteHalf;

use super::http::Inbox;
use super::plan::{Fault, Reply};
use super::record::Outcome;

/// A body, and how it goes.
pub(super) struct Flow {
    body: Vec<u8>,
    /// Where chunks end, in order.
    ends: Vec<usize>,
    stop: Option<(usize, Stop)>,
    pause: Duration,
}

/// What happens in the middle of a body.
#[derive(Clone, Copy)]
enum Stop {
    Stall(Option<Duration>),
    Cut,
    End,
    Reset,
}

/// How a body left.
pub(super) struct Sent {
    pub(super) outcome: Outcome,
    pub(super) after: After,
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It can be used again.
    Open,
    /// It is closed.
    Close,
    /// It is reset.
    Reset,
}

impl Flow {
    /// Sends each event in a chunk, unless the fault of the reply says otherwise.
    pub(super) fn of(events: &[String], reply: &Reply) -> Self {
        let body = events.concat().into_bytes();
        let mut end = 0;
        let mut ends: Vec<usize> = events
            .iter()
            .map(|event| {
                end += event.len();
                end
            })
            .collect();
        match &reply.fault {
            Some(Fault::Split(at)) => {
                ends = at.iter().copied().filter(|at| *at < body.len()).chain([body.len()]).collect();
            }
            Some(Fault::Pieces(size)) => {
                ends = (0..body.len()).step_by((*size).max(1)).skip(1).chain([body.len()]).collect();
            }
            _ => {}
        }
        let stop = match reply.fault {
            Some(Fault::Stall { at, for_ms }) => Some((at, Stop::Stall(for_ms.map(Duration::from_millis)))),
            Some(Fault::Cut { at }) => Some((at, Stop::Cut)),
            Some(Fault::End { at }) => Some((at, Stop::End)),
            Some(Fault::Reset { at }) => Some((at, Stop::Reset)),
            _ => None,
        };
        let stop = stop.map(|(at, stop)| (at.min(body.len()), stop));
        ends.extend(stop.map(|(at, _)| at));
        ends.sort_unstable();
        ends.dedup();
        Self { body, ends, stop, pause: Duration::from_millis(reply.pace_ms) }
    }

    /// Sends the body, and notices when the client goes.
    pub(super) async fn send(&self, writer: &mut OwnedWriteHalf, inbox: &mut Inbox) -> Sent {
        let mut sent = 0;
        let ending = {
            let sending = self.chunks(writer, &mut sent);
            tokio::select! {
                // Whoever got everything may go at once.
                biased;
                ending = sending => ending.ok(),
                () = inbox.closed() => None,
            }
        };
        let (outcome, after) = match ending {
            None => (Outcome::ClosedEarly(sent), After::Close),
            Some(None) => (Outcome::Whole, After::Open),
            Some(Some(Stop::End)) => (Outcome::Broken, After::Open),
            Some(Some(Stop::Reset)) => (Outcome::Broken, After::Reset),
            Some(Some(Stop::Cut | Stop::Stall(_))) => (Outcome::Broken, After::Close),
        };
        Sent { outcome, after }
    }

    /// Sends chunk after chunk, and returns what stopped it for good.
    async fn chunks(&self, writer: &mut OwnedWriteHalf, sent: &mut usize) -> io::Result<Option<Stop>> {
        let stop = self.stop.map(|(at, _)| at);
        let at_once = matches!(self.stop, Some((_, Stop::Reset))) && self.pause.is_zero();
        let mut framed = Vec::new();
        for end in std::iter::once(0).chain(self.ends.iter().copied()) {
            let chunk = self.body.get(*sent..end).unwrap_or_default();
            if !chunk.is_empty() {
                framed.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                framed.extend_from_slice(chunk);
                framed.extend_from_slice(b"\r\n");
                *sent = end;
                // A reset takes back what the kernel holds, and it holds many small packets. One large one goes at once.
                if at_once && Some(end) != stop {
                    continue;
                }
                writer.write_all(&framed).await?;
                framed.clear();
                if self.pause.is_zero() {
                    // Others may read what came, so that chunks arrive apart.
                    tokio::task::yield_now().await;
                } else {
                    tokio::time::sleep(self.pause).await;
                }
            }
            match self.stop {
                Some((at, Stop::Stall(None))) if at == end => std::future::pending().await,
                Some((at, Stop::Stall(Some(span)))) if at == end => tokio::time::sleep(span).await,
                Some((at, stop @ (Stop::Cut | Stop::Reset))) if at == end => return Ok(Some(stop)),
                Some((at, Stop::End)) if at == end => {
                    writer.write_all(b"0\r\n\r\n").await?;
                    return Ok(Some(Stop::End));
                }
                _ => {}
            }
        }
        writer.write_all(b"0\r\n\r\n").await?;
        Ok(None)
    }
}
