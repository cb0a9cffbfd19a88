//! Commands and their answers, and what happens in between.

use std::io;

use serde_json::{Value, json};

use super::socket::Socket;

/// Why a browser did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The browser or the connection to it failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What it said makes no sense.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It refused.
    #[error("the browser refused {method}: {reason}")]
    Refused {
        /// What it was told.
        method: String,
        /// What it said.
        reason: String,
    },
}

/// A conversation with one page.
pub(super) struct Protocol {
    socket: Socket,
    number: u64,
    /// The part of the browser that commands are for.
    session: Option<String>,
    /// What happened so far.
    pub(super) events: Vec<Value>,
}

impl Protocol {
    pub(super) fn new(socket: Socket) -> Self {
        Self { socket, number: 0, session: None, events: Vec::new() }
    }

    /// Talks to a part of the browser from now on.
    pub(super) fn attach(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    /// Gives a command and waits for its answer.
    pub(super) fn command(&mut self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.number += 1;
        let number = self.number;
        let mut command = json!({"id": number, "method": method, "params": params});
        if let (Some(session), Some(object)) = (&self.session, command.as_object_mut()) {
            object.insert("sessionId".into(), session.as_str().into());
        }
        self.socket.send(&command.to_string())?;
        loop {
            let mut said: Value = serde_json::from_str(&self.socket.receive()?)?;
            if said.get("id").and_then(Value::as_u64) != Some(number) {
                self.events.push(said);
                continue;
            }
            if let Some(error) = said.get("error") {
                return Err(BrowserError::Refused { method: method.to_owned(), reason: error.to_string() });
            }
            return Ok(said.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    /// Waits until something happens.
    pub(super) fn wait_for(&mut self, method: &str) -> Result<(), BrowserError> {
        let is_it = |event: &Value| event.get("method").and_then(Value::as_str) == Some(method);
        while !self.events.iter().any(is_it) {
            let said = self.socket.receive()?;
            self.events.push(serde_json::from_str(&said)?);
        }
        Ok(())
    }
}
