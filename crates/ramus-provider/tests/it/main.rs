//! Models over HTTP: what goes out, what comes in, and what happens when it does not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod discover;
mod encode;
mod faults;
mod legal;
mod requests;
mod resolve;
mod scripted;
mod server;
mod streams;
mod tokens;
