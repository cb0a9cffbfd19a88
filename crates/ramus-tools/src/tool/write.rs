//! `write`: a whole file, new or in place of one that was read before.

use std::sync::Arc;

use ramus_model::request::ToolDefinition;
use ramus_witness::Reach;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read::contents;
use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::diff::unified;
use crate::outcome::Outcome;
use crate::workspace::{Freshness, Intent, PlaceError, Seen, Workspace};

/// Writes files.
#[derive(Clone, Debug)]
pub struct Writing {
    /// Where files are.
    pub workspace: Arc<Workspace>,
    /// What the session has seen of them.
    pub seen: Arc<Seen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl Tool for Writing {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "path": {"type": "string", "description": "Path of the file, relative to the workspace"},
            "content": {"type": "string", "description": "All of its content"},
        });
        let description =
            "Writes a whole file. One that exists must have been read before. Use edit for small changes.";
        define("write", description, properties, &["path", "content"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { path, content } = arguments(value)?;
        let place = self.workspace.resolve(&path, Intent::Write)?;
        let questions = about("write", &place.text(), value);
        let reach = Reach::of([self.workspace.path().join(place.path())]);
        let this = self.clone();
        Ok(Plan::blocking(questions, Effect::Changes, move |cancel| {
            let (old, identity) = match contents(&this.workspace, &place) {
                Ok((old, identity)) => (Some(old), identity),
                Err(PlaceError::Missing(_)) => (None, None),
                Err(error) => return Outcome::failed(error.to_string()),
            };
            match old.as_ref().map(|old| this.seen.compare(&place, old)) {
                None | Some(Freshness::Fresh) => {}
                Some(Freshness::Stale) => {
                    return Outcome::failed(format!("{path} changed since it was read; read it again"));
                }
                Some(Freshness::Unseen) => {
                    return Outcome::failed(format!("{path} exists; read it before replacing it"));
                }
            }
            if cancel.is_cancelled() {
                return Outcome::cancelled();
            }
            if let Err(error) = this.workspace.replace(&place, content.as_bytes(), identity) {
                return Outcome::failed(error.to_string());
            }
            this.seen.note(&place, content.as_bytes());
            let verb = if old.is_some() { "Replaced" } else { "Created" };
            let diff = unified(&place.text(), &old.unwrap_or_default(), content.as_bytes());
            Outcome::text(format!("{verb} {}, {} bytes.", place.text(), content.len()))
                .with_details(json!({"path": place.text(), "diff": diff.text, "additions": diff.additions, "deletions": diff.deletions}))
        })
        .within(reach))
    }
}
