//! Snapshots of a directory: taken fast, compared, and put back without losing anything.
//!
//! Content is kept as git keeps it, in a store of our own. No program is run, nothing of the directory's own repository is
//! touched, and what a repository's settings say is of no concern.

mod about;
mod apply;
mod beside;
mod carry;
mod clear;
mod collect;
mod compare;
mod content;
mod copy;
mod diff;
mod difference;
mod durable;
mod error;
mod exact;
mod expect;
mod former;
mod glance;
mod journal;
mod known;
mod modes;
mod moves;
mod name;
mod objects;
mod pack;
mod patch;
mod place;
mod plan;
mod repack;
mod restore;
mod rules;
mod spread;
mod status;
mod store;
mod text;
mod tracked;
mod tree;
mod vault;
mod visit;
mod walk;

pub use about::{FileInfo, SnapshotInfo};
pub use carry::{Carried, Carrier};
pub use collect::{Collected, Usage};
pub use diff::{FileDiff, Status};
pub use error::SnapshotError;
pub use glance::Glance;
pub use plan::{Action, Conflict, Plan, Step};
pub use restore::{Restore, Restored};
pub use status::{Dirtiness, WorkingCopy};
pub use store::{About, SnapshotId, Snapshots, Taken};
pub use vault::Vault;
pub use walk::{Limits, Uncovered};
