//! A title for a session that its agent gave none: what a person said first in it.
//!
//! Agents put words into people's mouths. What is plainly theirs is passed over, as the agents do when they list sessions; a
//! session in which nobody said anything but commands is called by the first of them.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::title;

/// What an entry with a command to Claude Code begins with.
const COMMAND: &str = "<command-name>";
/// What Claude Code notes in the name of a person.
const INTERRUPTED: &str = "[Request interrupted by user";

/// A title in the making, while the session is read.
#[derive(Debug, Default)]
pub(super) struct Titling {
    prompt: Option<String>,
    command: Option<String>,
}

impl Titling {
    /// Takes the next entry.
    pub(super) fn take(&mut self, line: &[u8]) {
        // Entries that only keep records are long, and come first.
        if self.prompt.is_some() || line.starts_with(b"{\"type\":\"custom\"") {
            return;
        }
        let Some(entry) = Raw::parse(line).and_then(Raw::object) else { return };
        match entry.text("type").as_deref() {
            Some("message") => self.prompt = prompt(&entry),
            Some("custom_message") if self.command.is_none() => self.command = command(&entry),
            _ => {}
        }
    }

    /// Says whether nothing that comes could be a better title.
    pub(super) fn is_settled(&self) -> bool {
        self.prompt.is_some()
    }

    /// Returns the title.
    pub(super) fn title(self) -> Option<String> {
        self.prompt.or(self.command)
    }
}

/// Says whether a title comes from what is said in an entry.
pub(crate) fn comes_from(title: &str, line: &[u8]) -> bool {
    let mut titling = Titling::default();
    titling.take(line);
    let said = || {
        let entry = Raw::parse(line)?.object()?;
        let is_said = |message: &Object<'_>| message.text("role").as_deref() == Some("user");
        let message = entry.field("message").and_then(Raw::object).filter(is_said);
        message.map_or_else(|| entry.field("content"), |message| message.field("content")).map(texts)
    };
    titling.title().as_deref() == Some(title)
        || said().is_some_and(|said| said.iter().any(|text| title::repeats(title, own(text))))
}

/// What a person says in a message, as a title.
fn prompt(entry: &Object<'_>) -> Option<String> {
    let message = entry.field("message")?.object()?;
    if message.text("role")? != "user" {
        return None;
    }
    texts(message.field("content")?).iter().find_map(|text| title::made_of(own(text)))
}

/// The command in a message of Claude Code, with what it was given.
fn command(entry: &Object<'_>) -> Option<String> {
    let texts = texts(entry.field("content")?);
    let text = texts.iter().find(|text| text.contains(COMMAND))?;
    let inside = |tag: &str| {
        let (_, behind) = text.split_once(&format!("<{tag}>"))?;
        Some(behind.split_once(&format!("</{tag}>"))?.0.trim())
    };
    title::made_of(&format!("{} {}", inside("command-name")?, inside("command-args").unwrap_or_default()))
}

/// The texts of content, whatever its form.
fn texts(content: Raw<'_>) -> Vec<String> {
    if content.shape() == Shape::Text {
        return content.text().map(|text| text.into_owned()).into_iter().collect();
    }
    content.items().filter_map(|part| Some(part.field("text")?.text()?.into_owned())).collect()
}

/// What is left of a text without what programs put in front of it.
fn own(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(behind) = behind_tag(rest) {
        rest = behind.trim_start();
    }
    if rest.starts_with(INTERRUPTED) { "" } else { rest }
}

/// What stands behind something between tags of several words, as programs write and people do not: `<system-reminder>`.
fn behind_tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = inner.get(..inner.find(|c: char| !is_name(c))?)?;
    let is_program = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains(['-', '_']);
    let (_, behind) = is_program.then(|| text.split_once(&format!("</{name}>")))??;
    Some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(lines: &[&str]) -> Option<String> {
        let mut titling = Titling::default();
        lines.iter().for_each(|line| titling.take(line.as_bytes()));
        titling.title()
    }

    fn said(role: &str, content: &str) -> String {
        format!(r#"{{"type":"message","id":"x","parentId":null,"message":{{"role":"{role}","content":{content}}}}}"#)
    }

    #[test]
    fn the_first_thing_that_a_person_said_is_the_title() {
        let lines = [
            said("user", r#""<system-reminder>be kind</system-reminder>""#),
            said("assistant", r#""Yes?""#),
            said("user", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#),
            said(
                "user",
                r#"[{"type":"text","text":"<ide_opened_file>a.rs</ide_opened_file>"},{"type":"text","text":"\n# Fix <b>it</b>.\nNow."}]"#,
            ),
            said("user", r#""And then?""#),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(title(&lines).as_deref(), Some("Fix <b>it</b>"));
        assert_eq!(title(&lines[..3]), None);
        for (text, shown) in [
            ("<div> is not closed", "<div> is not closed"),
            ("<my-part> is not closed", "<my-part> is not closed"),
            ("<ide_selection>x</ide_selection>\\nWhat is x?", "What is x?"),
        ] {
            assert_eq!(title(&[&*said("user", &format!("\"{text}\""))]).as_deref(), Some(shown));
        }
        assert_eq!(title(&["no JSON", "{}", &said("user", "null")]), None);
    }

    #[test]
    fn a_command_is_the_title_when_nothing_else_was_said() {
        let command = r#"{"type":"custom_message","customType":"claude.command","content":[{"type":"text","text":"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the login</command-args>"}]}"#;
        assert_eq!(title(&[command]).as_deref(), Some("/review the login"));
        assert_eq!(title(&[command, &said("user", r#""Why?""#)]).as_deref(), Some("Why?"));
    }
}
