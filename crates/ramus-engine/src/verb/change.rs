//! Several changes of what is known about a session, looked at before the first of them is made: none is made when one of
//! them could not be.

use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::session::Session;
use crate::verb::create::{check_title, split_model};
use crate::verb::meta::{check_metadata, check_movable};
use crate::verb::tag::{TagChange, check_tag_changes};

/// What is to be changed.
#[derive(Clone, Debug, Default)]
pub struct Changes<'c> {
    /// The title.
    pub title: Option<&'c str>,
    /// The model, as `provider/name`.
    pub model: Option<&'c str>,
    /// Changes of the tags, one after the other.
    pub tags: &'c [TagChange],
    /// Free metadata.
    pub metadata: Option<&'c Map<String, Value>>,
    /// Whether it moves to another directory.
    pub moves: bool,
}

impl Changes<'_> {
    /// Refuses what a verb would refuse.
    pub fn check(&self, session: &Session) -> Result<(), EngineError> {
        self.title.map(check_title).transpose()?;
        self.model.map(split_model).transpose()?;
        check_tag_changes(session, self.tags)?;
        self.metadata.map(check_metadata).transpose()?;
        if self.moves { check_movable(session) } else { Ok(()) }
    }
}
