//! `grep`: lines that match an expression, as ignore files allow, bounded. Files are opened without following links.

use std::sync::Arc;

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ramus_model::request::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

use super::glob::matcher;
use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::walk::walk;
use crate::workspace::{Intent, Place, Workspace};

/// How many lines are shown at most.
const MOST: usize = 300;
/// How much of a line is shown at most.
const MOST_LINE: usize = 400;

/// Finds lines.
#[derive(Clone, Debug)]
pub struct Grepping {
    /// Where files are.
    pub workspace: Arc<Workspace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    include: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

impl Tool for Grepping {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "pattern": {"type": "string", "description": "A regular expression"},
            "path": {"type": "string", "description": "File or directory to search, relative to the workspace"},
            "include": {"type": "string", "description": "Only files of this name, such as *.rs"},
            "ignore_case": {"type": "boolean"},
        });
        define(
            "grep",
            "Finds lines that match an expression. Ignored and binary files are left out.",
            properties,
            &["pattern"],
        )
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { pattern, path, include, ignore_case } = arguments(value)?;
        let wrong = |error: grep_regex::Error| Refusal::Arguments(error.to_string());
        let expression = RegexMatcherBuilder::new().case_insensitive(ignore_case).build(&pattern).map_err(wrong)?;
        let include = include.as_deref().map(matcher).transpose()?;
        let place = self.workspace.resolve(path.as_deref().unwrap_or("."), Intent::Read)?;
        let questions = about("grep", &place.text(), value);
        let search = Search { workspace: Arc::clone(&self.workspace), place, expression, include };
        Ok(Plan::blocking(questions, Effect::Looks, move |cancel| search.run(cancel)))
    }
}

struct Search {
    workspace: Arc<Workspace>,
    place: Place,
    expression: RegexMatcher,
    include: Option<GlobMatcher>,
}

impl Search {
    fn run(&self, cancel: &Cancel) -> Outcome {
        let mut searcher = SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).build();
        let mut lines = Vec::new();
        for file in walk(&self.workspace, &self.place) {
            if cancel.is_cancelled() {
                return Outcome::cancelled();
            }
            if self.include.as_ref().is_some_and(|include| !include.is_match(file.path())) {
                continue;
            }
            // A file that went or became a link meanwhile is none of ours.
            let Ok(open) = self.workspace.open_file(&file) else { continue };
            let name = file.text();
            let sink = Lossy(|number, line| {
                let line = line.trim_end();
                let shown = line.get(..line.floor_char_boundary(MOST_LINE)).unwrap_or_default();
                lines.push(format!("{name}:{number}:{shown}"));
                Ok(lines.len() <= MOST)
            });
            // What cannot be read to its end has shown what it could.
            let _ = searcher.search_file(&self.expression, &open, sink);
            if lines.len() > MOST {
                break;
            }
        }
        let cut = lines.len() > MOST;
        lines.truncate(MOST);
        lines.sort_by(|a, b| a.split(':').next().cmp(&b.split(':').next()));
        let count = lines.len();
        if cut {
            lines.push(format!("[more than {MOST} lines match; narrow the search]"));
        }
        let text = if lines.is_empty() { "No line matches.".to_owned() } else { lines.join("\n") };
        Outcome::text(text).with_details(json!({"matches": count, "cut": cut}))
    }
}
