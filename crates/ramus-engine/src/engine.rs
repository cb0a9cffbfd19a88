//! The engine: a store, a clock, and the name of the surface that drives it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_catalogue::History;
use ramus_model::time;
use ramus_model::tokens::{Counter, Heuristic};
use ramus_store::{Flush, LogStore, MemoryStore};

use crate::approvals::Approvals;
use crate::catalogue::Shelf;
use crate::clock::{Clock, SystemClock};
use crate::events::Bus;
use crate::foreign::ForeignHome;
use crate::run::Summariser;
use crate::session::Session;
use crate::shares::Shares;
use crate::workspace::Ledgers;

/// When an append is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before it is acknowledged: it survives a power cut.
    #[default]
    Full,
    /// At the end of the turn, and whenever [`Engine::flush`] is called: it survives the process at once.
    Turn,
    /// When the system gets to it.
    Os,
}

impl Durability {
    /// Finds a durability by its name in the settings.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "full" => Some(Self::Full),
            "turn" => Some(Self::Turn),
            "os" => Some(Self::Os),
            _ => None,
        }
    }

    pub(crate) fn flush(self) -> Flush {
        match self {
            Self::Full => Flush::Now,
            Self::Turn | Self::Os => Flush::Later,
        }
    }
}

/// Whose a session is that says nothing about it.
pub const DEFAULT_OWNER: &str = "default";

/// Does the verbs.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Arc<dyn LogStore>,
    clock: Arc<dyn Clock>,
    pub(crate) client: String,
    pub(crate) durability: Durability,
    /// Whose new sessions are; none for the default owner.
    pub(crate) owner: Option<String>,
    pub(crate) counter: Arc<dyn Counter>,
    pub(crate) history: Option<Arc<History>>,
    pub(crate) shelf: Shelf,
    /// Where snapshots of directories are kept, if they are.
    pub(crate) snapshots: Option<PathBuf>,
    /// Directories that snapshots leave out.
    pub(crate) apart: Vec<PathBuf>,
    /// What calls change in the directories where turns run.
    pub(crate) ledgers: Ledgers,
    pub(crate) approvals: Option<Approvals>,
    pub(crate) shares: Option<Shares>,
    /// Whether entries may name only blobs that their session has.
    pub(crate) is_confined: bool,
    pub(crate) summariser: Option<Summariser>,
    /// Where imports keep what they need.
    pub(crate) foreign: Option<ForeignHome>,
    /// Who is told what happens.
    pub(crate) bus: Bus,
}

impl Engine {
    /// Makes an engine over a home. `client` is the surface that drives it; our own entries record it.
    pub fn new(store: Arc<dyn LogStore>, client: impl Into<String>) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock),
            client: client.into(),
            durability: Durability::Full,
            owner: None,
            counter: Arc::new(Heuristic),
            history: None,
            shelf: Shelf::default(),
            snapshots: None,
            apart: Vec::new(),
            ledgers: Ledgers::default(),
            approvals: None,
            shares: None,
            is_confined: false,
            summariser: None,
            foreign: None,
            bus: Bus::default(),
        }
    }

    /// Makes an engine whose sessions live as long as it does.
    pub fn in_memory() -> Self {
        Self::new(Arc::new(MemoryStore::default()), "library")
    }

    /// Names another surface that drives it.
    #[must_use]
    pub fn with_client(mut self, client: &str) -> Self {
        client.clone_into(&mut self.client);
        self
    }

    /// Returns the surface through which something is done to a session.
    pub(crate) fn client_of<'a>(&'a self, session: &'a Session) -> &'a str {
        session.client.as_deref().unwrap_or(&self.client)
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Chooses when appends are durable.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Chooses whose sessions are that nobody else is named for.
    #[must_use]
    pub fn with_owner(mut self, owner: &str) -> Self {
        self.owner = Some(owner.to_owned()).filter(|owner| owner != DEFAULT_OWNER);
        self
    }

    /// Refuses entries that name a blob which their session does not refer to, for callers who must not read everything
    /// that is in the home. Whoever has the bytes sends them.
    #[must_use]
    pub fn confined(mut self) -> Self {
        self.is_confined = true;
        self
    }

    /// The same, for what no person says.
    pub(crate) fn without_history(&self) -> Self {
        Self { history: None, ..self.clone() }
    }

    /// Chooses how tokens are counted that no provider reported, when room is made for a model.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counter = counter;
        self
    }

    /// Remembers what people ask.
    #[must_use]
    pub fn with_history(mut self, history: Arc<History>) -> Self {
        self.history = Some(history);
        self
    }

    /// Keeps snapshots of directories in a home, which they leave out.
    #[must_use]
    pub fn with_snapshots(mut self, home: &Path) -> Self {
        self.snapshots = Some(home.join("snapshots"));
        self.apart = vec![home.to_owned()];
        self
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now()
    }

    pub(crate) fn timestamp(&self) -> String {
        time::format(self.now())
    }
}
