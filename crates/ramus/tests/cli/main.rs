//! The command line, driven as a person or a script drives it: the built binary, one process per command, in a world of
//! its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that meets the unexpected should fail loudly"
)]

mod afar;
mod afar_options;
mod afar_turns;
mod appending;
mod approving;
mod blobs;
mod branching;
mod catalogue;
mod chatting;
mod children;
mod compacting;
mod deleting;
mod demo;
mod equipping;
mod failing;
mod files;
mod finding;
mod formats;
mod help;
mod history;
mod hostile;
mod importing;
mod importing_memory;
mod incidents;
mod json_shapes;
mod killed;
mod living;
mod meanwhile;
mod naming;
mod owners;
mod patches;
mod person;
mod pipes;
mod projects;
mod room;
mod running;
mod scale;
mod searching;
mod serving;
mod settings;
mod sharing;
mod tailing;
mod terminals;
mod text_views;
mod travelling;
mod turns;
mod uploads;
mod usage;
mod world;
