//! The web view in a real browser, over the built binary and the real server: what a person sees, presses and gets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that meets the unexpected should fail loudly"
)]

mod accessible;
mod acting;
mod aiming;
mod asking;
mod between;
mod creating;
mod dividing;
mod finding;
mod fitting;
mod focus;
mod folding;
mod following;
mod hostile;
mod importing;
mod layout;
mod looking;
mod marks;
mod meaning;
mod narrowing;
mod noting;
mod opening;
mod phone;
mod place;
mod returning;
mod running;
mod saying;
mod scripts;
mod size;
mod staying;
mod windows;
#[path = "../cli/world.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "it is shared with the tests of the command line")]
mod world;
