//! What tools make and leave in the workspace: an entry for each, and a list of all that a turn made.

use ramus_agent::Outcome;
use ramus_model::Body;
use ramus_model::delta::Called;
use serde_json::{Value, json};

use super::Running;
use crate::error::EngineError;

/// Something that a tool made.
const ARTIFACT: &str = "ramus.artifact";

impl Running<'_> {
    /// Stores what a call made, as far as its details say so. Of two with one address the newer one counts in the list.
    pub(super) fn store_artifacts(&mut self, call: &Called, outcome: &Outcome) -> Result<(), EngineError> {
        let made = outcome.details.as_ref().and_then(|details| details.get("artifacts")).and_then(Value::as_array);
        for artifact in made.into_iter().flatten().filter(|_| !outcome.is_error) {
            let data = json!({"call": call.id, "tool": call.name, "artifact": artifact});
            let last = self.last.clone();
            self.append(Body::new("custom", [("customType", Value::from(ARTIFACT)), ("data", data)]))?;
            // The result is what the turn said last, not the note beside it.
            self.last = last;
            self.artifacts.retain(|known| known.get("url") != artifact.get("url"));
            self.artifacts.insert(0, artifact.clone());
        }
        Ok(())
    }
}
