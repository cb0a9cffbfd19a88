//! Where the lines of a chat come from: a line editor where a person sits, else stdin as it is.

use std::io::{self, BufRead as _, IsTerminal as _};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, Config, Context, Editor, Helper, KeyCode, KeyEvent, Modifiers};

use super::slash;
use crate::render::clean::{self, Breaks};

const PROMPT: &str = "> ";

/// What came in.
pub(super) enum Input {
    /// A line, or several that belong together.
    Line(String),
    /// What was typed was given up.
    Nothing,
    /// Nothing more comes.
    End,
}

/// Where lines come from.
pub(super) enum Source {
    /// A person at a terminal, and what the next line begins with.
    Person(Box<Editor<Commands, MemHistory>>, String),
    /// A pipe or a file.
    Stdin,
}

impl Source {
    /// Opens stdin. `remembered` are lines to go back to, oldest first.
    pub(super) fn open(for_programs: bool, remembered: &[String]) -> anyhow::Result<Self> {
        if for_programs || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Stdin);
        }
        let mut editor = Editor::with_history(Config::builder().auto_add_history(false).build(), MemHistory::new())?;
        editor.set_helper(Some(Commands));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        let mut source = Self::Person(Box::new(editor), String::new());
        remembered.iter().for_each(|line| source.remember(line));
        Ok(source)
    }

    /// Says whether a person types.
    pub(super) fn is_person(&self) -> bool {
        matches!(self, Self::Person(..))
    }

    /// Waits for the next line.
    pub(super) fn read(&mut self) -> anyhow::Result<Input> {
        match self {
            Self::Person(editor, begun) => {
                let begun = std::mem::take(begun);
                Ok(match editor.readline_with_initial(PROMPT, (&begun, "")) {
                    Ok(line) => Input::Line(line.replace("\\\n", "\n")),
                    Err(ReadlineError::Interrupted) => Input::Nothing,
                    Err(ReadlineError::Eof) => Input::End,
                    Err(error) => return Err(error.into()),
                })
            }
            Self::Stdin => read_lines(),
        }
    }

    /// Lets a person change a text; none when there is nobody, or it was given up.
    pub(super) fn change(&mut self, text: &str) -> Option<String> {
        match self {
            Self::Person(editor, _) => editor.readline_with_initial(PROMPT, (&tame(text), "")).ok(),
            Self::Stdin => None,
        }
    }

    /// Begins the next line with a text.
    pub(super) fn offer(&mut self, text: &str) {
        if let Self::Person(_, begun) = self {
            *begun = tame(text);
        }
    }

    /// Adds a line to those that can be gone back to.
    pub(super) fn remember(&mut self, line: &str) {
        if let Self::Person(editor, _) = self {
            // A line that cannot be gone back to is still in the session.
            let _ = editor.add_history_entry(tame(line));
        }
    }
}

/// What a terminal may be shown, on lines of its own.
fn tame(text: &str) -> String {
    clean::clean(text, Breaks::Keep, usize::MAX)
}

/// Reads a line, and those that it goes on in.
fn read_lines() -> anyhow::Result<Input> {
    let mut whole = String::new();
    loop {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(if whole.is_empty() { Input::End } else { Input::Line(whole) });
        }
        whole.push_str(line.trim_end_matches(['\n', '\r']));
        match whole.strip_suffix('\\') {
            Some(rest) => whole = format!("{rest}\n"),
            None => return Ok(Input::Line(whole)),
        }
    }
}

/// What the editor knows about commands.
pub(super) struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..position).unwrap_or_default();
        let is_command = typed.starts_with('/') && !typed.contains(char::is_whitespace);
        let found = if is_command { slash::completions(typed) } else { Vec::new() };
        Ok((0, found.into_iter().map(|name| format!("{name} ")).collect()))
    }
}

impl Validator for Commands {
    /// A line that ends in a backslash goes on.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}

impl Helper for Commands {}
