//! `meta` and `move`: metadata of a session.

use ramus_model::{Body, Draft};
use ramus_store::Residence;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::Cursor;

/// Free metadata lives under this prefix, so that it never collides with what the engine keeps.
pub(crate) const FREE: &str = "metadata.";

impl Engine {
    /// Sets free metadata; a null value removes a key.
    pub fn set_metadata(&self, session: &mut Session, values: Map<String, Value>) -> Result<(), EngineError> {
        if let Some(bad) = values.keys().find(|key| key.is_empty() || key.chars().any(char::is_control)) {
            return Err(EngineError::Invalid(format!("{bad:?} cannot be a metadata key")));
        }
        let set = values.into_iter().map(|(key, value)| (format!("{FREE}{key}"), value)).collect();
        self.write_meta(session, "meta", set)
    }

    /// Moves the session to another working directory.
    pub fn move_to(&self, session: &mut Session, cwd: &str) -> Result<(), EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "a file that belongs to another program stays where it is; fork it to move the fork";
            return Err(EngineError::Invalid(reason.into()));
        }
        let mut set = Map::new();
        set.insert("cwd".into(), cwd.into());
        self.write_meta(session, "move", set)?;
        if session.residence() == Residence::Published {
            let location = self.store.settle(session.location(), cwd)?;
            if let Some(own) = session.sources.first_mut() {
                *own = location;
            }
        }
        Ok(())
    }

    fn write_meta(&self, session: &mut Session, op: &str, set: Map<String, Value>) -> Result<(), EngineError> {
        let draft = Draft::new(Body::ramus("meta", json!({"op": op, "client": self.client, "set": set})));
        self.append(session, &[draft], &Cursor::Leaf).map(drop)
    }
}

impl Session {
    /// Returns the free metadata.
    pub fn metadata(&self) -> Map<String, Value> {
        let all = self.log().facts().meta().iter();
        all.filter_map(|(key, value)| Some((key.strip_prefix(FREE)?.to_owned(), value.clone()))).collect()
    }
}
