//! Where logs live. One narrow trait, [`LogStore`], and its homes: [`JsonlStore`] (files, the default) and
//! [`MemoryStore`] (tests and sessions that are not kept).
//!
//! A store knows bytes and positions, not entries: it appends whole lines at a position the caller expects, and refuses
//! when someone else was faster. What the lines mean is the model's business, what to write is the engine's.
//!
//! A program that uses this crate should ignore or handle `SIGXFSZ`: with the default action a limit on the size of files
//! kills the process instead of letting the write fail, which is then reported like a full disk.
//!
//! ```
//! use ramus_store::{Flush, LogStore, MemoryStore, NewLog};
//!
//! let store = MemoryStore::default();
//! let new = NewLog::draft("s1".into(), "/tmp", "2026-02-16T10:20:30.000Z");
//! let location = store.create(&new, b"{\"type\":\"session\",\"id\":\"s1\"}\n")?;
//! let read = store.read(&location, 0, &mut |_| ())?;
//! let position = store.writer(&location)?.append(read, b"{}\n", Flush::Now)?;
//! assert_eq!(position.end, 32);
//! # Ok::<(), ramus_store::StoreError>(())
//! ```

mod base;
mod blobs;
mod breadcrumb;
mod error;
pub mod fs;
mod journal;
mod jsonl;
mod lines;
mod memory;
pub mod planted;
mod sidecar;
mod staging;
mod store;

pub use base::{Bases, Guard};
pub use blobs::{BlobHold, BlobStore, Collected, Collection, Tally};
pub use breadcrumb::{Breadcrumb, Breadcrumbs, Terminal};
pub use error::StoreError;
pub use fs::Hold;
pub use journal::{Journal, Journals};
pub use jsonl::{JsonlStore, Layout};
pub use lines::{ReadAhead, StoreLines};
pub use memory::MemoryStore;
pub use sidecar::{SavedCheckpoint, SidecarUpdate, Sidecars, Subject};
pub use staging::{Destination, Stage, Staging};
pub use store::{
    Flush, Health, Incarnation, Lease, Leftover, LeftoverKind, Location, LogStore, LogWriter, NewLog, Placement,
    Position, Removed, Residence, Runner, SetAside, Stamp, Stamped,
};
