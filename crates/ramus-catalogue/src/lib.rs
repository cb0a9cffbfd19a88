//! The databases of ramus: the catalogue, which is derived from the sessions and may vanish at any moment, and the prompt
//! history, which is its own truth. The only crate that knows SQL; it does not know logs.

mod error;
mod history;

pub use error::CatalogueError;
pub use history::{History, HistoryQuery, Prompt, Unstored};

/// Returns the version of the SQLite that is linked in, as it reports it itself.
///
/// ```
/// // Older ones can lose committed pages of a write-ahead log that is reset while it is read.
/// assert!(ramus_catalogue::sqlite_version() >= (3, 51, 3));
/// ```
pub fn sqlite_version() -> (i32, i32, i32) {
    let number = rusqlite::version_number();
    (number / 1_000_000, number / 1_000 % 1_000, number % 1_000)
}
