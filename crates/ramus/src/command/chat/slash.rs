//! The slash commands of a chat.

use crate::failure::Refusal;
use crate::render::{Text, style};

/// Every command: its name, what follows it, and what it does.
const COMMANDS: [(&str, &str, &str); 19] = [
    ("/help", "", "list the commands"),
    ("/branch", "ENTRY", "go back to an entry and take another way"),
    ("/label", "NAME", "name the last entry"),
    ("/undo", "", "take back what was done last; of a turn, with the files as they were"),
    ("/redo", "", "do again what was undone last"),
    ("/revert", "ENTRY", "go back to an entry, with the files as they were"),
    ("/diff", "[SNAPSHOT]", "show what changed in the files since a snapshot"),
    ("/restore", "SNAPSHOT", "put the files back, and stay where you are"),
    ("/edit", "[TEXT]", "say what you said last in other words"),
    ("/regenerate", "", "have what you said last answered again"),
    ("/clear", "", "let the model start afresh"),
    ("/todo", "", "show what is to be done"),
    ("/compact", "", "replace the older part of the context by a summary"),
    ("/model", "PROVIDER/NAME", "let another model answer"),
    ("/agent", "NAME", "let another agent answer"),
    ("/tree", "", "show all branches"),
    ("/cost", "", "tell what the session used"),
    ("/tools", "", "list what the model can call"),
    ("/quit", "", "end the chat"),
];

/// A command with what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Branch(String),
    Label(String),
    Undo,
    Redo,
    Revert(String),
    Diff(Option<String>),
    Restore(String),
    Edit(Option<String>),
    Regenerate,
    Clear,
    Todo,
    Compact,
    Model(String),
    Agent(String),
    Tree,
    Cost,
    Tools,
    Quit,
}

impl Slash {
    /// Reads a line; none when it is something to say. A path such as `/etc/hosts is odd` is something to say.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, Refusal> {
        let line = line.trim();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_command = name.strip_prefix('/').is_some_and(|word| !word.is_empty() && !word.contains(['/', '.']));
        if !is_command {
            return Ok(None);
        }
        let rest = rest.trim();
        let needed = |what: &str| match rest {
            "" => Err(Refusal::usage(format!("{name} needs {what}")).hint("/help lists the commands")),
            rest => Ok(rest.to_owned()),
        };
        Ok(Some(match name {
            "/help" => Self::Help,
            "/branch" => Self::Branch(needed("an entry")?.trim_start_matches('@').to_owned()),
            "/label" => Self::Label(needed("a name")?),
            "/undo" => Self::Undo,
            "/redo" => Self::Redo,
            "/revert" => Self::Revert(needed("an entry")?.trim_start_matches('@').to_owned()),
            "/diff" => Self::Diff((!rest.is_empty()).then(|| rest.to_owned())),
            "/restore" => Self::Restore(needed("a snapshot")?),
            "/edit" => Self::Edit((!rest.is_empty()).then(|| rest.to_owned())),
            "/regenerate" => Self::Regenerate,
            "/clear" => Self::Clear,
            "/todo" => Self::Todo,
            "/compact" => Self::Compact,
            "/model" => Self::Model(needed("PROVIDER/NAME")?),
            "/agent" => Self::Agent(needed("a name")?),
            "/tree" => Self::Tree,
            "/cost" => Self::Cost,
            "/tools" => Self::Tools,
            "/quit" | "/exit" => Self::Quit,
            _ => {
                let hint = match completions(name).first() {
                    Some(nearest) => format!("did you mean {nearest}?"),
                    None => "/help lists the commands; a space in front says it to the model".to_owned(),
                };
                return Err(Refusal::usage(format!("there is no command {name}")).hint(hint));
            }
        }))
    }
}

impl Slash {
    /// Returns the words of the command of this program that does it; none where the chat does it itself.
    pub(super) fn command(self, session: String) -> Vec<String> {
        match self {
            Self::Undo => vec!["undo".into(), session],
            Self::Redo => vec!["redo".into(), session],
            Self::Clear => vec!["clear".into(), session],
            Self::Todo => vec!["todo".into(), session],
            Self::Tree => vec!["tree".into(), session],
            Self::Compact => vec!["compact".into(), session, "--force".into()],
            Self::Revert(entry) => vec!["revert".into(), format!("{session}@{entry}")],
            Self::Branch(entry) => vec!["branch".into(), format!("{session}@{entry}")],
            Self::Label(label) => vec!["label".into(), format!("{session}@"), label],
            Self::Restore(snapshot) => vec!["restore".into(), session, snapshot],
            Self::Diff(since) => ["diff".into(), session].into_iter().chain(since).collect(),
            Self::Help
            | Self::Edit(_)
            | Self::Regenerate
            | Self::Model(_)
            | Self::Agent(_)
            | Self::Cost
            | Self::Tools
            | Self::Quit => Vec::new(),
        }
    }
}

/// Returns the commands that begin like this.
pub(super) fn completions(beginning: &str) -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, ..)| *name).filter(|name| name.starts_with(beginning)).collect()
}

/// Says what every command does.
pub(super) fn help() -> Text {
    let mut text = Text::new();
    for (name, argument, what) in COMMANDS {
        text.padded(style::BOLD, &format!("{name} {argument}"), 22).plain(what).end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_or_something_to_say() {
        let parsed = |line| Slash::parse(line).map_err(|refusal| refusal.to_string());
        assert_eq!(parsed("/branch @start"), Ok(Some(Slash::Branch("start".into()))));
        assert_eq!(parsed("  /edit two words "), Ok(Some(Slash::Edit(Some("two words".into())))));
        assert_eq!(parsed("/edit"), Ok(Some(Slash::Edit(None))));
        assert_eq!(parsed("/etc/hosts is odd"), Ok(None));
        assert_eq!(parsed("/ is the root"), Ok(None));
        assert_eq!(parsed("say /quit"), Ok(None));
        assert_eq!(parsed("/label"), Err("/label needs a name".into()));
        assert_eq!(parsed("/qit"), Err("there is no command /qit".into()));
    }

    #[test]
    fn every_command_in_the_list_is_one() {
        for (name, argument, _) in COMMANDS {
            let line = format!("{name} {}", argument.trim_matches(['[', ']']));
            assert!(matches!(Slash::parse(&line), Ok(Some(_))), "{line}");
        }
        assert_eq!(completions("/t"), ["/todo", "/tree", "/tools"]);
    }
}
