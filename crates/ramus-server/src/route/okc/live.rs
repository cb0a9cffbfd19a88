//! The one session that a client has: found, and made with everything that belongs to it.

use axum::http::HeaderMap;
use ramus_engine::{Boot, EngineError, ErrorKind, INITIAL_SNAPSHOT, NewSession, Session, SnapshotEntry, WorkspaceInfo};
use ramus_model::SessionId;
use ramus_wire::okc as shape;
use serde_json::{Map, Value};

use super::client::{CLIENT, Client};
use crate::access::Owner;
use crate::app::App;
use crate::error::{ApiError, Kind};

/// How many ids are tried for the session of a client.
const IDS: usize = 64;

/// How often somebody else may be faster.
const ATTEMPTS: usize = 8;

/// What a client has.
enum Found {
    Session(Box<Session>),
    /// Nothing yet; this is what it would be called.
    Nothing(SessionId),
}

impl App {
    fn find_client_session(&self, owner: &Owner, client: &Client) -> Result<Found, ApiError> {
        for number in 0..IDS {
            let id = client.session_id(owner, number);
            match self.session(owner, id.as_str()) {
                Ok(session) => return Ok(Found::Session(Box::new(session))),
                Err(error) if error.kind() != Kind::Engine(ErrorKind::NotFound) => return Err(error),
                // Forks of a session that was deleted read what it left under its id.
                Err(_) if self.engine.is_taken(&id)? => {}
                Err(_) => return Ok(Found::Nothing(id)),
            }
        }
        Err(ApiError::conflict("too many sessions of this client were forked and deleted"))
    }

    /// Returns the session of a client, if it has one.
    pub(super) fn client_session(&self, owner: &Owner, client: &Client) -> Result<Option<Session>, ApiError> {
        match self.find_client_session(owner, client)? {
            Found::Session(session) => Ok(Some(*session)),
            Found::Nothing(_) => Ok(None),
        }
    }

    /// Returns the session of a client with its root and its workspace, and makes what is missing of them. Whoever calls
    /// holds the place of the client.
    pub(super) fn start_client_session(&self, owner: &Owner, client: &Client) -> Result<Session, ApiError> {
        let mut session = self.open_or_make(owner, client)?;
        let is_new = match &self.workspaces {
            Some(storage) => self.engine.ensure_workspace(&mut session, storage)?,
            None => false,
        };
        // Where something was said before, there is nothing to seed any more. What is kept of files hangs below the root.
        self.engine.boot(&mut session, &Boot::default())?;
        if is_new {
            self.engine.snapshot(&mut session, Some(INITIAL_SNAPSHOT))?;
        }
        self.finish(&mut session)?;
        Ok(session)
    }

    fn open_or_make(&self, owner: &Owner, client: &Client) -> Result<Session, ApiError> {
        for _ in 0..ATTEMPTS {
            let id = match self.find_client_session(owner, client)? {
                Found::Session(session) => return Ok(*session),
                Found::Nothing(id) => id,
            };
            let new = NewSession {
                cwd: self.directory.clone(),
                owner: Some(owner.name().to_owned()),
                ..NewSession::default()
            };
            let metadata = Map::from_iter([(CLIENT.to_owned(), Value::from(client.name()))]);
            match self.engine.create_called(&id, new, metadata) {
                // Another request of this client was faster.
                Err(EngineError::Conflict(_)) => {}
                made => return Ok(made?),
            }
        }
        Err(ApiError::busy("the session of this client is being made"))
    }

    /// Looks at the workspace of a session and what is kept of it.
    pub(super) fn look_at_workspace(
        &self,
        session: &mut Session,
    ) -> Result<(WorkspaceInfo, Vec<SnapshotEntry>), ApiError> {
        Ok((self.engine.describe_workspace(session)?, self.engine.snapshots(session)?))
    }

    /// Describes the workspace of a session.
    pub(super) fn workspace_state(&self, session: &mut Session, limit: usize) -> Result<Map<String, Value>, ApiError> {
        let (info, all) = self.look_at_workspace(session)?;
        Ok(shape::state(session, &info, &all, limit))
    }
}

/// Says whether the sender of a request would read events.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(axum::http::header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.trim().starts_with("text/event-stream"))
}
