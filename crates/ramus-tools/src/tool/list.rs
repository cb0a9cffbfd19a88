//! `list`: the entries of one directory, bounded.

use std::sync::Arc;

use ramus_model::request::ToolDefinition;
use rustix::fs::{Dir, FileType};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::outcome::Outcome;
use crate::workspace::{Intent, Place, Workspace};

/// How many entries are shown at most.
const MOST: usize = 1000;

/// Lists directories.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Where directories are.
    pub workspace: Arc<Workspace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
}

impl Tool for Listing {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({"path": {"type": "string", "description": "Directory, relative to the workspace"}});
        define("list", "Lists one directory. Directories end in /, links in @.", properties, &[])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { path } = arguments(value)?;
        let place = self.workspace.resolve(path.as_deref().unwrap_or("."), Intent::Read)?;
        let questions = about("list", &place.text(), value);
        let workspace = Arc::clone(&self.workspace);
        Ok(Plan::blocking(questions, Effect::Looks, move |_| show(&workspace, &place)))
    }
}

fn show(workspace: &Workspace, place: &Place) -> Outcome {
    let entries = match workspace.open_directory(place) {
        Ok(directory) => Dir::read_from(&directory),
        Err(error) => return Outcome::failed(error.to_string()),
    };
    let mut names = Vec::new();
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return Outcome::failed(format!("{}: {error}", place.text())),
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mark = match entry.file_type() {
            FileType::Directory => "/",
            FileType::Symlink => "@",
            _ => "",
        };
        if !matches!(name.as_str(), "." | "..") {
            names.push(format!("{name}{mark}"));
        }
    }
    names.sort();
    let total = names.len();
    names.truncate(MOST);
    if total > MOST {
        names.push(format!("[{} more]", total - MOST));
    }
    let text = if names.is_empty() { "(empty)".to_owned() } else { names.join("\n") };
    Outcome::text(text).with_details(json!({"path": place.text(), "entries": total}))
}
