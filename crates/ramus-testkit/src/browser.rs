//! A real browser, driven over its debugging protocol: what it ran, what it asked the network for, what it shows.
//!
//! Chromium listens on a loopback port of its choice; a small WebSocket client of our own talks to it, because a test needs
//! no more. Waiting ends after [`PATIENCE`].

mod chrome;
mod hands;
mod protocol;
mod socket;

pub use chrome::Browser;
pub use protocol::BrowserError;

/// How long anything is waited for.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
