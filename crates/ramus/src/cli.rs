//! The command line as a whole: options that every command has, and the way from arguments to an exit code.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, ValueEnum};

use crate::command::Command;
use crate::failure::{self, Exit, Failure};
use crate::home::Home;
use crate::invocation::Invocation;
use crate::screen::Screen;

const LONG_ABOUT: &str = "\
Keeps the sessions of coding agents as trees.

A session is a log that only grows. Every entry names its parent, so the log is a tree: going back and trying something \
else makes a branch, and nothing is ever lost. Files of pi and oh-my-pi are read and written as they are.";

const AFTER_HELP: &str = "\
A SESSION is an id, a unique prefix of one (4 or more characters), `last` (the most recent session of this directory), \
`this` (the session this terminal was last in, in this directory; else `last`), or the path of a .jsonl file.
SESSION@ENTRY names one of its entries by id, unique prefix, #number or label; SESSION@ is the leaf, SESSION@- its \
parent. Without SESSION, `@ENTRY` is about `last`.

Exit codes: 0 done, 1 error, 2 wrong usage, 3 not found, 4 busy or conflict, 5 partial or damaged, 130 interrupted.

`ramus demo` shows it all in a few seconds.";

/// Keeps the sessions of coding agents as trees.
#[derive(Debug, Parser)]
#[command(name = "ramus", version, long_about = LONG_ABOUT, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options that every command has.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Global {
    /// Keep sessions and settings in this directory [env: RAMUS_HOME] [default: ~/.local/share/ramus]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Colour the output; `auto` does on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Global options")]
    pub(crate) color: Color,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Reads how many of something are wanted.
pub(crate) fn how_many(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "must be a number from 1".to_owned())
}

/// Runs the command that `arguments` name.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&error, &arguments),
    };
    let mut screen = Screen::standard(&cli.global);
    let result = run(cli, &mut screen).and_then(|exit| {
        screen.flush()?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit.code(),
        Err(error) => match Failure::of(&error) {
            Some(failure) => failure.report(&mut screen),
            // Whoever read our output has seen enough.
            None => ExitCode::SUCCESS,
        },
    }
}

fn run(cli: Cli, screen: &mut Screen) -> anyhow::Result<Exit> {
    let Some(command) = cli.command else {
        let help = Cli::command().render_help();
        screen.styled(&help.ansi().to_string())?;
        return Ok(Exit::Done);
    };
    if let Some(exit) = command.run_without_home(screen) {
        return exit;
    }
    let home = Home::open(cli.global.home.as_deref())?;
    let mut invocation = Invocation::new(home, screen)?;
    let result = command.run(&mut invocation);
    let mentioned = invocation.mention_home();
    // Whoever waits has had the answer.
    let flushed = invocation.screen.flush();
    invocation.engine.tidy_catalogue();
    let mentioned = mentioned.and(flushed);
    result.and_then(|exit| mentioned.map(|()| exit))
}

/// Answers arguments that make no sense, and requests for help, which come the same way.
fn misunderstood(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    if !error.use_stderr() || !wants_json {
        // A closed pipe is no reason to complain.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE));
    }
    let mut screen = Screen::standard(&Global { json: true, ..Global::default() });
    Failure::usage(&error.to_string()).report(&mut screen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }
}
