//! What all requests share.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ramus_engine::{Durability, Engine, EngineError, Filter, Session};
use ramus_model::SessionId;
use ramus_model::usage::Prices;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Owner};
use crate::config::Limits;
use crate::error::{ApiError, Kind};
use crate::guard::{Attempts, Hosts};
use crate::hub::Hub;
use crate::input::Expected;
use crate::log::Log;
use crate::metrics::Metrics;
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
    pub(crate) attempts: Attempts,
    pub(crate) work: Work,
    pub(crate) shelf: Shelf,
    pub(crate) hub: Arc<Hub>,
    pub(crate) runs: Runs,
    pub(crate) importing: Importing,
    pub(crate) workshop: Arc<dyn Workshop>,
    /// How addresses of ours begin: `http` or `https`.
    pub(crate) scheme: &'static str,
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
        let session = self.engine.open_id(&SessionId::from(id))?;
        if session.owner() == owner.name() { Ok(session) } else { Err(missing()) }
    }

    /// Opens a session to change it, if it is as long as was expected.
    pub(crate) fn session_at(&self, owner: &Owner, id: &str, expected: Expected) -> Result<Session, ApiError> {
        let session = self.session(owner, id)?;
        let found = session.log().len() as u64;
        match expected.0 {
            Some(expected) if expected != found => Err(moved(found, expected)),
            _ => Ok(session),
        }
    }

    /// Ends a change: what was left for later is made durable.
    pub(crate) fn finish(&self, session: &mut Session) -> Result<u64, ApiError> {
        self.engine.end_turn(session)?;
        Ok(session.log().len() as u64)
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
