//! A file system that exists in memory, fails on request and remembers what a power cut would leave of it.
//!
//! [`SimFs`] slides under the JSONL home. Besides what programs see it keeps what the disk has confirmed, and every
//! operation in between; from that, [`History::images`] makes each state a disk may be in after a crash. A [`Fault`] makes
//! the k-th operation fail. Everything is decided by the calls made and by seeds: nothing depends on time or threads.

mod control;
mod disk;
mod fault;
mod handle;
mod image;
mod lock;
mod subset;
mod system;

pub use disk::History;
pub use fault::{Fault, Lasts, Operation, OperationKind, Short};
pub use image::{Image, Limits};
pub use system::SimFs;
