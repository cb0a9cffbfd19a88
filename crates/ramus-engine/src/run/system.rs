//! The system prompt: who the model is, where it works, and what the project's own files say.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Files in which projects tell agents what to know. The first one that a directory has counts.
const FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// How much of each is told.
const MOST: usize = 32 << 10;

/// Makes a system prompt. Files of directories above `cwd` count too, up to the root of the project.
pub fn system_prompt(agent: &str, cwd: &str, root: Option<&str>) -> String {
    let mut text = agent.trim().to_owned();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n\nThe working directory is {cwd}.");
    let mut told: Vec<String> = Vec::new();
    for directory in Path::new(cwd).ancestors() {
        let found = FILES.iter().find_map(|name| Some((*name, fs::read_to_string(directory.join(name)).ok()?)));
        if let Some((name, content)) = found {
            let end = content.char_indices().map(|(at, _)| at).take_while(|at| *at <= MOST).last().unwrap_or_default();
            let content = if content.len() > MOST { content.get(..end).unwrap_or_default() } else { &content };
            let path = directory.join(name);
            told.push(format!("<instructions file=\"{}\">\n{}\n</instructions>", path.display(), content.trim_end()));
        }
        if root.is_none_or(|root| Path::new(root) == directory) {
            break;
        }
    }
    for file in told.iter().rev() {
        text.push_str("\n\n");
        text.push_str(file);
    }
    text
}
