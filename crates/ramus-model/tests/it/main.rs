//! What the model promises, tested through its public interface.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

mod blob;
mod budget;
mod context;
mod damage;
mod delta;
mod generate;
mod json;
mod migrate;
mod permission;
mod repair;
mod search;
mod segment;
mod sidecar;
mod tree;
