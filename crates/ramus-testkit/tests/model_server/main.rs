//! The strict model server: every rule of every judge, every event of every format, every fault.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod client;
mod edit;
mod fault;
mod history;
mod rule;
mod serving;
mod stream;
