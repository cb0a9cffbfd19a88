//! `meta` and `move`: metadata of a session.

use ramus_model::Body;
use ramus_store::{Residence, StoreError};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project;
use crate::session::Session;
use crate::verb::append::{ATTEMPTS, overtaken};
use crate::verb::create::new_entry_id;
use crate::verb::replace_segment::close_tail;

/// Free metadata lives under this prefix, so that it never collides with what the engine keeps.
pub(crate) const FREE: &str = "metadata.";

impl Engine {
    /// Sets free metadata; a null value removes a key.
    pub fn set_metadata(&self, session: &mut Session, values: Map<String, Value>) -> Result<(), EngineError> {
        check_metadata(&values)?;
        let set = values.into_iter().map(|(key, value)| (format!("{FREE}{key}"), value)).collect();
        self.write_meta(session, "meta", set)
    }

    /// Moves the session to another working directory, and records the project that is there.
    pub fn move_to(&self, session: &mut Session, cwd: &str) -> Result<(), EngineError> {
        check_movable(session)?;
        let project = project::find(cwd).map_or(Value::Null, |project| project.to_json());
        let set = Map::from_iter([("cwd".to_owned(), cwd.into()), ("project".to_owned(), project)]);
        self.write_meta(session, "move", set)?;
        self.settle(session)
    }

    /// Puts the file of a published session where its working directory says.
    pub(crate) fn settle(&self, session: &mut Session) -> Result<(), EngineError> {
        for _ in 0..ATTEMPTS {
            if session.residence() != Residence::Published {
                return Ok(());
            }
            match self.store.settle(session.location(), session.cwd()) {
                Ok(location) => {
                    session.relocate(location);
                    return Ok(());
                }
                // Someone else moved it meanwhile.
                Err(StoreError::NotFound { .. }) => self.look_up_again(session)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(overtaken(session))
    }

    fn write_meta(&self, session: &mut Session, op: &str, set: Map<String, Value>) -> Result<(), EngineError> {
        self.record_one(session, op, Body::ramus("meta", json!({"set": set}))).map(drop)
    }

    /// Writes what `change` makes of the session as it is, and again of what it is then when others were faster. Nothing
    /// is written when nothing changes.
    pub(crate) fn change_meta(
        &self,
        session: &mut Session,
        op: &str,
        change: impl Fn(&Session) -> Result<Map<String, Value>, EngineError>,
    ) -> Result<(), EngineError> {
        if change(session)?.is_empty() {
            return Ok(());
        }
        self.begin_writing(session)?;
        for _ in 0..ATTEMPTS {
            session.check_expected(session.log().len())?;
            let set = change(session)?;
            if set.is_empty() {
                return Ok(());
            }
            let body = Body::ramus("meta", json!({"op": op, "client": self.client_of(session), "set": set}));
            let id = new_entry_id(|id| session.log().seq_of(id).is_some());
            let mut bytes = close_tail(session);
            bytes.extend(body.to_line(&id, session.leaf().as_ref(), &self.timestamp()));
            match self.write(session, &bytes) {
                Ok(()) => {
                    self.publish_if_answered(session);
                    return Ok(());
                }
                Err(error) => self.catch_up(session, error)?,
            }
        }
        Err(overtaken(session))
    }
}

/// Refuses keys that could not be told.
pub(crate) fn check_metadata(values: &Map<String, Value>) -> Result<(), EngineError> {
    match values.keys().find(|key| key.is_empty() || key.chars().any(char::is_control)) {
        Some(bad) => Err(EngineError::Invalid(format!("{bad:?} cannot be a metadata key"))),
        None => Ok(()),
    }
}

/// Refuses to move what does not belong to the home.
pub(crate) fn check_movable(session: &Session) -> Result<(), EngineError> {
    if session.residence() == Residence::InPlace {
        let reason = "a file that belongs to another program stays where it is; fork it to move the fork";
        return Err(EngineError::Invalid(reason.into()));
    }
    Ok(())
}

impl Session {
    /// Returns the free metadata.
    pub fn metadata(&self) -> Map<String, Value> {
        let all = self.log().facts().meta().iter();
        all.filter_map(|(key, value)| Some((key.strip_prefix(FREE)?.to_owned(), value.clone()))).collect()
    }
}
