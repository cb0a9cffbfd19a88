//! The verbs, on every home.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod append;
mod blobs;
mod branch;
mod fork;
mod homes;
mod in_place;
mod list;
mod segment;
