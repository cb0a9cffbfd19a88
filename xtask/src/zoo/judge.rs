//! Whether two histories are the same. Ids of calls may differ; that a result belongs to its call may not.

use super::agent::Agent;
use super::history::Item;
use super::mock::THOUGHT;

/// What an agent adds to requests by itself, in the user's words or behind results: the names of the elements it is in. It
/// is no part of the history.
fn added(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["system-reminder"],
        Agent::Codex => &["environment_context", "permissions instructions", "user_instructions"],
        Agent::Gemini => &["session_context"],
        Agent::Goose => &["turn-context", "info-msg"],
        Agent::Opencode | Agent::Pi => &[],
    }
}

/// Takes out what an agent adds by itself.
pub(super) fn own(agent: Agent, items: &[Item]) -> Vec<Item> {
    let without = |text: &str| added(agent).iter().fold(text.to_owned(), |text, name| without_element(&text, name));
    let own = |item: &Item| match item {
        Item::User(text) => Some(without(text)).filter(|text| !text.trim().is_empty()).map(Item::User),
        Item::Result { id, text } => Some(Item::Result { id: id.clone(), text: without(text) }),
        _ => Some(item.clone()),
    };
    items.iter().filter_map(own).collect()
}

fn without_element(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut left = text.to_owned();
    while let Some(start) = left.find(&open) {
        let end = left.get(start..).and_then(|rest| rest.find(&close)).map(|at| start + at + close.len());
        left.replace_range(start..end.unwrap_or(left.len()), "");
    }
    left
}

/// Takes out thoughts that an agent tells its model as if they had been said, which pi and opencode do with those of every
/// model but the one in use; none when there are no such thoughts.
pub(super) fn without_thoughts(agent: Agent, items: &[Item]) -> Option<Vec<Item>> {
    let is_thought = |item: &Item| matches!(item, Item::Assistant(text) if text.trim_start().starts_with(THOUGHT));
    if !matches!(agent, Agent::Pi | Agent::Opencode) || !items.iter().any(is_thought) {
        return None;
    }
    let spoken = |item: &Item| match item {
        Item::Assistant(text) => {
            let said = text.trim_start().strip_prefix(THOUGHT).unwrap_or(text).trim_start();
            (!said.is_empty()).then(|| Item::Assistant(said.to_owned()))
        }
        other => Some(other.clone()),
    };
    Some(items.iter().filter_map(spoken).collect())
}

/// A history as lines that can be compared, each result behind its call: agents store calls that were made at once in one
/// message or one after the other, and their results as they come.
pub(super) fn lines(items: &[Item]) -> Vec<String> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut given: Vec<(&String, &String)> = Vec::new();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for item in items {
        let line = match item {
            Item::User(text) => {
                // goose sends what a person said in a row as one message.
                if let Some(said) =
                    lines.last_mut().and_then(|last| last.last_mut()).filter(|last| last.starts_with("user: "))
                {
                    said.push('\n');
                    said.push_str(text.trim());
                    continue;
                }
                format!("user: {}", text.trim())
            }
            Item::Assistant(text) => format!("assistant: {}", text.trim()),
            Item::Call { id, name, arguments } => {
                open.push((lines.len(), id));
                format!("call: {name} {arguments}")
            }
            Item::Result { id, text } => {
                // Gemini's calls have no ids: results come in the order of the calls.
                let at =
                    open.iter().position(|(_, open)| open == id).or((id.is_empty() && !open.is_empty()).then_some(0));
                let call = at.map(|at| open.remove(at).0).and_then(|call| lines.get_mut(call));
                match call {
                    Some(call) => {
                        given.push((id, text));
                        call.push(format!("result: {}", text.trim()));
                        continue;
                    }
                    // Gemini CLI sends results again that it finds twice in its own file.
                    None if given.contains(&(id, text)) => continue,
                    None => format!("result of no call: {}", text.trim()),
                }
            }
        };
        lines.push(vec![line]);
    }
    lines.concat()
}

/// What stands beside a summary, which each agent introduces in words of its own; none when it is not there. What was kept of the
/// time before it stands behind it or, in Codex, in front of it.
pub(super) fn beside_summary(summary: &str, items: &[Item]) -> Option<Vec<Item>> {
    let is_summary = |item: &Item| matches!(item, Item::User(text) if text.contains(summary.trim()));
    let at = items.iter().position(is_summary)?;
    Some(items.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, item)| item.clone()).collect())
}

/// Says where two histories part; none when they are the same.
pub(super) fn difference(wanted: &[String], found: &[String]) -> Option<String> {
    let longest = wanted.len().max(found.len());
    (0..longest).find_map(|at| {
        let (wanted, found) = (wanted.get(at), found.get(at));
        let shown = |line: Option<&String>| line.map_or("nothing".to_owned(), |line| format!("{line:?}"));
        (wanted != found).then(|| format!("item {}: {} was wanted, {} was sent", at + 1, shown(wanted), shown(found)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Item {
        Item::Call { id: id.to_owned(), name: "bash".to_owned(), arguments: json!({"command": "ls"}) }
    }

    fn result(id: &str, text: &str) -> Item {
        Item::Result { id: id.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn ids_may_differ_and_places_may_not() {
        let one = lines(&[call("a"), call("b"), result("b", "2"), result("a", "1")]);
        let two = lines(&[call("x"), call("y"), result("y", "2"), result("x", "1")]);
        let crossed = lines(&[call("x"), call("y"), result("x", "2"), result("y", "1")]);
        assert_eq!(difference(&one, &two), None);
        assert!(difference(&one, &crossed).is_some());
        assert!(difference(&one, &lines(&[call("a"), call("b"), result("c", "2"), result("a", "1")])).is_some());
    }

    #[test]
    fn only_what_an_agent_adds_itself_is_left_out() {
        let said = "<system-reminder>x</system-reminder>";
        let items =
            [Item::User(said.to_owned()), Item::User(format!("{said}hi")), result("a", &format!("out\n{said}"))];
        let wanted = [Item::User("hi".to_owned()), result("a", "out\n")];
        assert_eq!(own(Agent::Claude, &items), wanted);
        assert_eq!(own(Agent::Pi, &items), items);
    }
}
