//! The web view in a real browser, over the built binary and the real server: what a person sees, presses and gets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that meets the unexpected should fail loudly"
)]

mod acting;
mod hostile;
mod importing;
mod looking;
mod opening;
mod place;
mod running;
mod size;
#[path = "../cli/world.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "it is shared with the tests of the command line")]
mod world;
