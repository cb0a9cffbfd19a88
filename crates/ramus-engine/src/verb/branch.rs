//! `branch`, `branch_with_summary`, `reset_leaf`: moving the leaf, durably.

use ramus_model::{Body, Draft, EntryId, Parent, Record, Seq};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Moves the leaf to `target`. Nothing is lost: the path that is left stays a branch.
    pub fn branch(&self, session: &mut Session, target: Seq) -> Result<EntryId, EngineError> {
        let id = branch_target(session, target)?;
        if session.leaf().as_ref() != Some(&id) {
            let data = json!({"op": "branch", "client": self.client_of(session), "target": id.as_str()});
            self.point(session, data, Parent::Entry(id.clone()))?;
        }
        Ok(id)
    }

    /// Moves the leaf to `target` and leaves a summary of the path that is left, which becomes the leaf.
    pub fn branch_with_summary(
        &self,
        session: &mut Session,
        target: Option<Seq>,
        summary: &str,
    ) -> Result<EntryId, EngineError> {
        let target = target.map(|target| branch_target(session, target)).transpose()?;
        let left = session.leaf();
        let from = target.as_ref().map_or("root", EntryId::as_str);
        let mut members = vec![("fromId", Value::from(from)), ("summary", Value::from(summary))];
        if let Some(left) = left {
            members.push(("details", json!({"leftEntryId": left.as_str()})));
        }
        let parent = target.map_or(Parent::Root, Parent::Entry);
        let draft = Draft::new(Body::new("branch_summary", members)).under(parent);
        Ok(self.record_draft(session, "branch", draft)?.id)
    }

    /// Clears the leaf: the next entry becomes a new root.
    pub fn reset_leaf(&self, session: &mut Session) -> Result<(), EngineError> {
        if session.log().leaf().is_none() {
            return Ok(());
        }
        self.point(
            session,
            json!({"op": "reset_leaf", "client": self.client_of(session), "target": null}),
            Parent::Root,
        )
    }

    fn point(&self, session: &mut Session, data: Value, target: Parent) -> Result<(), EngineError> {
        let draft = Draft::new(Body::ramus("leaf", data)).under(target);
        self.record_draft(session, "branch", draft).map(drop)
    }
}

/// Only entries of the conversation can be continued from.
pub(crate) fn branch_target(session: &Session, target: Seq) -> Result<EntryId, EngineError> {
    let id = session.entry_id(target);
    let log = session.log();
    if !log.record(target).is_some_and(Record::is_visible) || !log.belongs(target) {
        let reason = format!("{id} is not part of the conversation: it is a label, metadata, or was replaced");
        return Err(EngineError::Invalid(reason));
    }
    Ok(id)
}
