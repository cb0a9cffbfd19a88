//! `glob`: files by name, as ignore files allow, bounded.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use ramus_model::request::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::walk::walk;
use crate::workspace::{Intent, Place, Workspace};

/// How many paths are shown at most.
const MOST: usize = 500;

/// Finds files by name.
#[derive(Clone, Debug)]
pub struct Globbing {
    /// Where files are.
    pub workspace: Arc<Workspace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

impl Tool for Globbing {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "pattern": {"type": "string", "description": "Such as **/*.rs; without a slash it matches names anywhere"},
            "path": {"type": "string", "description": "Directory to search, relative to the workspace"},
        });
        define("glob", "Finds files by name. Ignored files are left out.", properties, &["pattern"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { pattern, path } = arguments(value)?;
        let glob = matcher(&pattern)?;
        let place = self.workspace.resolve(path.as_deref().unwrap_or("."), Intent::Read)?;
        let questions = about("glob", &place.text(), value);
        let workspace = Arc::clone(&self.workspace);
        Ok(Plan::blocking(questions, Effect::Looks, move |cancel| find(&workspace, &place, &glob, cancel)))
    }
}

/// Reads a pattern of file names; one without a slash matches at any depth.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, Refusal> {
    let deep = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&deep).literal_separator(true).build();
    Ok(glob.map_err(|error| Refusal::Arguments(error.to_string()))?.compile_matcher())
}

fn find(workspace: &Workspace, place: &Place, glob: &GlobMatcher, cancel: &Cancel) -> Outcome {
    let mut found = Vec::new();
    let mut total = 0;
    for file in walk(workspace, place) {
        if cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        if glob.is_match(file.path().strip_prefix(place.path()).unwrap_or(file.path())) {
            total += 1;
            if found.len() < MOST {
                found.push(file.text());
            }
        }
    }
    found.sort();
    if total > MOST {
        found.push(format!("[{} more]", total - MOST));
    }
    let text = if found.is_empty() { "No file matches.".to_owned() } else { found.join("\n") };
    Outcome::text(text).with_details(json!({"matches": total}))
}
