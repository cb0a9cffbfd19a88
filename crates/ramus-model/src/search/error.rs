//! Why a query was not understood: where, and what to write instead.

use thiserror::Error;

use super::parse::LONGEST;

/// Why a query was not understood. Positions count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// Nothing is asked.
    #[error("the query is empty")]
    Empty,
    /// It is too long.
    #[error("the query has {0} bytes, which is more than {LONGEST}")]
    TooLong(usize),
    /// A quote has no end.
    #[error("the quote at character {at} is not closed")]
    Unclosed {
        /// Where it starts.
        at: usize,
    },
    /// A term has nothing that could be found.
    #[error("{text:?} at character {at} has no letters or digits to search for")]
    NoWords {
        /// Where it starts.
        at: usize,
        /// The term.
        text: String,
    },
    /// There is no such operator, but one that may have been meant.
    #[error("there is no operator {name}: at character {at}")]
    UnknownOperator {
        /// Where it starts.
        at: usize,
        /// The operator.
        name: String,
        /// What follows it.
        value: String,
        /// What may have been meant.
        meant: &'static str,
    },
    /// An operator stands alone.
    #[error("{name}: at character {at} needs a value: it takes {expected}")]
    MissingValue {
        /// Where it starts.
        at: usize,
        /// The operator.
        name: String,
        /// What may follow.
        expected: &'static str,
    },
    /// An operator does not know what follows it.
    #[error("{name}:{value} at character {at} is not understood: {name}: takes {expected}")]
    BadValue {
        /// Where it starts.
        at: usize,
        /// The operator.
        name: String,
        /// What follows it.
        value: String,
        /// What may follow.
        expected: &'static str,
    },
}

impl QueryError {
    /// Returns the character at which the trouble starts, from 1; none when it is about the whole.
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Empty | Self::TooLong(_) => None,
            Self::Unclosed { at }
            | Self::NoWords { at, .. }
            | Self::UnknownOperator { at, .. }
            | Self::MissingValue { at, .. }
            | Self::BadValue { at, .. } => Some(*at),
        }
    }

    /// Returns what might be written instead.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Empty => Some("say a word, a \"phrase\", or an operator such as role:user".to_owned()),
            Self::UnknownOperator { name, value, meant, .. } => {
                let instead =
                    if meant.starts_with('-') { format!("{meant} {value}") } else { format!("{meant}:{value}") };
                Some(format!("did you mean {instead}? Quotes make it text: \"{name}:{value}\""))
            }
            Self::Unclosed { .. } => Some("a phrase ends with a second quote".to_owned()),
            Self::TooLong(_) | Self::NoWords { .. } | Self::MissingValue { .. } | Self::BadValue { .. } => None,
        }
    }
}
