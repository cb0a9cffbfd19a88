//! A server: what it is made of, where it listens, and how it ends.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ramus_engine::{Descriptions, Durability, Engine, EngineError};
use ramus_model::usage::Prices;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, cookie_name};
use crate::app::App;
use crate::config::{Config, Listen};
use crate::guard::{Attempts, Bodies, Hosts};
use crate::hub::Hub;
use crate::listed::Listed;
use crate::listen::Socket;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::route::{self, Places};
use crate::run::{Runs, Workshop};
use crate::shelf::Shelf;
use crate::tls::Tls;
use crate::work::Work;

/// What a server serves.
pub struct Home {
    /// The verbs.
    pub engine: Engine,
    /// When the engine makes appends durable.
    pub durability: Durability,
    /// What models cost.
    pub prices: Prices,
    /// Where sessions are started that name no directory.
    pub directory: String,
    /// Who may come in.
    pub access: Access,
    /// What turns are run with.
    pub workshop: Arc<dyn Workshop>,
    /// Where lines about requests go.
    pub log: Log,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could reach it, and nobody said that they may.
    #[error("{0} can be reached from other machines")]
    Exposed(SocketAddr),
    /// The address cannot be listened to.
    #[error("cannot listen to {address}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What an import left half done cannot be finished.
    #[error("cannot finish an import that was interrupted")]
    Unsettled(#[source] EngineError),
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address of this machine.
    Tcp(SocketAddr),
    /// An address of this machine, encrypted.
    Tls(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Tls(address) => write!(f, "https://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Ends a server.
#[derive(Clone, Debug, Default)]
pub struct Stop(CancellationToken);

impl Stop {
    /// Tells the server to end: streams end, turns are cancelled, connections are finished.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// A server that listens.
pub struct Server {
    app: Arc<App>,
    socket: Socket,
    tls: Option<Tls>,
    address: Address,
}

impl Server {
    /// Starts to listen. Nothing is answered until [`Server::run`].
    pub async fn bind(config: Config, home: Home) -> Result<Self, ServeError> {
        if let Listen::Tcp(address) = &config.listen
            && !address.ip().is_loopback()
            && !config.exposed
        {
            return Err(ServeError::Exposed(*address));
        }
        let named = || match &config.listen {
            Listen::Tcp(address) => address.to_string(),
            Listen::Unix(path) => path.display().to_string(),
        };
        let unheard = |source| ServeError::Listen { address: named(), source };
        // Whoever comes after an import that was interrupted finds all of it, or nothing.
        home.engine.settle_imports().map_err(ServeError::Unsettled)?;
        let home = Home { engine: home.engine.confined(), ..home };
        // Nobody is shown a page that is over, so one that cannot be removed now keeps nobody waiting.
        let _ = home.engine.sweep_shares();
        let socket = Socket::bind(&config.listen).await.map_err(unheard)?;
        let bound = socket.address().map_err(unheard)?;
        let address = match (&config.listen, bound) {
            (Listen::Unix(path), _) => Address::Unix(path.clone()),
            (Listen::Tcp(asked), bound) if config.tls.is_some() => Address::Tls(bound.unwrap_or(*asked)),
            (Listen::Tcp(asked), bound) => Address::Tcp(bound.unwrap_or(*asked)),
        };
        let is_encrypted = matches!(address, Address::Tls(_));
        let hosts = Hosts::new(&config.listen, bound, is_encrypted, &config.hosts);
        let tls = config.tls.clone();
        let cookie = cookie_name(bound.map(|bound| bound.port()));
        Ok(Self { app: app(config, home, hosts, cookie), socket, tls, address })
    }

    /// Returns where the server listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns what ends the server.
    pub fn stopper(&self) -> Stop {
        Stop(self.app.stop.clone())
    }

    /// Answers requests until the server is told to stop.
    pub async fn run(self) {
        let router = route::router(&self.app);
        let (limits, stop) = (self.app.limits, self.app.stop.clone());
        let app = Arc::clone(&self.app);
        let runs = async {
            stop.cancelled().await;
            app.runs.end_all(limits.farewell).await;
        };
        tokio::join!(self.socket.serve(router, self.tls, limits, stop.clone()), runs);
    }
}

fn app(config: Config, home: Home, hosts: Hosts, cookie: String) -> Arc<App> {
    let stop = CancellationToken::new();
    let (work, exports) = (Work::new(config.limits.work), Work::new(config.limits.exports));
    let hub = Hub::new(home.engine.clone(), work.clone(), config.limits.events, stop.clone());
    Arc::new(App {
        engine: home.engine,
        durability: home.durability,
        prices: home.prices,
        directory: home.directory,
        workspaces: config.workspaces,
        places: Places::default(),
        access: home.access,
        hosts,
        limits: config.limits,
        bodies: Bodies::new(&config.limits),
        attempts: Attempts::default(),
        guesses: Attempts::default(),
        work,
        exports,
        shelf: Shelf::default(),
        descriptions: Descriptions::default(),
        listed: Listed::default(),
        hub,
        runs: Runs::new(config.limits.runs),
        importing: route::Importing::default(),
        workshop: home.workshop,
        cookie,
        runtime: Handle::current(),
        metrics: Metrics::default(),
        streams: AtomicUsize::new(0),
        is_surveying: AtomicBool::new(false),
        surveyed: watch::channel(false).0,
        log: home.log,
        log_requests: config.log_requests,
        stop,
    })
}
