//! Sessions that leave a home and come into one: bundles, pages, shares.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod bundle;
mod crash;
mod page;
mod share;
mod world;
