//! `archive`, `unarchive`: a session that is out of the way. It stays as it is and can be written to; lists leave it out
//! and count it. Forks and children are not touched.

use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Puts a session out of the way. Nothing is written when it is already.
    pub fn archive(&self, session: &mut Session) -> Result<(), EngineError> {
        self.change_meta(session, "archive", |session| {
            let now = Map::from_iter([("archived_at".to_owned(), Value::from(self.timestamp()))]);
            Ok(if session.archived_at().is_some() { Map::new() } else { now })
        })
    }

    /// Brings a session back. Nothing is written when it is not archived.
    pub fn unarchive(&self, session: &mut Session) -> Result<(), EngineError> {
        self.change_meta(session, "unarchive", |session| {
            let never = Map::from_iter([("archived_at".to_owned(), Value::Null)]);
            Ok(if session.archived_at().is_none() { Map::new() } else { never })
        })
    }
}
