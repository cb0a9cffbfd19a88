//! The verbs, on every home.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod append;
mod base;
mod bit_rot;
mod blobs;
mod branch;
mod catalogue;
mod catalogue_harm;
mod degraded;
mod events;
mod fork;
mod homes;
mod in_place;
mod joining;
mod journal;
mod life;
mod list;
mod project;
mod relocate;
mod repair;
mod search;
mod search_index;
mod segment;
mod settings;
mod shared;
mod sidecar;
mod tag;
mod todo;
mod travel;
mod travel_gc;
mod travel_interrupted;
mod travel_property;
mod travel_world;
mod undo;
mod usage;
