//! Builtins of bash that change what later commands mean, set variables or run what they are told.

use super::Word;
use super::variable::is_harmless;

/// Builtins that change how the rest is read or run, in ways that are not followed.
const UNCLEAR: &[&str] = &[
    ".", "alias", "bind", "caller", "compgen", "complete", "compopt", "disown", "enable", "fc", "getopts", "hash",
    "help", "history", "let", "logout", "shopt", "source", "suspend", "unalias", "declare", "typeset", "local",
    "readonly", "export", "unset",
];

/// Words that mean structure to bash; as the name of a command they show that the grammar saw something else.
const RESERVED: &[&str] = &[
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "until",
    "while", "{", "}", "]]",
];

/// Says why a builtin cannot be followed, if so.
pub(super) fn refused(name: &str, words: &[Word]) -> Option<String> {
    let arguments = words.get(1..).unwrap_or_default();
    if RESERVED.contains(&name) {
        return Some(format!("`{name}` as a command"));
    }
    // `[` and `[[` come with an unknown word; declarations are judged where they are parsed, and marked so.
    let declared = matches!(arguments, [only] if *only == Word::unknown());
    if UNCLEAR.contains(&name) && !declared {
        return Some(format!("`{name}` changes what other commands do"));
    }
    let has = |option: &str| arguments.iter().any(|word| word.is_wild() || word.text.starts_with(option));
    let unclear = match name {
        "printf" | "test" | "[" => {
            !declared && arguments.first().is_some_and(Word::is_wild) || has_exact(arguments, "-v")
        }
        "wait" => has("-p") || has("-n"),
        "jobs" => has("-x"),
        "read" | "mapfile" | "readarray" => !reads_plainly(arguments),
        "set" => !sets_plainly(arguments),
        _ => false,
    };
    unclear.then(|| format!("`{name}` with these arguments"))
}

fn has_exact(arguments: &[Word], option: &str) -> bool {
    arguments.iter().any(|word| word.text.starts_with(option))
}

/// `read` and its like set variables by name.
fn reads_plainly(arguments: &[Word]) -> bool {
    arguments.iter().all(|word| match word.known() {
        Some("-r" | "-s" | "-t" | "-n") => true,
        Some(text) => text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() || is_harmless(text),
        None => false,
    })
}

fn sets_plainly(arguments: &[Word]) -> bool {
    arguments.iter().all(|word| match word.known() {
        Some("pipefail" | "errexit" | "nounset") => true,
        Some(text) => {
            text.strip_prefix(['-', '+']).is_some_and(|flags| flags.bytes().all(|flag| b"euo".contains(&flag)))
        }
        None => false,
    })
}
