//! Files that were read and changed in what a compaction summarises. Each summary takes over those of the one before.

use std::collections::HashSet;

use ramus_model::Seq;
use ramus_model::budget::{Plan, Weighed, What};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::session::Session;

/// Files, each once, in the order in which they were first touched. One that was changed is not among those only read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Files that were read.
    pub read: Vec<String>,
    /// Files that were written or edited.
    pub modified: Vec<String>,
}

impl Files {
    fn add(&mut self, tool: &str, path: &str) {
        let list = match tool {
            "read" | "read_file" | "Read" => &mut self.read,
            "write" | "edit" | "write_file" | "edit_file" | "Write" | "Edit" => &mut self.modified,
            _ => return,
        };
        if !path.is_empty() && !list.iter().any(|known| known == path) {
            list.push(path.to_owned());
        }
    }

    fn sorted_out(mut self) -> Self {
        let modified: HashSet<&String> = self.modified.iter().collect();
        self.read.retain(|path| !modified.contains(path));
        self
    }

    /// Returns a summary with the lists behind it.
    pub(super) fn appended_to(&self, summary: &str) -> String {
        let mut text = summary.trim_end().to_owned();
        for (name, list) in [("read-files", &self.read), ("modified-files", &self.modified)] {
            if !list.is_empty() {
                text.push_str(&format!("\n\n<{name}>\n{}\n</{name}>", list.join("\n")));
            }
        }
        text
    }

    pub(super) fn to_json(&self) -> Value {
        json!({"readFiles": self.read, "modifiedFiles": self.modified})
    }
}

impl Session {
    /// Finds the files touched in what a compaction summarises, and before.
    pub(super) fn files_of(&self, path: &[Weighed], plan: &Plan, last: Option<Seq>) -> Result<Files, EngineError> {
        let mut files = Files::default();
        if let Some(last) = last {
            let line = self.line(last)?;
            let details = Raw::parse(&line).and_then(|raw| raw.field("details"));
            let list = |name| {
                let items = details.and_then(|details| details.field(name)).map(|list| list.items());
                items.into_iter().flatten().filter_map(|item| Some(item.text()?.into_owned())).collect::<Vec<_>>()
            };
            (files.read, files.modified) = (list("readFiles"), list("modifiedFiles"));
        }
        for entry in path.get(plan.summarised()).unwrap_or_default().iter().filter(|entry| entry.what == What::Answer) {
            let line = self.line(entry.seq)?;
            let Some(message) = Raw::parse(&line).and_then(Message::of_entry) else { continue };
            for call in message.calls() {
                let Part::ToolCall { name, arguments, .. } = call else { continue };
                let arguments = Raw::parse(arguments.as_bytes());
                let path = ["path", "file_path", "filePath"]
                    .into_iter()
                    .find_map(|member| arguments.and_then(|arguments| arguments.field(member)).and_then(Raw::text));
                files.add(name, path.as_deref().unwrap_or_default());
            }
        }
        Ok(files.sorted_out())
    }
}
