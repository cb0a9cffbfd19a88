//! What a server is told before it starts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::tls::Tls;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// At an address of this machine.
    Tcp(SocketAddr),
    /// At a socket in the file system, which only its user can open.
    Unix(PathBuf),
}

impl Default for Listen {
    fn default() -> Self {
        Self::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
    }
}

/// How much is taken from anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest body, in bytes.
    pub body: usize,
    /// How long the head of a request may take to come in.
    pub head: Duration,
    /// How long an answer may take to begin.
    pub request: Duration,
    /// How long the other end of a connection may take nothing of what it is sent before it is cut off.
    pub write: Duration,
    /// How many connections there are at a time.
    pub connections: usize,
    /// How many requests work at a time; others wait.
    pub work: usize,
    /// How many turns run at a time.
    pub runs: usize,
    /// How many events wait for a reader before it is dropped.
    pub events: usize,
    /// How often a stream that has nothing to say shows that it is there.
    pub heartbeat: Duration,
    /// How long the end of the server waits for turns and connections.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 << 20,
            head: Duration::from_secs(10),
            request: Duration::from_secs(60),
            write: Duration::from_secs(30),
            connections: 4096,
            work: 128,
            runs: 32,
            events: 1024,
            heartbeat: Duration::from_secs(10),
            farewell: Duration::from_secs(10),
        }
    }
}

/// What a server is started with.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// Names that it may be asked under, beside those of the loopback.
    pub hosts: Vec<String>,
    /// What connections are encrypted with; none when they are not. A socket in the file system never is.
    pub tls: Option<Tls>,
    /// Whether it may listen where other machines reach it.
    pub exposed: bool,
    /// How much it takes.
    pub limits: Limits,
    /// Whether every request is logged.
    pub log_requests: bool,
    /// Where sessions of clients get directories of their own; without, they work where the server was started.
    pub workspaces: Option<PathBuf>,
}
