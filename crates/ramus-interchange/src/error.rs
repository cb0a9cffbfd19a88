//! Why a session could not be carried over. What is wrong with one record is no error: it is a [`Loss`](crate::Loss).

use std::io;

use rusqlite::ErrorCode;

/// Why reading or writing ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The source is not what the codec reads.
    #[error("this is no session of {agent}: {why}")]
    NotThisFormat {
        /// The agent whose sessions the codec reads.
        agent: &'static str,
        /// What is missing or wrong.
        why: String,
    },
    /// The source asks for more than a limit allows.
    #[error("{0}")]
    Limit(String),
    /// A database is damaged, or is not what it says.
    #[error("the database cannot be read")]
    Database(#[source] rusqlite::Error),
    /// The codec reads this format and does not write it, or the other way round.
    #[error("{0}")]
    Unsupported(String),
    /// Whoever takes the entries does not want to go on.
    #[error("the import was stopped")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::Limit(
                "the database makes more work than its size explains; something that it is searched by is missing"
                    .into(),
            ),
            Some(ErrorCode::TooBig) => Self::Limit("a value of the database is too long to be held in memory".into()),
            _ => Self::Database(error),
        }
    }
}
