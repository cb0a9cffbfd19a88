//! Whom a model can give work to when nobody configured others.

use ramus_engine::run::Delegate;
use ramus_model::permission::{Action, Rule};
use ramus_tools::shell;

const EXPLORE: &str = "You look things up in a code base for another agent. Search and read; change nothing. Report what you \
found with paths and line numbers, and say what you did not find.";

const GENERAL: &str = "You do one piece of work for another agent. Do what the prompt asks, check it, and report briefly what \
you did, what you found and what is left.";

/// The agents that are built in.
pub(crate) fn built_in() -> Vec<Delegate> {
    let look = ["read", "list", "glob", "grep", "bash"].map(str::to_owned).to_vec();
    // Whatever its parent may: commands that do more than look are asked about.
    let mut rules = shell::defaults::rules();
    rules.extend(["edit", "write", "deploy", "slides", "task"].map(|name| Rule::new(name, "*", Action::Deny)));
    vec![
        Delegate {
            name: "explore".to_owned(),
            description: "looks things up in the code, and changes nothing".to_owned(),
            prompt: EXPLORE.to_owned(),
            tools: Some(look),
            rules,
        },
        Delegate {
            name: "general".to_owned(),
            description: "does one piece of work, with every tool".to_owned(),
            prompt: GENERAL.to_owned(),
            tools: None,
            rules: Vec::new(),
        },
    ]
}
