//! A query: terms that must all hold, some of them negated.

use std::fmt;

use super::error::QueryError;
use super::operator::{SessionFacts, Test};
use super::parse;
use super::words::Splitter;

/// How a query is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Now, in milliseconds since 1970: what ages count from.
    pub now: i64,
    /// Whether someone is still typing: the last word may go on, and the last quote need not be closed.
    pub typing: bool,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
}

/// One condition of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Whether it must not hold.
    pub negated: bool,
    /// What is asked.
    pub test: Test,
}

impl Query {
    /// Reads a query.
    ///
    /// ```
    /// use ramus_model::search::{Query, Reading};
    ///
    /// let query = Query::parse("\"borrow checker\" role:user -test", Reading::default())?;
    /// assert_eq!(query.to_string(), "\"borrow checker\" role:user -test");
    /// let error = Query::parse("rol:user", Reading::default()).unwrap_err();
    /// assert_eq!(error.hint().as_deref(), Some("did you mean role:user? Quotes make it text: \"rol:user\""));
    /// # Ok::<(), ramus_model::search::QueryError>(())
    /// ```
    pub fn parse(text: &str, reading: Reading) -> Result<Self, QueryError> {
        parse::query(text, reading).map(|terms| Self { terms })
    }

    /// Returns the terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Iterates over the phrases that must occur in the text.
    pub fn phrases(&self) -> impl Iterator<Item = &Phrase> {
        self.terms.iter().filter(|term| !term.negated).filter_map(|term| match &term.test {
            Test::Words(phrase) => Some(phrase),
            _ => None,
        })
    }

    /// Says whether the terms that are about sessions hold for one.
    pub fn admits(&self, session: &SessionFacts<'_>) -> bool {
        self.terms.iter().all(|term| term.test.of_session(session).is_none_or(|holds| holds != term.negated))
    }

    /// Says whether a term is about sessions.
    pub fn is_about_sessions(&self) -> bool {
        let nothing = SessionFacts::default();
        self.terms.iter().any(|term| term.test.of_session(&nothing).is_some())
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            let gap = if at == 0 { "" } else { " " };
            let sign = if term.negated { "-" } else { "" };
            write!(f, "{gap}{sign}{}", term.test)?;
        }
        Ok(())
    }
}

/// Words that must follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    spelled: String,
    words: Vec<String>,
    /// The same with words parted where their case changes, when that makes a difference.
    parted: Option<Vec<String>>,
    prefix: bool,
}

impl Phrase {
    /// Cuts text into the words of a phrase; none when it has no letters or digits. With `prefix`, the last word may go on.
    pub(super) fn new(text: &str, prefix: bool) -> Option<Self> {
        let (mut words, mut parted) = (Vec::new(), Vec::new());
        Splitter::default().split(text, |word| {
            words.push(word.text.to_owned());
            let before = parted.len();
            parted.extend(word.parts().map(str::to_owned));
            if parted.len() == before {
                parted.push(word.text.to_owned());
            }
        });
        let parted = (parted != words).then_some(parted);
        (!words.is_empty()).then(|| Self { spelled: text.to_owned(), words, parted, prefix })
    }

    /// Iterates over the ways the phrase may stand in a text, each a sequence of words.
    pub fn ways(&self) -> impl Iterator<Item = &[String]> {
        std::iter::once(self.words.as_slice()).chain(self.parted.as_deref())
    }

    /// Says whether the last word may go on.
    pub fn is_prefix(&self) -> bool {
        self.prefix
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.prefix { "*" } else { "" };
        let plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | ':' | '“' | '”');
        if self.spelled.chars().all(plain) && !self.spelled.starts_with('-') && !self.spelled.ends_with('*') {
            write!(f, "{}{star}", self.spelled)
        } else {
            write!(f, "\"{}\"{star}", self.spelled.replace(['"', '“', '”'], " "))
        }
    }
}
