//! Tool calls as people see them: one line with what matters of the arguments, how it went and how long it took; the diff of
//! a change below it.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use super::{Text, glyphs, quantity, style};

const DONE: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// How many lines of a diff are shown.
const DIFF_LINES: usize = 24;

/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 8] = ["command", "path", "pattern", "description", "query", "url", "title", "name"];

/// A call that ended.
pub(crate) struct Ended<'e> {
    pub(crate) name: &'e str,
    /// The arguments; none when the call never started.
    pub(crate) input: Option<&'e Value>,
    pub(crate) result: &'e [Value],
    pub(crate) is_error: bool,
    pub(crate) details: Option<&'e Value>,
    /// How long it took; none when it never started.
    pub(crate) took: Option<Duration>,
}

/// Writes a call that runs, on a line that is not ended.
pub(crate) fn running(text: &mut Text, name: &str, input: &Value, width: usize) {
    text.styled(style::DIM, glyphs::of_terminal().call).spaces(1);
    text.styled(style::BOLD, name).spaces(1);
    text.cut(style::DIM, &subject(name, input), width.saturating_sub(1));
}

impl Ended<'_> {
    /// Writes the call: its line, and the diff of what it changed.
    pub(crate) fn write(&self, text: &mut Text, width: usize) {
        let glyphs = glyphs::of_terminal();
        let (sign, colour) = if self.is_error { (glyphs.failed, FAILED) } else { (glyphs.done, DONE) };
        text.styled(colour, sign).spaces(1).styled(style::BOLD, self.name);
        let facts = self.facts();
        if let Some(input) = self.input {
            let subject = subject(self.name, input);
            // How it went must not be pushed off the line by a long argument.
            let room = width.saturating_sub(facts.chars().count() + 3).max(width / 2);
            text.spaces(usize::from(!subject.is_empty())).cut(style::NONE, &subject, room);
        }
        if !facts.is_empty() {
            text.styled(style::DIM, glyphs.separator).cut(style::DIM, &facts, width);
        }
        text.end();
        let diff = self.details.and_then(|details| details.get("diff")).and_then(Value::as_str);
        if let Some(diff) = diff {
            write_diff(text, diff, width);
        }
    }

    /// What there is to say about how it went.
    fn facts(&self) -> String {
        let number = |name: &str| self.details?.get(name)?.as_u64();
        let count = |name, one, many| {
            number(name).map(|number| quantity::count(usize::try_from(number).unwrap_or(usize::MAX), one, many))
        };
        let mut facts: Vec<String> = Vec::new();
        match number("exitCode") {
            _ if self.is_error && number("exitCode").is_none() => facts.push(self.first_line()),
            Some(code) if code != 0 => facts.push(format!("exit {code}")),
            _ => {}
        }
        if let (Some(additions), Some(deletions)) = (number("additions"), number("deletions")) {
            facts.push(format!("+{additions} -{deletions}"));
        }
        facts.extend(count("lines", "line", "lines"));
        facts.extend(count("matches", "match", "matches"));
        facts.extend(count("entries", "entry", "entries"));
        if self.name == "bash" {
            facts.extend(number("bytes").filter(|bytes| *bytes > 0).map(quantity::size));
        }
        facts.extend(self.took.map(quantity::duration));
        facts.join(glyphs::of_terminal().separator)
    }

    /// The first line of what a failed call says, without the brackets that are for the model.
    fn first_line(&self) -> String {
        let said = self.result.iter().find_map(|part| part.get("text")?.as_str()).unwrap_or_default();
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim().trim_start_matches('[').trim_end_matches(']').to_owned()
    }
}

/// What a call is about: the argument that tells most, or all of them.
fn subject(name: &str, input: &Value) -> String {
    if name == "todo" {
        let tasks = input.get("tasks").and_then(Value::as_array).map_or(0, Vec::len);
        return quantity::count(tasks, "task", "tasks");
    }
    let telling = TELLING.iter().find_map(|name| input.get(name)?.as_str());
    match telling {
        Some(text) => {
            let mut lines = text.trim().lines();
            let first = lines.next().unwrap_or_default().to_owned();
            if lines.next().is_some() { format!("{first} …") } else { first }
        }
        None if input.as_object().is_some_and(serde_json::Map::is_empty) => String::new(),
        None => input.to_string(),
    }
}

/// Writes the lines of a diff that show what changed, without the names of the file, which stand above.
fn write_diff(text: &mut Text, diff: &str, width: usize) {
    let lines: Vec<&str> = diff.lines().filter(|line| !line.starts_with("--- ") && !line.starts_with("+++ ")).collect();
    for line in lines.iter().take(DIFF_LINES) {
        let colour = match line.chars().next() {
            Some('+') => DONE,
            Some('-') => FAILED,
            Some('@') => PLACE,
            _ => style::DIM,
        };
        text.spaces(4).cut_exact(colour, line, width).end();
    }
    let hidden = lines.len().saturating_sub(DIFF_LINES);
    if hidden > 0 {
        let note = quantity::count(hidden, "more line", "more lines");
        text.spaces(4).styled(style::DIM, &note).end();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(ended: &Ended<'_>) -> String {
        let mut text = Text::new();
        ended.write(&mut text, 60);
        anstream::adapter::strip_str(text.as_styled()).to_string()
    }

    #[test]
    fn a_line_says_what_was_done_and_how_it_went() {
        let input = json!({"command": "cargo test\necho done"});
        let details = json!({"exitCode": 101, "bytes": 5000});
        let ended = Ended {
            name: "bash",
            input: Some(&input),
            result: &[],
            is_error: true,
            details: Some(&details),
            took: Some(Duration::from_millis(2340)),
        };
        assert_eq!(shown(&ended), "✗ bash cargo test … · exit 101 · 5.0 kB · 2.3 s\n");
        let refused = json!({"type": "text", "text": "[Denied: rule of the \u{1b}[2Jagent]"});
        let ended = Ended { input: None, details: None, took: None, result: &[refused], ..ended };
        assert_eq!(shown(&ended), "✗ bash · Denied: rule of the agent\n");
    }

    #[test]
    fn a_diff_is_shown_below_and_cut() {
        let mut diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-\told\n+\tnew\n".to_owned();
        diff.push_str(&" same\n".repeat(40));
        let details = json!({"diff": diff, "additions": 1, "deletions": 1});
        let input = json!({"path": "x"});
        let ended = Ended {
            name: "edit",
            input: Some(&input),
            result: &[],
            is_error: false,
            details: Some(&details),
            took: None,
        };
        let shown = shown(&ended);
        assert!(shown.starts_with("✓ edit x · +1 -1\n    @@ -1,2 +1,2 @@\n    -    old\n    +    new\n"), "{shown}");
        assert!(shown.ends_with("     same\n    19 more lines\n"), "{shown}");
    }
}
