//! [`Jsonl`]: a sink that keeps every session as a file of our own format, in memory.

use ramus_model::{EntryId, Header, Origin, RamusHeader, SessionId};

use crate::error::Error;
use crate::sink::{Entry, ForkPoint, Loss, Sink, Start};

/// Sessions as files of our own format.
#[derive(Clone, Debug, Default)]
pub struct Jsonl {
    /// The sessions, in the order they were started.
    pub sessions: Vec<JsonlSession>,
    /// What was not carried over.
    pub losses: Vec<Loss>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonlSession {
    /// How it begins.
    pub start: Start,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Sink for Jsonl {
    fn session(&mut self, start: &Start) -> Result<(), Error> {
        self.sessions.push(JsonlSession { start: start.clone(), bytes: start.header().to_line() });
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        if let Some(session) = self.sessions.last_mut() {
            session.bytes.extend_from_slice(&entry.line);
        }
        Ok(())
    }

    fn loss(&mut self, loss: &Loss) -> Result<(), Error> {
        self.losses.push(loss.clone());
        Ok(())
    }
}

impl Start {
    /// Returns the header of a log that begins like this. It grants nothing: a session from elsewhere has the default
    /// owner and no rules.
    pub fn header(&self) -> Header {
        let copied = self.forked_from.as_ref().and_then(|fork| {
            Some(Origin { session: SessionId::from(fork.session.as_str()), entry: fork.entry.clone()? })
        });
        let opaque = self.forked_from.as_ref().filter(|fork| fork.entry.is_none()).map(|fork| fork.session.clone());
        Header {
            parent_session: opaque,
            title: self.title.clone(),
            timestamp: self.created.clone(),
            cwd: self.cwd.clone(),
            synthetic: false,
            ramus: RamusHeader {
                parent: self.parent.as_deref().map(SessionId::from),
                copied_from: copied,
                ..RamusHeader::default()
            },
            ..Header::synthetic(&self.id)
        }
    }

    /// Returns how a session begins whose header this is.
    pub fn of_header(header: &Header) -> Self {
        let origin = header.ramus.forked_from.as_ref().map(|fork| &fork.origin).or(header.ramus.copied_from.as_ref());
        let known = origin.map(|origin| ForkPoint {
            session: origin.session.to_string(),
            entry: Some(EntryId::clone(&origin.entry)),
        });
        let opaque = || header.parent_session.clone().map(|session| ForkPoint { session, entry: None });
        let forked_from = known.or_else(opaque);
        Self {
            id: header.id.to_string(),
            former_id: None,
            cwd: header.cwd.clone(),
            created: header.timestamp.clone(),
            title: header.title.clone(),
            parent: header.ramus.parent.as_ref().map(ToString::to_string),
            forked_from,
            format: None,
            version: None,
        }
    }
}
