//! Events as they come. Whoever loses the connection goes on behind the last event that was seen.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::{Method, Response};
use serde_json::{Map, Value};
use sse_stream::{Sse, SseByteStream};

use crate::client::Client;
use crate::error::Error;
use crate::request::Request;

/// How often in a row it is tried to come back, and how long is waited at most in between.
pub(crate) const ATTEMPTS: u32 = 8;
const LONGEST: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(100);

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where it stands; who names it goes on behind it. What is not stored has none.
    pub id: Option<String>,
    /// What happened: `message.delta`, `tool.start`, `permission.asked`, …
    pub name: String,
    /// What is told about it, without its version.
    pub data: Map<String, Value>,
}

impl Event {
    /// Returns the position in the log behind which everything up to this event was told.
    pub fn position(&self) -> Option<u64> {
        self.id.as_deref().and_then(position_in)
    }

    /// Returns a member that is text; empty when there is none.
    pub fn text(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Reads the position in an id, behind which it may say which log it is a position of.
pub(crate) fn position_in(id: &str) -> Option<u64> {
    id.split('@').next()?.parse().ok()
}

/// A stream of events that outlives its connection.
pub struct Events {
    client: Client,
    parts: Vec<String>,
    /// The position of the log as it is now to start behind, until an event was seen.
    from: Option<u64>,
    last: Option<String>,
    open: Option<Lines>,
}

/// The events of one connection.
pub(crate) type Lines = BoxStream<'static, Result<Sse, sse_stream::Error>>;

impl Events {
    pub(crate) fn new(client: &Client, parts: &[&str], after: Option<String>) -> Self {
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        Self { client: client.clone(), parts, from: None, last: after, open: None }
    }

    /// Starts behind a position of the log as it is now.
    pub(crate) fn behind(mut self, position: u64) -> Self {
        self.from = Some(position);
        self
    }

    /// Returns the id of the last event that has one.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Opens the stream, so that nothing is missed from now on.
    pub async fn open(&mut self) -> Result<(), Error> {
        if self.open.is_none() {
            let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
            let from = self.from.filter(|_| self.last.is_none()).map(|from| from.to_string());
            let request = Request::new(&self.client, Method::GET, &parts).maybe("after", from);
            let request = request.after(self.last.as_deref());
            self.open = Some(lines(request.send("text/event-stream").await?));
        }
        Ok(())
    }

    /// Returns the next event of this connection; none when it is over.
    pub(crate) async fn of_connection(&mut self) -> Result<Option<Event>, Error> {
        self.open().await?;
        while let Some(lines) = &mut self.open {
            match read(lines).await {
                Some(event) if matches!(event.name.as_str(), "dropped" | "closing") => self.open = None,
                Some(event) => {
                    if let Some(id) = &event.id {
                        self.last = Some(id.clone());
                    }
                    if event.name != "heartbeat" {
                        return Ok(Some(event));
                    }
                }
                None => self.open = None,
            }
        }
        Ok(None)
    }

    /// Returns the next event. A connection that is lost is made again, a few times; it ends with an error only.
    pub async fn next(&mut self) -> Result<Event, Error> {
        let mut failures = 0;
        loop {
            if let Err(error) = self.open().await {
                failures += 1;
                if failures > ATTEMPTS || !is_passing(&error) {
                    return Err(error);
                }
                tokio::time::sleep(pause(failures)).await;
                continue;
            }
            let Some(lines) = &mut self.open else { continue };
            match read(lines).await {
                Some(event) => {
                    failures = 0;
                    if let Some(id) = &event.id {
                        self.last = Some(id.clone());
                    }
                    match event.name.as_str() {
                        "heartbeat" => {}
                        // The server says that it will close; what follows is behind the last event.
                        "dropped" | "closing" => self.open = None,
                        _ => return Ok(event),
                    }
                }
                None => {
                    self.open = None;
                    failures += 1;
                    if failures > ATTEMPTS {
                        let reason = "it ends again and again".to_owned();
                        return Err(Error::Broken { server: self.client.name.clone(), reason });
                    }
                    tokio::time::sleep(pause(failures)).await;
                }
            }
        }
    }
}

/// Says whether it is worth trying again.
pub(crate) fn is_passing(error: &Error) -> bool {
    error.is_connection() || matches!(error.status(), Some(429 | 503))
}

pub(crate) fn pause(failures: u32) -> Duration {
    SHORTEST.saturating_mul(1 << failures.min(6)).min(LONGEST)
}

pub(crate) fn lines(response: Response) -> Lines {
    SseByteStream::new(response.bytes_stream()).boxed()
}

/// Reads the next event; none when the connection is over, however it ended.
pub(crate) async fn read(lines: &mut Lines) -> Option<Event> {
    loop {
        let sse = lines.next().await?.ok()?;
        let Some(data) = sse.data else { continue };
        let Ok(mut data) = serde_json::from_str::<Map<String, Value>>(&data) else { continue };
        data.shift_remove("schema_version");
        let name = sse.event.unwrap_or_default();
        return Some(Event { id: sse.id.filter(|id| !id.is_empty()), name, data });
    }
}
