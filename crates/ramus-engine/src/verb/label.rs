//! `label`: a name for an entry.

use ramus_model::{Body, Seq};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::run::told;
use crate::session::Session;
use crate::verb::append::Written;
use crate::verb::branch::branch_target;

const MAX_LABEL: usize = 200;

impl Engine {
    /// Names an entry, or takes its name away. What only keeps book of a turn is not named, but the entry it follows.
    pub fn label(&self, session: &mut Session, target: Seq, name: Option<&str>) -> Result<Written, EngineError> {
        let target = if name.is_some() { told(session, target) } else { target };
        let id = branch_target(session, target)?;
        let mut members = vec![("targetId", Value::from(id.as_str()))];
        if let Some(name) = name {
            let name = check_label(name)?;
            if session.log().seq_of(name).is_some() {
                return Err(EngineError::Invalid(format!(
                    "{name:?} is the id of an entry and would never find this one"
                )));
            }
            members.push(("label", Value::from(name)));
        }
        self.record_one(session, "label", Body::new("label", members))
    }
}

/// A label can be used to name its entry, so it must not look like another way of naming one.
fn check_label(name: &str) -> Result<&str, EngineError> {
    let name = name.trim();
    let wrong = if name.is_empty() {
        "a label cannot be empty; leave the name out to clear it"
    } else if name.len() > MAX_LABEL {
        "a label can have at most 200 bytes"
    } else if name.contains('@') || name.starts_with('#') || name.bytes().all(|byte| byte == b'-') {
        "a label cannot contain '@', start with '#', or consist of dashes: that is how entries are named"
    } else if name.chars().any(char::is_control) {
        "a label cannot contain control characters"
    } else {
        return Ok(name);
    };
    Err(EngineError::Invalid(wrong.into()))
}
