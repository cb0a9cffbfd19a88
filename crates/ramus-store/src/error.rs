//! What can go wrong with a home of logs, by what the caller can do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::store::Runner;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The log is not where it was said to be.
    #[error("{what} was not found")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// Someone wrote in between: read on from `expected` and try again.
    #[error("the log has grown or changed: expected it to end at byte {expected}, it ends at {actual}")]
    Moved {
        /// Where the caller thought the log ends.
        expected: u64,
        /// Where it ends.
        actual: u64,
    },
    /// A log with this name is already there.
    #[error("{} exists already", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// Another file has taken the log's name: read everything again.
    #[error("{} was replaced by another file", path.display())]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// Another process holds the gate and does not let go.
    #[error("another process has been writing to session {session} for {seconds} seconds")]
    Busy {
        /// The session.
        session: String,
        /// How long was waited.
        seconds: u64,
    },
    /// Another process makes forks or deletes sessions and does not come to an end.
    #[error("another process has been making forks or deleting sessions for {seconds} seconds")]
    ForksBusy {
        /// How long was waited.
        seconds: u64,
    },
    /// Another process takes sessions in and does not come to an end.
    #[error("another process has been importing for {seconds} seconds")]
    Importing {
        /// How long was waited.
        seconds: u64,
    },
    /// Blobs are being collected, or written, and it takes long.
    #[error("another process has been busy with the blobs of this home for {seconds} seconds")]
    Collecting {
        /// How long was waited.
        seconds: u64,
    },
    /// A file that may refer to blobs or snapshots cannot be read, so nothing may be removed.
    #[error("cannot tell which blobs and snapshots {} needs; nothing was removed", path.display())]
    Unmarked {
        /// The path.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// Another process runs turns in the session.
    #[error("session {session} is being run by process {}", runner.pid)]
    Running {
        /// The session.
        session: String,
        /// Who runs it.
        runner: Runner,
    },
    /// An earlier error stands in the way until the session is recovered.
    #[error("an earlier write failed")]
    Latched {
        /// The first error.
        #[source]
        first: Arc<StoreError>,
    },
    /// A directory or file of this home belongs to someone else or is a link to somewhere else.
    #[error("{} is not safe to use: {reason}", path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The disk or the quota is full, or the file may not grow further; nothing was written.
    #[error("{} {}{}", lack(source), path.display(), free_space(*free))]
    Full {
        /// The path.
        path: PathBuf,
        /// How many bytes its file system has free, as far as that can be told.
        free: Option<u64>,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// The system does not allow it.
    #[error("not allowed to access {}", path.display())]
    Denied {
        /// The path.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// Bytes were written but the disk did not confirm them.
    #[error("the disk did not confirm what was written to {}", path.display())]
    Unconfirmed {
        /// The path.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// Anything else the system says.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// The same error once more, for everyone it concerns.
    pub fn again(&self) -> Self {
        match self {
            Self::NotFound { what } => Self::NotFound { what: what.clone() },
            Self::Moved { expected, actual } => Self::Moved { expected: *expected, actual: *actual },
            Self::Exists { path } => Self::Exists { path: path.clone() },
            Self::Replaced { path } => Self::Replaced { path: path.clone() },
            Self::Busy { session, seconds } => Self::Busy { session: session.clone(), seconds: *seconds },
            Self::Running { session, runner } => Self::Running { session: session.clone(), runner: *runner },
            Self::ForksBusy { seconds } => Self::ForksBusy { seconds: *seconds },
            Self::Importing { seconds } => Self::Importing { seconds: *seconds },
            Self::Collecting { seconds } => Self::Collecting { seconds: *seconds },
            Self::Unmarked { path, source } => Self::Unmarked { path: path.clone(), source: echo(source) },
            Self::Latched { first } => Self::Latched { first: Arc::clone(first) },
            Self::Unsafe { path, reason } => Self::Unsafe { path: path.clone(), reason },
            Self::Full { path, free, source } => Self::Full { path: path.clone(), free: *free, source: echo(source) },
            Self::Denied { path, source } => Self::Denied { path: path.clone(), source: echo(source) },
            Self::Unconfirmed { path, source } => Self::Unconfirmed { path: path.clone(), source: echo(source) },
            Self::Io { action, path, source } => Self::Io { action, path: path.clone(), source: echo(source) },
        }
    }

    /// Sorts a system error by what the caller can do about it.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { what: path.display().to_string() },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Denied { path, source },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path, free: None, source }
            }
            _ => Self::Io { action, path, source },
        }
    }
}

/// The system's word once more.
fn echo(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// What stands in the way of more bytes.
fn lack(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::FileTooLarge => "a limit on the size of files forbids to write",
        _ => "no space left to write",
    }
}

fn free_space(free: Option<u64>) -> String {
    free.map(|bytes| format!(": its file system has {bytes} bytes free")).unwrap_or_default()
}
