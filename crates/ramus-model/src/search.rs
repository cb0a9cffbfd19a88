//! Searching: what text an entry has, how text becomes words, what a query asks for, and whether an entry answers it.
//!
//! Everything here is a pure function of one entry and one query. The scan and the index both stand on it: the index only
//! stores the words that [`Document::index`] writes, and every hit is judged by [`Matcher`] on the entry itself.

mod dates;
mod document;
mod error;
mod extract;
mod facets;
mod fold;
mod matching;
mod operator;
mod parse;
mod paths;
mod prefilter;
mod query;
mod score;
mod snippet;
mod words;

pub use document::{Document, Streams};
pub use error::QueryError;
pub use facets::{Facets, Speaker};
pub use matching::{Matcher, Tally};
pub use operator::{SessionFacts, State, Test};
pub use prefilter::Prefilter;
pub use query::{Phrase, Query, Reading, Term};
pub use score::{Corpus, score};
pub use snippet::{Segment, Snippet};
pub use words::{BREAK, Splitter, Word};
