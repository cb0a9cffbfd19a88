//! What goes wrong with a database, by what its user can do about it.

use std::path::PathBuf;

use thiserror::Error;

/// Why a database could not be used.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// Another process kept it locked for too long.
    #[error("{path} is in use by another process")]
    Busy {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// It is not a database, or not a whole one.
    #[error("{path} is damaged")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// It could not be read or written.
    #[error("cannot use {path}")]
    Failed {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// It is not a file that only this user can read and write.
    #[error("{path} is not used: {reason}")]
    Unsafe {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A later version of ramus made it.
    #[error("{path} was made by a later version of ramus")]
    Newer {
        /// The database.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {path}")]
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
