//! `session`: the same commands under the names that other agents use.

use clap::{Args, Subcommand};

use super::{archive, compact, delete, export, fork, import, list, show};
use crate::failure::Exit;
use crate::invocation::Invocation;

/// The commands on sessions under the names that other agents use
#[derive(Debug, Args)]
pub(crate) struct Session {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::List),
    Show(show::Show),
    Fork(fork::Fork),
    Archive(archive::Archive),
    Unarchive(archive::Unarchive),
    Compact(compact::Compact),
    Delete(delete::Delete),
    Export(export::Export),
    Import(import::Import),
}

impl Session {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match &self.action {
            Action::List(list) => list.run(invocation),
            Action::Show(show) => show.run(invocation),
            Action::Fork(fork) => fork.run(invocation),
            Action::Archive(archive) => archive.run(invocation),
            Action::Unarchive(unarchive) => unarchive.run(invocation),
            Action::Compact(compact) => compact.run(invocation),
            Action::Delete(delete) => delete.run(invocation),
            Action::Export(export) => export.run(invocation),
            Action::Import(import) => import.run(invocation),
        }
    }
}
