//! `tag` and `star`: what a person finds sessions by. Whoever adds a tag while another one does loses neither: the list is
//! made again from what the other one wrote.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

/// The longest tag, in bytes.
const LONGEST: usize = 100;

/// How many tags a session can have. All of them are written whenever one changes.
const MOST: usize = 100;

/// A change of the tags of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagChange {
    /// These come to those that are there.
    Add(Vec<String>),
    /// These go, if they are there.
    Remove(Vec<String>),
    /// These take the place of those that are there.
    Set(Vec<String>),
}

impl TagChange {
    /// Cleans the tags and refuses those that cannot be any.
    fn cleaned(&self) -> Result<Self, EngineError> {
        let checked = |tags: &[String]| tags.iter().map(|tag| check_tag(tag)).collect::<Result<_, _>>();
        Ok(match self {
            Self::Add(tags) => Self::Add(checked(tags)?),
            Self::Set(tags) => Self::Set(checked(tags)?),
            // What cannot be a tag is none of these, unless another program wrote it.
            Self::Remove(tags) => Self::Remove(tags.iter().flat_map(|tag| [tag.clone(), cleaned(tag)]).collect()),
        })
    }
}

/// Refuses changes, made one after the other, that the tags of a session could not take.
pub(crate) fn check_tag_changes(session: &Session, changes: &[TagChange]) -> Result<(), EngineError> {
    let mut tags: BTreeSet<String> = session.tags().into_iter().collect();
    for change in changes {
        tags = changed(&tags, &change.cleaned()?)?;
    }
    Ok(())
}

/// Returns the tags behind a change.
fn changed(old: &BTreeSet<String>, change: &TagChange) -> Result<BTreeSet<String>, EngineError> {
    let mut new = old.clone();
    match change {
        TagChange::Add(tags) => new.extend(tags.iter().cloned()),
        TagChange::Remove(tags) => new.retain(|tag| !tags.contains(tag)),
        TagChange::Set(tags) => new = tags.iter().cloned().collect(),
    }
    if new.len() > MOST && new.len() > old.len() {
        return Err(EngineError::Invalid(format!("a session can have at most {MOST} tags")));
    }
    Ok(new)
}

impl Engine {
    /// Changes the tags and returns them, in order. Nothing is written when they stay the same.
    pub fn change_tags(&self, session: &mut Session, change: &TagChange) -> Result<Vec<String>, EngineError> {
        let change = change.cleaned()?;
        self.change_meta(session, "tag", |session| {
            let old: BTreeSet<String> = session.tags().into_iter().collect();
            let new = changed(&old, &change)?;
            if new == old {
                return Ok(Map::new());
            }
            let tags = if new.is_empty() { Value::Null } else { new.into_iter().collect() };
            Ok(Map::from_iter([("tags".to_owned(), tags)]))
        })?;
        Ok(session.tags())
    }

    /// Stars a session, or takes its star away. Nothing is written when it stays the same.
    pub fn set_starred(&self, session: &mut Session, starred: bool) -> Result<(), EngineError> {
        self.change_meta(session, "star", |session| {
            let value = if starred { Value::Bool(true) } else { Value::Null };
            let is_so = session.starred() == starred;
            Ok(if is_so { Map::new() } else { Map::from_iter([("starred".to_owned(), value)]) })
        })
    }
}

fn cleaned(tag: &str) -> String {
    tag.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cleans a tag and refuses one that could not be told or typed.
fn check_tag(tag: &str) -> Result<String, EngineError> {
    let tag = cleaned(tag);
    if tag.is_empty() {
        return Err(EngineError::Invalid("a tag cannot be empty".into()));
    }
    if tag.chars().any(char::is_control) {
        return Err(EngineError::Invalid(format!("{tag:?} cannot be a tag: it holds control characters")));
    }
    if tag.len() > LONGEST {
        return Err(EngineError::Invalid(format!("a tag can have at most {LONGEST} bytes, not {}", tag.len())));
    }
    Ok(tag)
}
