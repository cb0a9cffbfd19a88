//! Subjects: a command as the text that rules are matched against, and the other texts that a rule may deny it by.

use super::{Simple, Word};

/// Returns a command as words with single spaces between them. A word that would not read as one is quoted, so that no
/// program can be called like another one with its arguments.
pub(super) fn subject(command: &Simple) -> String {
    join(&command.words, true)
}

/// Returns how else the command could have been written: without quotes, without the directory of the program, and for git
/// without the options in front of its verb.
pub(super) fn shades(command: &Simple) -> Vec<String> {
    let mut shades = vec![join(&command.words, false)];
    let Some((program, arguments)) = command.words.split_first() else { return shades };
    let name = program.text.rsplit('/').next().unwrap_or_default();
    let mut plain = vec![Word::exact(name)];
    plain.extend_from_slice(arguments);
    shades.push(join(&plain, true));
    if name == "git" {
        let mut rest = arguments;
        while let Some((first, more)) = rest.split_first() {
            rest = match first.text.as_str() {
                "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => more.get(1..).unwrap_or_default(),
                option if option.starts_with('-') => more,
                _ => break,
            };
        }
        let mut verb = vec![Word::exact("git")];
        verb.extend_from_slice(rest);
        shades.push(join(&verb, true));
    }
    shades.sort();
    shades.dedup();
    shades.retain(|shade| *shade != subject(command));
    shades
}

fn join(words: &[Word], quoted: bool) -> String {
    let words: Vec<String> =
        words.iter().map(|word| if quoted { quote(&word.text) } else { word.text.clone() }).collect();
    words.join(" ")
}

fn quote(text: &str) -> String {
    let special = |letter: char| letter.is_whitespace() || letter == '\'' || letter == '"' || letter == '\\';
    if text.is_empty() || text.contains(special) {
        format!("'{}'", text.replace('\'', "'\\''"))
    } else {
        text.to_owned()
    }
}
