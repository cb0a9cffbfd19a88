//! Wrappers: programs whose last words are another command. Their options are known one by one; with any other the command
//! cannot be told from the options.

use ramus_model::permission::WORD;

use super::super::variable::{assigned, is_harmless};
use super::super::word::Word;
use super::{Runs, unclear};

/// How a wrapper's own words end and the command begins.
pub(super) struct Wrapper {
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with a value as the next word; a value may also be attached.
    values: &'static [&'static str],
    /// How many words come before the command.
    operands: usize,
    /// Whether assignments may come before the command.
    assigns: bool,
    /// Options with which no command runs.
    harmless: &'static [&'static str],
}

const PLAIN: Wrapper =
    Wrapper { flags: &[], values: &[], operands: 0, assigns: false, harmless: &["--help", "--version"] };

/// Returns how a program wraps another command, if it does.
pub(super) fn of(name: &str) -> Option<Wrapper> {
    Some(match name {
        "nohup" | "builtin" | "coproc" => PLAIN,
        "setsid" => Wrapper { flags: &["-c", "-f", "-w", "--ctty", "--fork", "--wait"], ..PLAIN },
        "command" => Wrapper { flags: &["-p"], harmless: &["-v", "-V"], ..PLAIN },
        "exec" => Wrapper { flags: &["-c", "-l"], values: &["-a"], ..PLAIN },
        "time" => Wrapper { flags: &["-p", "-v", "-q", "-a"], values: &["-f"], ..PLAIN },
        "nice" => Wrapper { values: &["-n", "--adjustment"], ..PLAIN },
        "ionice" => Wrapper { flags: &["-t"], values: &["-c", "-n", "--class", "--classdata"], ..PLAIN },
        "stdbuf" => Wrapper { values: &["-i", "-o", "-e", "--input", "--output", "--error"], ..PLAIN },
        "timeout" => Wrapper {
            flags: &["-v", "--foreground", "--preserve-status", "--verbose"],
            values: &["-s", "-k", "--signal", "--kill-after"],
            operands: 1,
            ..PLAIN
        },
        "env" => Wrapper {
            flags: &["-i", "-0", "-", "-v", "--ignore-environment", "--null", "--debug"],
            values: &["-u", "-C", "--unset", "--chdir"],
            assigns: true,
            ..PLAIN
        },
        "sudo" => Wrapper {
            flags: &["-n", "-E", "-H", "-k", "-b", "-S", "-A", "--non-interactive"],
            values: &["-u", "-g", "-h", "-p", "-C", "--user", "--group"],
            assigns: true,
            ..PLAIN
        },
        "doas" => Wrapper { flags: &["-n"], values: &["-u"], ..PLAIN },
        _ => return None,
    })
}

impl Wrapper {
    /// Finds the command among the words of a wrapper.
    pub(super) fn inner(&self, arguments: &[Word]) -> Runs {
        let mut rest = arguments;
        let mut operands = self.operands;
        while let Some((first, more)) = rest.split_first() {
            let Some(text) = first.known() else { return unclear("a command that is only known when it runs") };
            if self.harmless.contains(&text) {
                return Runs::Nothing;
            } else if text == "--" {
                return self.after(more, operands);
            } else if self.values.contains(&text) {
                rest = more.get(1..).unwrap_or_default();
                if more.first().is_none_or(|value| value.known().is_none()) {
                    return unclear("an option with a value that is not known");
                }
            } else if self.flags.contains(&text) || self.has_value_in(text) {
                rest = more;
            } else if text.starts_with('-') {
                return unclear(format!("the option {text}"));
            } else if self.assigns && assigned(text).is_some() {
                if !assigned(text).is_some_and(is_harmless) {
                    return unclear(format!("it sets {text}"));
                }
                rest = more;
            } else if operands > 0 {
                operands -= 1;
                rest = more;
            } else {
                return Runs::Words(vec![rest.to_vec()]);
            }
        }
        Runs::Nothing
    }

    /// Finds the command behind `--`: options are over, the rest is as before.
    fn after(&self, rest: &[Word], operands: usize) -> Runs {
        let rest = rest.get(operands..).unwrap_or_default();
        match rest.first() {
            None => Runs::Nothing,
            Some(first) if self.assigns && assigned(&first.text).is_some() => unclear("an assignment behind `--`"),
            Some(_) => Runs::Words(vec![rest.to_vec()]),
        }
    }

    fn has_value_in(&self, text: &str) -> bool {
        self.values.iter().any(|option| match option.starts_with("--") {
            true => text.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')),
            false => text.strip_prefix(option).is_some_and(|rest| !rest.is_empty()),
        })
    }
}

/// `xargs` adds words that it reads to the command, or puts them in place of a mark.
pub(super) fn xargs(arguments: &[Word]) -> Runs {
    let wrapper = Wrapper {
        flags: &["-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose", "--exit"],
        values: &[
            "-d",
            "-E",
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "-a",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
        ],
        ..PLAIN
    };
    let before = |at: usize| arguments.get(..at).unwrap_or_default();
    match wrapper.inner(arguments) {
        Runs::Words(commands) => {
            let own = before(arguments.len() - commands.first().map_or(0, Vec::len));
            let replaces = own.iter().any(|word| word.text.starts_with("-I"));
            let fill = |mut words: Vec<Word>| {
                if replaces {
                    // What takes the place of the mark may be in any word that is not plain, the program included.
                    words =
                        words.into_iter().map(|word| if is_plain(&word) { word } else { Word::unknown() }).collect();
                    let mark = own.iter().skip_while(|word| !word.text.starts_with("-I")).nth(1);
                    let usual =
                        own.iter().any(|word| word.text == "-I{}") || mark.is_some_and(|mark| mark.text == "{}");
                    if !usual {
                        words = vec![Word::unknown()];
                    }
                } else {
                    words.push(Word::unknown());
                }
                words
            };
            Runs::Words(commands.into_iter().map(fill).collect())
        }
        other => other,
    }
}

fn is_plain(word: &Word) -> bool {
    word.exact && !word.text.contains("{}")
}

/// `find` runs what stands between `-exec` and `;` or `+`.
pub(super) fn find(arguments: &[Word]) -> Runs {
    if arguments.iter().any(Word::is_wild) {
        return unclear("`find` with what is only known when it runs");
    }
    let mut commands: Vec<Vec<Word>> = Vec::new();
    let mut inside = false;
    for word in arguments {
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" if !inside => {
                commands.push(Vec::new());
                inside = true;
            }
            ";" | "+" if inside => inside = false,
            text if inside => {
                let filled = text.replace("{}", &WORD.to_string());
                let exact = word.exact && filled == text;
                if let Some(command) = commands.last_mut() {
                    command.push(Word { text: filled, exact });
                }
            }
            _ => {}
        }
    }
    Runs::Words(commands)
}
