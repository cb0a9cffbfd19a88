//! What goes wrong with a database, by what its user can do about it.

use std::path::PathBuf;

use thiserror::Error;

/// Why a database could not be used.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// Another process kept it locked for too long.
    #[error("{} is in use by another process", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// It is not a database, or not a whole one.
    #[error("{} is damaged", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// It could not be read or written.
    #[error("cannot use {}", path.display())]
    Failed {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
}

impl CatalogueError {
    /// Says whether it would have worked, had nobody else been at it.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::Io { cause, .. } => cause.kind() == std::io::ErrorKind::ResourceBusy,
            Self::Corrupt { .. } | Self::Failed { .. } => false,
        }
    }

    /// Sorts what SQLite said about the database at `path`.
    pub fn sqlite(path: impl Into<PathBuf>, cause: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        let path = path.into();
        match cause.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy { path, cause },
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt { path, cause },
            _ => Self::Failed { path, cause },
        }
    }
}
