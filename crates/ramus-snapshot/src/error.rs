//! What goes wrong with snapshots, by what its user can do about it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a snapshot could not be taken, read or put back.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The directory is none that snapshots are taken of.
    #[error("no snapshots are taken of {}: {reason}", path.display())]
    Refused {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// There is too much to keep.
    #[error(
        "the directory has more than {files} files or {bytes} bytes to keep; leave out some of it with an ignore file"
    )]
    Quota {
        /// The most files.
        files: usize,
        /// The most bytes.
        bytes: u64,
    },
    /// The store has no room for more.
    #[error(
        "the snapshots of this directory take more than {bytes} bytes; delete sessions that are not needed, then run `ramus gc`"
    )]
    StoreFull {
        /// The most bytes.
        bytes: u64,
    },
    /// A pack grew beyond what its format holds.
    #[error("a pack would have more than {bytes} bytes")]
    TooLarge {
        /// How many.
        bytes: u64,
    },
    /// The compressor failed.
    #[error("cannot compress: {reason}")]
    Compress {
        /// What it said.
        reason: String,
    },
    /// Content that was made to have the name of other content.
    #[error("cannot name content: {reason}")]
    Hash {
        /// What the check said.
        reason: String,
    },
    /// There is no such snapshot.
    #[error("there is no snapshot {0:?}")]
    NotFound(String),
    /// A stored object is not what it should be.
    #[error("the snapshot store is damaged: {reason}")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
}

impl SnapshotError {
    /// Adds what was tried to what the system said.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { action, path, cause }
    }
}
