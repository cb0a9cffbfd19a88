//! The bundle: sessions with everything they need, in one JSON file.
//!
//! A bundle is one JSON value and is read line by line: the first line opens it, every further line is one item, the last
//! item counts and sums up the rest. A line of a log is in it as it is, byte for byte, when it is one JSON value, and in
//! base64 otherwise. Nothing depends on when or where a bundle is made, so the same sessions give the same bytes.
//!
//! Input is hostile: no line is longer than [`Limits::line`], nothing nests deeper than the reader of JSON allows, a name
//! is what it says or the bundle is refused, and whatever is wrong is told with its line.

mod read;
mod write;

use std::io;

use ramus_model::BlobHash;
use serde::{Deserialize, Serialize};

pub use read::{Limits, Reader};
pub use write::Writer;

/// The version this one writes.
pub const VERSION: u32 = 1;

/// How a bundle begins.
pub const OPENING: &[u8] = b"{\"format\":\"ramus-bundle\"";

/// What a bundle says about a session, in front of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionHead {
    /// The session.
    pub id: String,
    /// Its working directory.
    pub cwd: String,
    /// When it was created, as its header says.
    pub created: String,
    /// Its title, for whoever looks into the file.
    pub title: String,
    /// Whether it is still a draft.
    pub draft: bool,
    /// Whether it is no session but what is kept of one that was deleted, for a fork that follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub base: bool,
}

/// One item of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A session begins.
    Session(SessionHead),
    /// Bytes of its log: whole lines with their ends, except at the end of a log that has none.
    Log(Vec<u8>),
    /// A blob that lines refer to.
    Blob(BlobHash, Vec<u8>),
    /// An object of the session's snapshots, after those it refers to.
    Object(Object),
}

/// An object of a snapshot. Whether it is what it says is for whoever keeps snapshots to find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Why a bundle cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is no bundle.
    #[error("this is no ramus bundle")]
    NotABundle,
    /// A later version made it.
    #[error("the bundle has version {found}; this program reads version {VERSION}")]
    Newer {
        /// Its version.
        found: u64,
    },
    /// A line is not what it should be.
    #[error("line {line} of the bundle: {reason}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// It ends too early.
    #[error("the bundle is cut off after line {line}")]
    Truncated {
        /// The last line, from 1.
        line: u64,
    },
    /// What it holds is not what was written.
    #[error("the bundle was changed: its checksum does not fit")]
    Checksum,
    /// The system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The last item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    items: u64,
    sha256: String,
}
