//! Programs that run programs: which of their words are another command, which are a command line, and when that cannot be
//! told.

mod arguments;
mod wrapper;

use super::builtin;
use super::{Pending, Reading, Simple, Word};

/// What a command runs besides itself.
pub(super) enum Runs {
    /// Nothing that its words name.
    Nothing,
    /// Commands given as words.
    Words(Vec<Vec<Word>>),
    /// A command line given as text.
    Source(String),
    /// Something that cannot be told.
    Unclear(String),
}

/// Notes a command and makes pending what it runs.
pub(super) fn read_words(words: Vec<Word>, reading: &mut Reading, pending: &mut Vec<Pending>) {
    let Some(first) = words.first() else { return reading.doubt("a command without words") };
    let Some(program) = first.known().filter(|program| !program.is_empty()) else {
        reading.doubt("the name of a program that is only known when it runs");
        reading.commands.push(Simple { words });
        return;
    };
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    if let Some(reason) = builtin::refused(&name, &words) {
        reading.doubt(reason);
    }
    if let Some(reason) = arguments::names_a_secret(&words) {
        reading.doubt(reason);
    }
    match runs(&name, &words) {
        Runs::Nothing => {}
        Runs::Words(commands) => pending.extend(commands.into_iter().map(Pending::Words)),
        Runs::Source(source) => pending.push(Pending::Source(source)),
        Runs::Unclear(reason) => reading.doubt(reason),
    }
    reading.commands.push(Simple { words });
}

fn runs(name: &str, words: &[Word]) -> Runs {
    let arguments = words.get(1..).unwrap_or_default();
    match name {
        "eval" => source(arguments),
        "trap" => trap(arguments),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "rbash" => shell(name, arguments),
        "xargs" => wrapper::xargs(arguments),
        "find" => wrapper::find(arguments),
        _ => match wrapper::of(name) {
            Some(wrapper) => wrapper.inner(arguments),
            None => arguments::runs(name, arguments),
        },
    }
}

fn unclear(reason: impl Into<String>) -> Runs {
    Runs::Unclear(reason.into())
}

/// `eval` joins its words and reads them again.
fn source(arguments: &[Word]) -> Runs {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => arguments,
    };
    let known: Option<Vec<&str>> = arguments.iter().map(Word::known).collect();
    match known {
        Some(words) if words.is_empty() => Runs::Nothing,
        Some(words) => Runs::Source(words.join(" ")),
        None => unclear("`eval` of what is only known when it runs"),
    }
}

fn trap(arguments: &[Word]) -> Runs {
    let arguments = match arguments.first().and_then(Word::known) {
        Some("--") => arguments.get(1..).unwrap_or_default(),
        _ => arguments,
    };
    match arguments.first().map(Word::known) {
        None | Some(Some("-" | "" | "-p" | "-l")) => Runs::Nothing,
        Some(Some(command)) => Runs::Source(command.to_owned()),
        Some(None) => unclear("`trap` with what is only known when it runs"),
    }
}

/// A shell runs the text behind `-c`. Without one it reads a file or its input, and nobody knows what is in there.
fn shell(name: &str, arguments: &[Word]) -> Runs {
    let mut command = false;
    for word in arguments {
        let Some(text) = word.known() else { return unclear(format!("`{name}` with what is only known when it runs")) };
        match text.strip_prefix('-') {
            _ if text == "--version" => return Runs::Nothing,
            Some(flags) if !flags.is_empty() && flags.bytes().all(|flag| b"ceuxvn".contains(&flag)) => {
                command |= flags.contains('c');
            }
            None if command && !text.starts_with('+') => return Runs::Source(text.to_owned()),
            _ => return unclear(format!("`{name}` with a script or options that are not followed")),
        }
    }
    unclear(format!("`{name}` runs what it reads"))
}
