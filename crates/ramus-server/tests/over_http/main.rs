//! The server as its clients see it: over real sockets, on a home in a temporary directory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod api;
mod assets;
mod audit;
mod batches;
mod bounds;
mod conditions;
mod conversations;
mod cookies;
mod crowd;
mod document;
mod events;
mod fuzz;
mod http;
mod life;
mod limits;
mod load;
mod owners;
mod place;
mod refusals;
mod roles;
mod runs;
mod shapes;
mod uploads;
mod view;
mod workbench;
mod world;
