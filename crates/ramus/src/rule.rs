//! Rules on the command line: `NAME=ACTION`, or `NAME:PATTERN=ACTION`.

use ramus_model::permission::{Action, Rule};

use crate::failure::Refusal;

/// Reads rules in order.
pub(crate) fn read_all(given: &[String]) -> Result<Vec<Rule>, Refusal> {
    given.iter().map(|text| read(text)).collect()
}

fn read(text: &str) -> Result<Rule, Refusal> {
    let wrong = || {
        Refusal::usage(format!("{text:?} is no permission"))
            .hint("say NAME=allow, NAME=ask or NAME=deny, for example edit=allow or \"bash:cargo *=allow\"")
    };
    let (what, action) = text.rsplit_once('=').ok_or_else(wrong)?;
    let action = match action {
        "allow" => Action::Allow,
        "ask" => Action::Ask,
        "deny" => Action::Deny,
        _ => return Err(wrong()),
    };
    let (name, pattern) = what.split_once(':').unwrap_or((what, "*"));
    if name.is_empty() {
        return Err(wrong());
    }
    Ok(Rule::new(if name == "all" { "*" } else { name }, pattern, action))
}
