//! What all requests share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ramus_engine::{Descriptions, Durability, Engine, EngineError, ErrorKind, Filter, Session, SessionInfo};
use ramus_model::SessionId;
use ramus_model::usage::Prices;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Owner};
use crate::config::Limits;
use crate::error::{ApiError, Kind};
use crate::guard::{Attempts, Bodies, Hosts};
use crate::hub::Hub;
use crate::input::Expected;
use crate::listed::Listed;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::role::Role;
use crate::route::{Importing, Places};
use crate::run::{Runs, Workshop};
use crate::shelf::Shelf;
use crate::work::Work;

/// The longest id of a session that is looked for.
const LONGEST_ID: usize = 256;

/// What all requests share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) durability: Durability,
    pub(crate) prices: Prices,
    /// Where sessions are started that name no directory.
    pub(crate) directory: String,
    /// Where sessions of clients get directories of their own.
    pub(crate) workspaces: Option<PathBuf>,
    /// Whoever works on the workspace of a client holds its place.
    pub(crate) places: Places,
    pub(crate) access: Access,
    pub(crate) hosts: Hosts,
    pub(crate) limits: Limits,
    pub(crate) bodies: Bodies,
    /// Wrong tokens.
    pub(crate) attempts: Attempts,
    /// Wrong secrets of shares. Whoever guesses them keeps nobody from coming in.
    pub(crate) guesses: Attempts,
    pub(crate) work: Work,
    /// Where bundles and pages are made: whoever takes them slowly keeps nobody else from working.
    pub(crate) exports: Work,
    pub(crate) shelf: Shelf,
    /// What the messages of sessions came to that are read page by page.
    pub(crate) descriptions: Descriptions,
    pub(crate) listed: Listed,
    pub(crate) hub: Arc<Hub>,
    pub(crate) runs: Runs,
    pub(crate) importing: Importing,
    pub(crate) workshop: Arc<dyn Workshop>,
    /// The name of the cookie that browsers are given.
    pub(crate) cookie: String,
    pub(crate) runtime: Handle,
    pub(crate) metrics: Metrics,
    pub(crate) streams: AtomicUsize,
    pub(crate) is_surveying: AtomicBool,
    pub(crate) surveyed: watch::Sender<bool>,
    pub(crate) log: Log,
    pub(crate) log_requests: bool,
    pub(crate) stop: CancellationToken,
}

impl App {
    /// Opens a session of an owner. One of another owner is not there.
    pub(crate) fn session(&self, owner: &Owner, id: &str) -> Result<Session, ApiError> {
        let missing = || ApiError::from(EngineError::SessionNotFound(id.chars().take(LONGEST_ID).collect()));
        if id.len() > LONGEST_ID {
            return Err(missing());
        }
        let mut session = match self.engine.open_id(&SessionId::from(id)) {
            Ok(session) => session,
            // Whose it is cannot be told, so only the user of the home hears what is wrong with it.
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Corrupt) && !self.access.is_user(owner) => {
                return Err(missing());
            }
            Err(error) => return Err(error.into()),
        };
        if session.owner() != owner.name() {
            return Err(missing());
        }
        if let Some(surface) = owner.surface() {
            session.through(surface);
        }
        Ok(session)
    }

    /// Returns the engine for what no session is there yet for.
    pub(crate) fn engine_for(&self, owner: &Owner) -> Engine {
        let engine = self.engine.clone();
        match owner.surface() {
            Some(surface) => engine.with_client(surface),
            None => engine,
        }
    }

    /// Opens a session to change it, if it is as long as was expected, and still is when something is written.
    pub(crate) fn session_at(&self, owner: &Owner, id: &str, expected: Expected) -> Result<Session, ApiError> {
        let mut session = self.session(owner, id)?;
        session.expect(expected.0);
        let found = session.log().len() as u64;
        match expected.0 {
            Some(expected) if expected != found => Err(moved(found, expected)),
            _ => Ok(session),
        }
    }

    /// Refuses a working directory that the holder of a token may not choose. Whoever works in one has its files read, so
    /// without more than a prompt it is the server's own, or the one of `session`: itself, or the one that starts it.
    pub(crate) fn check_place(&self, role: Role, cwd: &str, session: Option<&Session>) -> Result<(), ApiError> {
        let known = [Some(&*self.directory), session.map(Session::cwd)];
        // As paths: a slash at the end changes nothing.
        if role >= Role::Approve || known.into_iter().flatten().any(|known| Path::new(known) == Path::new(cwd)) {
            return Ok(());
        }
        let denied = ApiError::denied("another directory than the server's own needs a token that may approve");
        Err(denied.hint("leave `cwd` out to work where the server was started"))
    }

    /// Ends a change: what was left for later is made durable.
    pub(crate) fn finish(&self, session: &mut Session) -> Result<u64, ApiError> {
        self.engine.end_turn(session)?;
        Ok(session.log().len() as u64)
    }

    /// Describes a session as lists do.
    pub(crate) fn describe(&self, session: &Session) -> Result<SessionInfo, ApiError> {
        Ok(self.engine.describe_again(session, &self.directory, &self.descriptions)?)
    }

    /// Returns which sessions belong to an owner.
    pub(crate) fn sessions_of(&self, owner: &Owner) -> Result<HashSet<SessionId>, ApiError> {
        let filter = Filter { owner: Some(owner.name().to_owned()), drafts: true, archived: true, ..Filter::default() };
        Ok(self.engine.list(&filter)?.sessions.into_iter().map(|info| info.id).collect())
    }

    /// Does something that may wait.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = Arc::clone(self);
        self.work.run(move || work(&app)).await
    }
}

/// Says that a session is not as long as was expected.
pub(crate) fn moved(found: u64, expected: u64) -> ApiError {
    let message = format!("the log has {found} entries, and {expected} were expected");
    ApiError::new(Kind::Precondition, message).hint("read what was added, and decide again")
}
