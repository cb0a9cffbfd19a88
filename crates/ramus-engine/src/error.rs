//! What a verb can answer instead of doing its work.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_catalogue::CatalogueError;
use ramus_model::resolve::ResolveError;
use ramus_model::segment::SegmentError;
use ramus_publish::bundle::BundleError;
use ramus_snapshot::SnapshotError;
use ramus_store::StoreError;

/// The stable name of an error, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The call itself is wrong.
    Usage,
    /// There is no such thing.
    NotFound,
    /// Several things match.
    Ambiguous,
    /// Someone else is at it.
    Busy,
    /// It contradicts what is there.
    Conflict,
    /// The input is wrong.
    Invalid,
    /// The data is damaged.
    Corrupt,
    /// An earlier write failed; reading works.
    Degraded,
    /// The system does not allow it.
    Denied,
    /// There is no space.
    Full,
    /// A model's window is full.
    ContextFull,
    /// The system failed.
    Io,
}

impl ErrorKind {
    /// Returns the kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::NotFound => "not-found",
            Self::Ambiguous => "ambiguous",
            Self::Busy => "busy",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Corrupt => "corrupt",
            Self::Degraded => "degraded",
            Self::Denied => "denied",
            Self::Full => "full",
            Self::ContextFull => "context-full",
            Self::Io => "io",
        }
    }
}

