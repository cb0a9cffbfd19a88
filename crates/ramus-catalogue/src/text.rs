//! The full text: one document per entry that has any, and an index of its words.
//!
//! The index keeps words, not text: `ramus_model::search` makes them, FTS5 only stores where they occur. The documents of a
//! file count as long as the file is of the generation they were read of and ends where they were read to; whoever asks
//! names the files for which that is not so, and looks at those itself.

mod ask;
mod choose;
mod state;
mod store;

pub use ask::{Ask, Proposal, Proposals};
pub use choose::Chosen;
pub use state::{Backlog, TextState};
pub use store::{Entry, Step};

/// The tables of the full text.
pub(crate) const TABLES: &str = "
-- What entries have in common, each combination once.
CREATE TABLE facet (
    facet INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- How far the text of a file is indexed, and what it came to up to there.
CREATE TABLE text (
    file INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    read_end INTEGER NOT NULL,
    sum INTEGER,
    is_damaged INTEGER NOT NULL
);

CREATE INDEX text_damaged ON text (file) WHERE is_damaged;

-- The state in which the text was found to be current.
CREATE TABLE text_current (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    state INTEGER
);
INSERT INTO text_current VALUES (1, NULL);

-- One row per entry that has text, label and title. Labels and titles are made anew whenever their file grows.
CREATE TABLE document (
    document INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    is_passing INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    millis INTEGER,
    facet INTEGER NOT NULL,
    entry TEXT NOT NULL
);
CREATE INDEX document_file ON document (file, is_passing);

CREATE INDEX session_damaged ON session (file) WHERE is_damaged;
CREATE INDEX session_unreadable ON session (file) WHERE unreadable IS NOT NULL;

-- Where words occur. The words themselves are made in Rust and parted by spaces.
CREATE VIRTUAL TABLE word USING fts5 (
    words, parts, paths,
    content='', contentless_delete=1, tokenize='ascii'
);
-- Fewer and longer pieces, so that less of it is merged again and again.
INSERT INTO word (word, rank) VALUES ('hashsize', 33554432);
INSERT INTO word (word, rank) VALUES ('automerge', 8);
";
