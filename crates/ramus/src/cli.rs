//! The command line as a whole: options that every command has, and the way from arguments to an exit code.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _, Parser, ValueEnum};

use crate::command::Command;
use crate::failure::{self, Exit, Failure, Refusal};
use crate::home::Home;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::screen::Screen;
use crate::servers::Named;

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
    /// Work with the sessions of a server: http://HOST:PORT, https://HOST:PORT or unix:PATH [env: RAMUS_SERVER]
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) server: Option<String>,
    /// Read the token of the server from this file, instead of RAMUS_TOKEN or what `ramus login` kept
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) token_file: Option<PathBuf>,
    /// Trust these certificates too, when the server is asked over https
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) cacert: Option<PathBuf>,
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
    if let (Some(reason), true) = (command.is_local(), cli.global.server.is_some()) {
        let refusal = Refusal::usage(format!("this cannot be done at a server: {reason}"));
        return Err(refusal.hint("leave out --server, or do it where the server runs").into());
    }
    if let Some(exit) = command.run_without_home(screen) {
        return exit;
    }
    let home = Home::open(cli.global.home.as_deref())?;
    if let Command::Login(login) = &command {
        return login.run(&cli.global, &home, screen);
    }
    let mut invocation = match remote(&cli.global, &home, &command, screen)? {
        Some(remote) => Invocation::at(home, remote, screen)?,
        None => Invocation::new(home, screen)?,
    };
    invocation.token_file = cli.global.token_file.clone();
    let result = command.run(&mut invocation);
    let mentioned = invocation.mention_home();
    // Whoever waits has had the answer.
    let flushed = invocation.screen.flush();
    let closed = invocation.close_history();
    invocation.engine.tidy_catalogue();
    let ended = mentioned.and(flushed).and(closed);
    result.and_then(|exit| ended.map(|()| exit))
}

/// Returns the server that a command is for, if it is for one. What can only be done here is done here when only the
/// environment names a server.
fn remote(global: &Global, home: &Home, command: &Command, screen: &mut Screen) -> anyhow::Result<Option<Remote>> {
    if command.is_local().is_some() {
        return Ok(None);
    }
    let Some(named) = Named::of(global)? else { return Ok(None) };
    let token = named.token(global, home)?;
    if token.is_some() && !named.is_private() {
        let told = "nothing is encrypted on the way there, and whoever sees it sees the token; use https";
        screen.warn(&format!("{}: {told}", named.name()))?;
    }
    let cwd = std::env::current_dir().context("there is no current directory")?;
    let client = named.client(global, token)?;
    Ok(Some(Remote::new(client, cwd.to_string_lossy().into_owned())?))
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
