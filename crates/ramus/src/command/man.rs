//! `man`: manual pages, made of the same definitions as `--help`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;
use serde_json::json;

use crate::cli::Cli;
use crate::failure::Exit;
use crate::render::{Text, json, quantity};
use crate::screen::Screen;

const EXAMPLES: &str = "\
Prints the page of ramus itself. With --dir, the pages of all commands are written: ramus.1, ramus-run.1 and so on.

Examples:
  ramus man | man -l -
  ramus man --dir ~/.local/share/man/man1";

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Man {
    /// Write the pages of all commands into this directory, which is made when it is not there
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, screen: &mut Screen) -> anyhow::Result<Exit> {
        match &self.dir {
            Some(directory) => write_all(screen, directory)?,
            None => print(screen)?,
        }
        Ok(Exit::Done)
    }
}

fn print(screen: &mut Screen) -> anyhow::Result<()> {
    let mut page = Vec::new();
    Page::new(Cli::command()).render(&mut page)?;
    if screen.wants_json() {
        return screen.json(json::members(json!({"page": String::from_utf8_lossy(&page)})));
    }
    screen.data(&page)
}

fn write_all(screen: &mut Screen, directory: &Path) -> anyhow::Result<()> {
    let told = || format!("cannot write to {}", directory.display());
    fs::create_dir_all(directory).with_context(told)?;
    let mut all = Cli::command();
    all.build();
    let mut written = Vec::new();
    // Commands within commands come after those they are in.
    let mut left = vec![all];
    while let Some(command) = left.pop() {
        if command.get_name() == "help" || command.is_hide_set() {
            continue;
        }
        let name = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
        left.extend(command.get_subcommands().cloned());
        let mut page = Vec::new();
        Page::new(command).render(&mut page)?;
        fs::write(directory.join(&name), page).with_context(told)?;
        written.push(name);
    }
    written.sort_unstable();
    if screen.wants_json() {
        return screen.json(json::members(json!({"directory": directory, "pages": written})));
    }
    let pages = quantity::count(written.len(), "page", "pages");
    screen.note(Text::new().plain(&format!("wrote {pages} to {}", directory.display())).end())
}
