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
    /// How many bytes all bodies together have that are worked on at a time, small ones not counted.
    pub bodies: usize,
    /// The largest bundle that is taken in, in bytes. It is kept on the disk while it comes.
    pub upload: u64,
    /// How long the head of a request may take to come in.
    pub head: Duration,
    /// How long an answer may take to begin.
    pub request: Duration,
    /// How long the other end of a connection may take nothing of what it is sent before it is cut off.
    pub write: Duration,
    /// How many connections there are at a time.
    pub connections: usize,
    /// How many of them one address has, so that there is room for others.
    pub peer: usize,
    /// How many requests work at a time; others wait.
    pub work: usize,
    /// How many bundles and pages are made at a time; they are made as they are taken.
    pub exports: usize,
    /// How many bytes of one whoever takes it must take in a second, beside the time that an answer may take to begin.
    pub pace: u64,
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
            bodies: 256 << 20,
            upload: 4_000_000_000,
            head: Duration::from_secs(10),
            request: Duration::from_secs(60),
            write: Duration::from_secs(30),
            connections: 4096,
            peer: 3072,
            work: 128,
            exports: 8,
            pace: 64 << 10,
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
    /// Names that it may be asked under, beside those of the loopback. With a scheme, `https://NAME`, it is what browsers reach
    /// through a proxy.
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
