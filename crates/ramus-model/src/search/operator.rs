//! What one term of a query asks, and of what: the words of an entry, what else is known of it, or its session.

use std::fmt;

use super::document::Document;
use super::facets::{Facets, Speaker};
use super::query::Phrase;
use crate::time;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The text has this phrase.
    Words(Phrase),
    /// `file:`: a tool call names such a file.
    File(Phrase),
    /// `role:`: one of these speaks. The first member is the name that was used.
    Role(String, Vec<Speaker>),
    /// `tool:`: this tool is called or answers; with a star, one whose name starts so.
    Tool(String),
    /// `model:`: a model whose name has this in it answered.
    Model(String),
    /// `has:error`: something failed.
    Error,
    /// `before:`: written before this moment.
    Before(i64),
    /// `after:`: written at this moment or later.
    After(i64),
    /// `cwd:`: the session is of this directory or one below; without a slash in front, of one with this in its name.
    Cwd(String),
    /// `project:`: the session is of a repository whose place or origin has this in its name.
    Project(String),
    /// `tag:`: the session has this tag.
    Tag(String),
    /// `is:`: the session is so.
    Is(State),
}

/// What a session can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Archived.
    Archived,
    /// Forked from another one.
    Fork,
    /// Starred.
    Starred,
    /// Without an answer yet.
    Draft,
    /// Damaged.
    Damaged,
}

impl State {
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("archived", Self::Archived),
        ("fork", Self::Fork),
        ("starred", Self::Starred),
        ("draft", Self::Draft),
        ("damaged", Self::Damaged),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, state)| *state == self).map_or("", |(name, _)| name)
    }
}

/// What queries ask of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFacts<'s> {
    /// The working directory.
    pub cwd: &'s str,
    /// The directory of its repository.
    pub project_root: &'s str,
    /// Where the repository comes from.
    pub project_remote: &'s str,
    /// The git directory of the repository.
    pub project_git: &'s str,
    /// The tags.
    pub tags: &'s [String],
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it was forked.
    pub fork: bool,
    /// Whether it is starred.
    pub starred: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// Whether it is damaged.
    pub damaged: bool,
    /// Whose it is.
    pub owner: &'s str,
}

impl Test {
    /// Answers a question about a session; none when it is about entries.
    pub fn of_session(&self, session: &SessionFacts<'_>) -> Option<bool> {
        Some(match self {
            Self::Cwd(cwd) if cwd.starts_with('/') => is_below(session.cwd, cwd),
            Self::Cwd(cwd) => has(session.cwd, cwd),
            Self::Project(name) => has(session.project_root, name) || has(session.project_remote, name),
            Self::Tag(tag) => session.tags.iter().any(|known| same(known, tag)),
            Self::Is(State::Archived) => session.archived,
            Self::Is(State::Fork) => session.fork,
            Self::Is(State::Starred) => session.starred,
            Self::Is(State::Draft) => session.draft,
            Self::Is(State::Damaged) => session.damaged,
            _ => return None,
        })
    }

    /// Answers a question about what is known of an entry besides its words and its time; none when it is another one.
    pub fn of_facets(&self, facets: &Facets) -> Option<bool> {
        Some(match self {
            Self::Role(_, speakers) => speakers.contains(&facets.speaker),
            Self::Tool(name) => match name.strip_suffix('*') {
                Some(start) => facets.tools.iter().any(|tool| tool.to_lowercase().starts_with(&start.to_lowercase())),
                None => facets.tools.iter().any(|tool| same(tool, name)),
            },
            Self::Model(name) => facets.model.as_deref().is_some_and(|model| has(model, name)),
            Self::Error => facets.error,
            _ => return None,
        })
    }

    /// Answers a question about the time of an entry; none when it is another one.
    pub fn of_time(&self, millis: Option<i64>) -> Option<bool> {
        match self {
            Self::Before(end) => Some(millis.is_some_and(|millis| millis < *end)),
            Self::After(start) => Some(millis.is_some_and(|millis| millis >= *start)),
            _ => None,
        }
    }

    pub(super) fn of_document(&self, document: &Document) -> Option<bool> {
        self.of_facets(&document.facets).or_else(|| self.of_time(document.millis))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(phrase) => phrase.fmt(f),
            Self::File(phrase) => write!(f, "file:{phrase}"),
            Self::Role(name, _) => write!(f, "role:{name}"),
            Self::Tool(name) => write!(f, "tool:{}", Quoted(name)),
            Self::Model(name) => write!(f, "model:{}", Quoted(name)),
            Self::Error => f.write_str("has:error"),
            Self::Before(millis) => write!(f, "before:{}", time::format(*millis)),
            Self::After(millis) => write!(f, "after:{}", time::format(*millis)),
            Self::Cwd(cwd) => write!(f, "cwd:{}", Quoted(cwd)),
            Self::Project(name) => write!(f, "project:{}", Quoted(name)),
            Self::Tag(tag) => write!(f, "tag:{}", Quoted(tag)),
            Self::Is(state) => write!(f, "is:{}", state.name()),
        }
    }
}

/// A value that is quoted when it must be.
struct Quoted<'v>(&'v str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(char::is_whitespace) { write!(f, "\"{}\"", self.0) } else { f.write_str(self.0) }
    }
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

fn has(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
