//! `edit`: one text in a file becomes another. The text must be there exactly, once unless every occurrence is meant; bytes
//! outside it stay as they are.

use std::sync::Arc;

use ramus_model::request::ToolDefinition;
use ramus_witness::Reach;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read::contents;
use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::diff::unified;
use crate::outcome::Outcome;
use crate::workspace::{Freshness, Intent, Seen, Workspace};

/// Edits files.
#[derive(Clone, Debug)]
pub struct Editing {
    /// Where files are.
    pub workspace: Arc<Workspace>,
    /// What the session has seen of them.
    pub seen: Arc<Seen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

impl Tool for Editing {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "path": {"type": "string", "description": "Path of the file, relative to the workspace"},
            "old": {"type": "string", "description": "The exact text to replace, with enough around it to be unique"},
            "new": {"type": "string", "description": "The text in its place"},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
        });
        let description = "Replaces exact text in a file that was read before.";
        define("edit", description, properties, &["path", "old", "new"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { path, old, new, replace_all } = arguments(value)?;
        if old.is_empty() || old == new {
            return Err(Refusal::Arguments("`old` must be some text, and other than `new`".to_owned()));
        }
        let place = self.workspace.resolve(&path, Intent::Write)?;
        let questions = about("edit", &place.text(), value);
        let reach = Reach::of([self.workspace.path().join(place.path())]);
        let this = self.clone();
        Ok(Plan::blocking(questions, Effect::Changes, move |cancel| {
            let (before, identity) = match contents(&this.workspace, &place) {
                Ok(found) => found,
                Err(error) => return Outcome::failed(error.to_string()),
            };
            match this.seen.compare(&place, &before) {
                Freshness::Fresh => {}
                Freshness::Stale => return Outcome::failed(format!("{path} changed since it was read; read it again")),
                Freshness::Unseen => return Outcome::failed(format!("read {path} before editing it")),
            }
            let (after, count) = match substitute(&before, &old, &new, replace_all) {
                Ok(done) => done,
                Err(reason) => return Outcome::failed(format!("{path}: {reason}")),
            };
            if cancel.is_cancelled() {
                return Outcome::cancelled();
            }
            if let Err(error) = this.workspace.replace(&place, &after, identity) {
                return Outcome::failed(error.to_string());
            }
            this.seen.note(&place, &after);
            let diff = unified(&place.text(), &before, &after);
            Outcome::text(format!("Edited {}: {count} replaced.", place.text()))
                .with_details(json!({"path": place.text(), "diff": diff.text, "additions": diff.additions, "deletions": diff.deletions}))
        })
        .within(reach))
    }
}

/// Replaces `old` by `new`. In a file whose lines end in CR LF, texts with plain line ends mean those of the file.
pub(crate) fn substitute(content: &[u8], old: &str, new: &str, all: bool) -> Result<(Vec<u8>, usize), String> {
    let mut pair = (old.to_owned(), new.to_owned());
    let mut found = positions(content, pair.0.as_bytes());
    if found.is_empty() && old.contains('\n') && !old.contains('\r') {
        pair = (old.replace('\n', "\r\n"), new.replace("\r\n", "\n").replace('\n', "\r\n"));
        found = positions(content, pair.0.as_bytes());
    }
    let line = |at: usize| content.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    match found.len() {
        0 => return Err(format!("the text is not there{}", near_miss(content, old))),
        1 => {}
        _ if all => {}
        count => {
            let lines: Vec<String> = found.iter().take(10).map(|at| line(*at).to_string()).collect();
            return Err(format!("the text is there {count} times (lines {}); give more of it", lines.join(", ")));
        }
    }
    let mut after = Vec::with_capacity(content.len());
    let mut copied = 0;
    for at in &found {
        after.extend_from_slice(content.get(copied..*at).unwrap_or_default());
        after.extend_from_slice(pair.1.as_bytes());
        copied = at + pair.0.len();
    }
    after.extend_from_slice(content.get(copied..).unwrap_or_default());
    Ok((after, found.len()))
}

/// Finds where a text is, without overlaps.
fn positions(content: &[u8], text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut next = 0;
    for (at, window) in content.windows(text.len().max(1)).enumerate() {
        if at >= next && window == text {
            found.push(at);
            next = at + text.len();
        }
    }
    found
}

/// Says where the first line of a text is when only its white space differs.
fn near_miss(content: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(content);
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else { return String::new() };
    match text.lines().position(|line| line.trim() == first) {
        Some(at) => format!("; line {} is like its first line, so look at white space and what follows", at + 1),
        None => String::new(),
    }
}
