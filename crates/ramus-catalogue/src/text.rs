//! The full text: one document per entry that has any, and an index of its words.
//!
//! The index keeps words, not text: `ramus_model::search` makes them, FTS5 only stores where they occur. A document counts
//! as long as its file is of the generation it was read of, so what a replaced file said is gone at once, and swept later.

mod ask;
mod store;

pub use ask::{Ask, Proposal};
pub use store::{Backlog, Entry, TextWriter};

/// The tables of the full text.
pub(crate) const TABLES: &str = "
-- What entries have in common, each combination once.
CREATE TABLE facet (
    facet INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- One row per entry that has text, label and title.
CREATE TABLE document (
    document INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    millis INTEGER,
    facet INTEGER NOT NULL,
    entry TEXT NOT NULL
);
CREATE INDEX document_file ON document (file, kind);

-- Where words occur. The words themselves are made in Rust and parted by spaces.
CREATE VIRTUAL TABLE word USING fts5 (
    words, parts, paths,
    content='', contentless_delete=1, tokenize='ascii'
);
";
