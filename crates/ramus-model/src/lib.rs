//! The pure heart of ramus: a session is an append-only log of entries, every entry names its parent, and everything a
//! person or a model sees is a projection of that log.
//!
//! This crate does no input or output, reads no clock and draws no random numbers. Reading a log never fails and never
//! panics, whatever the bytes: what is damaged becomes a [`Finding`].
//!
//! ```
//! use ramus_model::{Depth, Log, context};
//!
//! let file = concat!(
//!     r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/tmp"}"#, "\n",
//!     r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:20:31.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
//! );
//! let log = Log::from_bytes(file.as_bytes(), Depth::Envelope);
//! let context = context::build(&log, log.leaf(), file.as_bytes()).unwrap_or_default();
//! assert_eq!(context.items.len(), 1);
//! ```

pub mod blob;
pub mod body;
pub mod budget;
pub mod context;
pub mod delta;
mod envelope;
mod finding;
pub mod fuzz;
mod header;
mod id;
pub mod json;
mod kind;
mod line;
mod log;
pub mod message;
pub mod migrate;
pub mod operation;
pub mod permission;
mod project;
pub mod repair;
pub mod request;
pub mod resolve;
pub mod search;
pub mod segment;
pub mod time;
pub mod title;
pub mod todo;
pub mod tokens;
mod tree;
pub mod usage;

pub use blob::{Blob, BlobHash};
pub use body::{Body, BodyError, Draft, Parent};
pub use context::Context;
pub use finding::{Finding, FindingKind, Severity};
pub use header::{Base, CURRENT_VERSION, ForkedFrom, Header, Origin, RamusHeader, TitleSlot};
pub use id::{EntryId, Seq, SessionId, alias_namespace, derived_entry_id};
pub use kind::{Kind, Marker, RAMUS_PREFIX, Role, is_inert};
pub use line::MAX_LINE;
pub use log::{
    Checkpoint, Depth, Facts, Lines, Log, Place, ROW, Record, Segment, Tail, WindowStart, any_id, last_line, sum_at,
};
pub use project::Project;
pub use tree::{Node, Scope, Tree};