/// An error of a verb.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No session has this name.
    #[error("no session is called {0:?}")]
    SessionNotFound(String),
    /// There is no session to speak of in a directory.
    #[error("no session has been started in {0}")]
    NoRecentSession(String),
    /// Several sessions start with this.
    #[error("{reference:?} could be {}", .candidates.join(", "))]
    SessionAmbiguous {
        /// What was asked for.
        reference: String,
        /// The ids that match.
        candidates: Vec<String>,
    },
    /// No approval that holds for the session has this name.
    #[error("no approval of the session is called {0:?}")]
    ApprovalNotFound(String),
    /// The list of what is to be done has no such task.
    #[error("there is no task {0:?}")]
    TodoNotFound(String),
    /// A reference names no entry, or several.
    #[error(transparent)]
    Entry(#[from] ResolveError),
    /// A segment cannot be replaced.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// What a model is sent does not fit, and nothing of it can be left out.
    #[error("{needed} tokens must be freed, and only {available} can be")]
    ContextFull {
        /// How many tokens too many there are.
        needed: u64,
        /// How many can be left out.
        available: u64,
    },
    /// The input cannot become an entry.
    #[error("{0}")]
    Invalid(String),
    /// One line of a batch cannot become an entry.
    #[error("line {line}: {reason}")]
    InvalidLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// What was asked for contradicts what is there.
    #[error("{0}")]
    Conflict(String),
    /// The log is not as long as was expected.
    #[error("the log has {found} entries, and {expected} were expected")]
    Moved {
        /// How many entries it has.
        found: u64,
        /// How many it should have.
        expected: u64,
    },
    /// It was done and cannot be taken back.
    #[error("{message}")]
    Final {
        /// What was done.
        message: String,
        /// What can be done instead.
        hint: String,
    },
    /// Something was interrupted and is not ended by looking at it.
    #[error("{message}")]
    Unended {
        /// What.
        message: String,
        /// What ends it.
        hint: String,
    },
    /// The log a fork stands on is gone or was changed.
    #[error("{0}")]
    Corrupt(String),
    /// A setting is unknown or its value is not allowed.
    #[error("{message}")]
    Setting {
        /// What is wrong.
        message: String,
        /// What may have been meant.
        hint: Option<String>,
    },
    /// The catalogue in memory says so.
    #[error(transparent)]
    Catalogue(Arc<CatalogueError>),
    /// A session has no such snapshot.
    #[error("the session has no snapshot {0:?}")]
    SnapshotNotFound(String),
    /// A path leads out of a session's directory.
    #[error("{} is not in the session's directory, {}", .path.display(), .directory.display())]
    Outside {
        /// What was named.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// A path is in nothing that is compared or put back.
    #[error("neither side has a file at {}, or beneath it", .0.display())]
    NoSuchFile(PathBuf),
    /// The snapshots say so.
    #[error(transparent)]
    Snapshot(Arc<SnapshotError>),
    /// A session that comes from elsewhere is here, and each went its own way.
    #[error("session {0} is here and went another way; nothing was imported")]
    Diverged(String),
    /// A session has no such share.
    #[error("nothing is shared under {0:?}")]
    ShareNotFound(String),
    /// What comes from elsewhere, or goes there, is no bundle.
    #[error(transparent)]
    Bundle(Arc<BundleError>),
    /// What is written for another agent cannot be written.
    #[error(transparent)]
    Interchange(Arc<ramus_interchange::Error>),
    /// What was asked for cannot be handed over.
    #[error("it could not be written")]
    Output(#[source] Arc<io::Error>),
    /// The store says so.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ramus_interchange::Error> for EngineError {
    fn from(error: ramus_interchange::Error) -> Self {
        Self::Interchange(Arc::new(error))
    }
}

impl From<BundleError> for EngineError {
    fn from(error: BundleError) -> Self {
        Self::Bundle(Arc::new(error))
    }
}

impl From<CatalogueError> for EngineError {
    fn from(error: CatalogueError) -> Self {
        Self::Catalogue(Arc::new(error))
    }
}

impl From<SnapshotError> for EngineError {
    fn from(error: SnapshotError) -> Self {
        Self::Snapshot(Arc::new(error))
    }
}

impl EngineError {
    /// The same error once more, for everyone it concerns.
    pub fn again(&self) -> Self {
        match self {
            Self::SessionNotFound(text) => Self::SessionNotFound(text.clone()),
            Self::NoRecentSession(text) => Self::NoRecentSession(text.clone()),
            Self::SessionAmbiguous { reference, candidates } => {
                Self::SessionAmbiguous { reference: reference.clone(), candidates: candidates.clone() }
            }
            Self::ApprovalNotFound(text) => Self::ApprovalNotFound(text.clone()),
            Self::TodoNotFound(text) => Self::TodoNotFound(text.clone()),
            Self::Entry(error) => Self::Entry(error.clone()),
            Self::Segment(error) => Self::Segment(error.clone()),
            Self::ContextFull { needed, available } => Self::ContextFull { needed: *needed, available: *available },
            Self::Invalid(text) => Self::Invalid(text.clone()),
            Self::InvalidLine { line, reason } => Self::InvalidLine { line: *line, reason: reason.clone() },
            Self::Conflict(text) => Self::Conflict(text.clone()),
            Self::Moved { found, expected } => Self::Moved { found: *found, expected: *expected },
            Self::Final { message, hint } => Self::Final { message: message.clone(), hint: hint.clone() },
            Self::Unended { message, hint } => Self::Unended { message: message.clone(), hint: hint.clone() },
            Self::Corrupt(text) => Self::Corrupt(text.clone()),
            Self::Setting { message, hint } => Self::Setting { message: message.clone(), hint: hint.clone() },
            Self::Catalogue(error) => Self::Catalogue(Arc::clone(error)),
            Self::SnapshotNotFound(text) => Self::SnapshotNotFound(text.clone()),
            Self::Outside { path, directory } => Self::Outside { path: path.clone(), directory: directory.clone() },
            Self::NoSuchFile(path) => Self::NoSuchFile(path.clone()),
            Self::Snapshot(error) => Self::Snapshot(Arc::clone(error)),
            Self::Diverged(text) => Self::Diverged(text.clone()),
            Self::ShareNotFound(text) => Self::ShareNotFound(text.clone()),
            Self::Bundle(error) => Self::Bundle(Arc::clone(error)),
            Self::Interchange(error) => Self::Interchange(Arc::clone(error)),
            Self::Output(error) => Self::Output(Arc::clone(error)),
            Self::Store(error) => Self::Store(error.again()),
        }
    }

    /// Returns the kind, which decides exit codes and statuses.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::SessionNotFound(_)
            | Self::NoRecentSession(_)
            | Self::ApprovalNotFound(_)
            | Self::TodoNotFound(_)
            | Self::ShareNotFound(_)
            | Self::SnapshotNotFound(_)
            | Self::NoSuchFile(_) => ErrorKind::NotFound,
            Self::Bundle(error) => match &**error {
                BundleError::Truncated { .. } | BundleError::Checksum => ErrorKind::Corrupt,
                BundleError::Io(error) => of_io(error),
                BundleError::NotABundle | BundleError::Newer { .. } | BundleError::Malformed { .. } => {
                    ErrorKind::Invalid
                }
            },
            Self::Snapshot(error) => match &**error {
                SnapshotError::NotFound(_) => ErrorKind::NotFound,
                SnapshotError::Refused { .. } | SnapshotError::Unsound { .. } => ErrorKind::Invalid,
                SnapshotError::Quota { .. } | SnapshotError::StoreFull { .. } | SnapshotError::TooLarge { .. } => {
                    ErrorKind::Full
                }
                SnapshotError::Hash { .. } | SnapshotError::Damaged { .. } => ErrorKind::Corrupt,
                SnapshotError::Io { cause, .. } => of_io(cause),
                SnapshotError::Compress { .. } => ErrorKind::Io,
            },
            Self::Interchange(error) => match &**error {
                ramus_interchange::Error::Io(error) => of_io(error),
                _ => ErrorKind::Invalid,
            },
            Self::Output(error) => of_io(error),
            Self::SessionAmbiguous { .. } => ErrorKind::Ambiguous,
            Self::Entry(ResolveError::Ambiguous { .. }) => ErrorKind::Ambiguous,
            Self::Entry(_) => ErrorKind::NotFound,
            Self::ContextFull { .. } => ErrorKind::ContextFull,
            Self::Segment(_) | Self::Invalid(_) | Self::InvalidLine { .. } => ErrorKind::Invalid,
            Self::Conflict(_) | Self::Moved { .. } | Self::Diverged(_) | Self::Final { .. } | Self::Unended { .. } => {
                ErrorKind::Conflict
            }
            Self::Corrupt(_) => ErrorKind::Corrupt,
            Self::Setting { .. } | Self::Outside { .. } => ErrorKind::Usage,
            Self::Catalogue(error) if error.is_busy() => ErrorKind::Busy,
            Self::Catalogue(error) => match &**error {
                CatalogueError::Corrupt { .. } => ErrorKind::Corrupt,
                CatalogueError::Unsafe { .. } => ErrorKind::Denied,
                CatalogueError::Newer { .. } => ErrorKind::Invalid,
                CatalogueError::Busy { .. } | CatalogueError::Failed { .. } => ErrorKind::Io,
                CatalogueError::Io { cause, .. } => of_io(cause),
            },
            Self::Store(error) => match error {
                StoreError::NotFound { .. } => ErrorKind::NotFound,
                StoreError::Moved { .. } | StoreError::Replaced { .. } | StoreError::Exists { .. } => {
                    ErrorKind::Conflict
                }
                StoreError::Busy { .. }
                | StoreError::ForksBusy { .. }
                | StoreError::Running { .. }
                | StoreError::Importing { .. }
                | StoreError::Collecting { .. } => ErrorKind::Busy,
                StoreError::Full { .. } => ErrorKind::Full,
                StoreError::Latched { .. } => ErrorKind::Degraded,
                StoreError::Denied { .. } | StoreError::Unsafe { .. } => ErrorKind::Denied,
                StoreError::Unconfirmed { .. } | StoreError::Unmarked { .. } | StoreError::Io { .. } => ErrorKind::Io,
            },
        }
    }

    /// Returns what the caller might do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::SessionNotFound(_) => Some("`ramus list --all --drafts` shows every session".into()),
            Self::ApprovalNotFound(_) => Some("`ramus permissions SESSION` lists them".into()),
            Self::TodoNotFound(_) => Some("`ramus todo SESSION` lists them".into()),
            Self::NoRecentSession(_) => {
                Some("`ramus new` starts one; `ramus list --all` shows those of other directories".into())
            }
            Self::SessionAmbiguous { reference, candidates }
            | Self::Entry(ResolveError::Ambiguous { reference, candidates }) => Some(told_apart(reference, candidates)),
            Self::Entry(ResolveError::NotFound(_)) => Some(
                "an entry is named by id, unique prefix (4 or more), #seq or label; `ramus tree` shows them".into(),
            ),
            Self::Entry(ResolveError::NoLeaf) => Some("`ramus tree` shows the entries to go to".into()),
            Self::Diverged(_) => Some("`ramus import --as-new` takes a copy in, under a new id".into()),
            Self::ShareNotFound(_) => Some("`ramus share --list` shows what is shared".into()),
            Self::Bundle(error) if matches!(**error, BundleError::Truncated { .. } | BundleError::Checksum) => {
                Some("nothing was imported; fetch the file again".into())
            }
            Self::SnapshotNotFound(_) => Some("`ramus snapshots SESSION` shows them".into()),
            Self::Outside { .. } => Some("paths are those of the session's directory, or begin where you are in it".into()),
            Self::NoSuchFile(_) => Some("`ramus snapshots SESSION SNAPSHOT` lists the files of one".into()),
            Self::Setting { hint, .. } => hint.clone(),
            Self::Final { hint, .. } | Self::Unended { hint, .. } => Some(hint.clone()),
            Self::Store(StoreError::Latched { .. }) => {
                Some("nothing was written; free the disk or repair it, then `ramus recover` the session".into())
            }
            Self::Corrupt(_) => Some("`ramus doctor --repair` repairs what can be repaired and keeps the rest".into()),
            Self::Store(StoreError::Unsafe { .. }) => Some(
                "a home is used only by the user it belongs to (root is no exception), and its directories are no links: \
                 run as that user, put directories in the place of links, or name another home with --home"
                    .into(),
            ),
            Self::Store(StoreError::Running { .. }) => Some(
                "watch it, fork it, or wait until it is done; the right to run is free when the process ends".into(),
            ),
            Self::Store(StoreError::Unmarked { .. }) => {
                Some("make the file readable, or move it out of the home, and try again".into())
            }
            Self::Store(StoreError::Full { source, .. }) if source.kind() == io::ErrorKind::FileTooLarge => {
                Some("nothing was written; raise the limit on the size of files (`ulimit -f`) and try again".into())
            }
            Self::Store(StoreError::Full { .. }) => Some("nothing was written; free some space and try again".into()),
            _ if self.kind() == ErrorKind::Full && self.is_of_system() => {
                Some("free some space, or raise the limit that was met, and try again".into())
            }
            _ => None,
        }
    }

    /// Says whether it is the system that has no space, and no limit of ours.
    fn is_of_system(&self) -> bool {
        match self {
            Self::Snapshot(error) => matches!(**error, SnapshotError::Io { .. }),
            Self::Catalogue(_) | Self::Bundle(_) | Self::Interchange(_) | Self::Output(_) => true,
            _ => false,
        }
    }
}

