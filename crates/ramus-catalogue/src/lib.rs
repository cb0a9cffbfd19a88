//! The databases of ramus: the catalogue, which is derived from the sessions and may vanish at any moment, and the prompt
//! history, which is its own truth. The only crate that knows SQL; it does not know logs.
//!
//! ```
//! use ramus_catalogue::{Catalogue, Change, Filter, Row};
//!
//! let mut catalogue = Catalogue::in_memory()?;
//! let held = catalogue.enter()?;
//! let row = Row { name: "sessions/a.jsonl".into(), id: "a".into(), title: "Parser".into(), ..Row::default() };
//! held.apply(&[Change::put(row)], &[])?;
//! assert_eq!(held.list(&Filter::default())?.rows.len(), 1);
//! # Ok::<(), ramus_catalogue::CatalogueError>(())
//! ```

mod answers;
mod change;
mod connection;
mod error;
mod facets;
mod files;
mod history;
mod known;
mod list;
mod open;
mod recorded;
mod row;
mod schema;
mod seal;
mod text;

pub use answers::LogAnswers;
pub use change::{Answer, Answers, Change, Rest};
pub use error::CatalogueError;
pub use facets::{Facet, Facets};
pub use history::{History, HistoryQuery, Prompt, Unstored};
pub use known::{Known, digest};
pub use list::{After, Filter, Found, Hidden, NATIVE, Sort, SortKey, SortValue};
pub use open::{Catalogue, Held};
pub use recorded::Recorded;
pub use row::{Residence, Row};
pub use text::{Ask, Backlog, Chosen, Entry, Proposal, Proposals, Step, TextState};

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
