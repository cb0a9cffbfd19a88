//! Reading shell commands: every program that a command line would run, as far as that can be known before it runs.
//!
//! The invariant: a program that bash runs is among the commands of the [`Reading`], or the reading is unclear. Whatever is
//! not understood makes it unclear, and what is unclear is asked about at best. A grammar finds the structure; words are then
//! read a second time, letter by letter, and where the two disagree the reading is unclear.

mod builtin;
mod check;
pub mod defaults;
mod program;
mod redirect;
mod subject;
mod tree;
mod variable;
mod word;

pub use word::Word;

use ramus_model::permission::Question;

/// How many commands one line may hold before it is not looked at further.
const MOST_COMMANDS: usize = 200;

/// How long a command line may be before it is not looked at.
const MOST_BYTES: usize = 16 * 1024;

/// How many command lines may be inside one another, as in `sh -c 'sh -c …'`.
const MOST_SOURCES: usize = 32;

/// One program with its arguments, as it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simple {
    /// The words, the program first.
    pub words: Vec<Word>,
}

/// What is known about a command line before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every program that it would run.
    pub commands: Vec<Simple>,
    /// Why this may not be all; none when it is.
    pub unclear: Option<String>,
    /// The files that redirections write.
    pub writes: Vec<String>,
}

impl Reading {
    /// Notes that something was not understood. The first reason is kept.
    fn doubt(&mut self, reason: impl Into<String>) {
        if self.unclear.is_none() {
            self.unclear = Some(reason.into());
        }
    }

    /// Returns what rules are matched against: each command as its words with single spaces between them. Words that would
    /// not read as one are quoted.
    pub fn subjects(&self) -> Vec<String> {
        self.commands.iter().map(subject::subject).collect()
    }

    /// Returns the questions that must be answered before `command` may run: one about its programs, and one about the files
    /// that its redirections write.
    pub fn questions(&self, command: &str) -> Vec<Question> {
        let programs = Question {
            permission: "bash".to_owned(),
            exact: command.to_owned(),
            subjects: self.subjects(),
            shades: self.commands.iter().flat_map(subject::shades).collect(),
            doubt: self.unclear.clone(),
        };
        let mut questions = vec![programs];
        if !self.writes.is_empty() {
            questions.push(Question {
                permission: "write".to_owned(),
                exact: command.to_owned(),
                subjects: self.writes.clone(),
                shades: Vec::new(),
                doubt: self.unclear.clone(),
            });
        }
        questions
    }
}

/// Something that is still to be read.
enum Pending {
    /// A command line.
    Source(String),
    /// A program and its arguments.
    Words(Vec<Word>),
}

/// Reads a command line.
pub fn read(command: &str) -> Reading {
    let mut reading = Reading::default();
    let mut pending = vec![Pending::Source(command.to_owned())];
    let mut sources = 0;
    while let Some(next) = pending.pop() {
        match next {
            Pending::Source(source) => {
                sources += 1;
                if sources > MOST_SOURCES {
                    reading.doubt("too many commands inside one another");
                    break;
                }
                tree::read_source(&source, &mut reading, &mut pending);
            }
            Pending::Words(words) => {
                if reading.commands.len() >= MOST_COMMANDS {
                    reading.doubt(format!("more than {MOST_COMMANDS} commands"));
                    break;
                }
                program::read_words(words, &mut reading, &mut pending);
            }
        }
    }
    if reading.commands.is_empty() && reading.writes.is_empty() {
        reading.doubt("there is no command in it");
    }
    let moves = |command: &Simple| matches!(command.words.first().and_then(Word::known), Some("cd" | "pushd" | "popd"));
    if !reading.writes.is_empty() && reading.commands.iter().any(moves) {
        reading.doubt("it changes the directory and writes a file");
    }
    reading
}
