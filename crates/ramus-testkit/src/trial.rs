//! What the engine must survive: crashes at every moment, errors of every operation, damage of every kind.
//!
//! A [`World`] runs the verbs on a [`SimFs`](crate::sim::SimFs) and keeps in a [`Model`] what it was told is stored. The
//! [`Oracle`] compares what a crash left with it: everything acknowledged is there, nothing is there that was never
//! attempted, and what is there can be written to again.

mod crash;
mod derived;
mod home;
mod model;
mod oracle;
mod rivals;
mod survival;
mod sweep;
mod turn;
mod verb;
mod world;

pub use crash::{Report, explore, workloads};
pub use derived::{collect_beside_draft, replace_behind_sidecar};
pub use home::{CWD, DRAFT, OLD, PUBLISHED, ROOT, TORN, engine, furnish, message, picture};
pub use model::{Entry, Model};
pub use oracle::{Oracle, entries_of};
pub use rivals::{interleave, replace_under_writer};
pub use sweep::{Sweep, calls_of, plan, run_plan};
pub use turn::{Crashed, crash_turns};
pub use verb::Verb;
pub use world::World;
