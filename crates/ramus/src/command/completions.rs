//! `completions`: completion scripts for shells.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;
use crate::failure::Exit;
use crate::render::json;
use crate::screen::Screen;

const EXAMPLES: &str = "\
Examples:
  ramus completions bash > ~/.local/share/bash-completion/completions/ramus
  ramus completions fish > ~/.config/fish/completions/ramus.fish
  ramus completions zsh > \"${fpath[1]}/_ramus\"";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, screen: &mut Screen) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "ramus", &mut script);
        if screen.wants_json() {
            let script = String::from_utf8_lossy(&script);
            screen.json(json::members(json!({"shell": self.shell.to_string(), "script": script})))?;
        } else {
            screen.data(&script)?;
        }
        Ok(Exit::Done)
    }
}