/// The kind of what the system said.
fn of_io(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ErrorKind::Full,
        _ => ErrorKind::Io,
    }
}

/// How to say which of several things is meant: they begin the same, or have one label.
fn told_apart(reference: &str, candidates: &[String]) -> String {
    if candidates.iter().all(|id| id.starts_with(reference)) {
        return "give more characters of the id".to_owned();
    }
    format!("several have this label; name one by its id: {}", candidates.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_such_whoever_meets_it() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let snapshot = SnapshotError::Io { action: "write to", path: "x".into(), cause: full() };
        let catalogue = CatalogueError::Io { action: "write to", path: "x".into(), cause: full() };
        let all = [
            EngineError::from(snapshot),
            EngineError::from(catalogue),
            EngineError::from(BundleError::Io(full())),
            EngineError::from(ramus_interchange::Error::Io(full())),
            EngineError::Output(Arc::new(full())),
        ];
        assert!(all.iter().all(|error| error.kind() == ErrorKind::Full && error.hint().is_some()));
        let limit = EngineError::from(SnapshotError::StoreFull { bytes: 1 });
        assert_eq!((limit.kind(), limit.hint()), (ErrorKind::Full, None));
        let other = EngineError::Output(Arc::new(io::Error::from(io::ErrorKind::BrokenPipe)));
        assert_eq!(other.kind(), ErrorKind::Io);
    }
}
