//! The rules that hold when nobody wrote others: programs that only look, and builds and tests, run; the rest is asked.
//!
//! Each line is a pattern. A line that starts with `?` asks again about some of what lines above it allow, because an option
//! writes, deletes or runs something; ` * -x` stands for the option behind other words and right behind the program. Programs that only wrap another command are allowed because the other command is judged
//! by itself.

use ramus_model::permission::{Action, Rule};

/// Patterns for `bash`, in order.
const COMMANDS: &str = include_str!("defaults.txt");

/// Permissions of tools that only look, only keep notes, or only have others do what is judged there.
const LOOKING: &[&str] = &["read", "list", "glob", "grep", "todo", "task"];

/// Returns the rules that are built in, for the layer of the agent.
pub fn rules() -> Vec<Rule> {
    let mut rules = vec![Rule::new("*", "*", Action::Ask)];
    rules.extend(LOOKING.iter().map(|permission| Rule::new(*permission, "*", Action::Allow)));
    for line in COMMANDS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(pattern) = line.strip_prefix("? ") else {
            rules.push(Rule::new("bash", line, Action::Allow));
            continue;
        };
        rules.push(Rule::new("bash", pattern, Action::Ask));
        if pattern.contains(" * -") {
            rules.push(Rule::new("bash", pattern.replace(" * -", " -"), Action::Ask));
        }
    }
    rules
}
