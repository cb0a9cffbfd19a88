//! The commands, one file each.

mod append;
mod archive;
mod artifacts;
mod boot;
mod branch;
mod catalogue;
mod chat;
mod children;
mod clear;
mod compact;
mod compare;
mod completions;
mod config;
mod confirm;
mod context;
mod delete;
mod demo;
mod diff;
mod doctor;
mod entry;
mod events;
mod evict;
mod export;
mod fork;
mod gc;
mod history;
mod import;
mod label;
mod list;
mod log;
mod login;
mod man;
mod merge_back;
mod meta;
mod models;
mod move_session;
mod new;
mod open;
mod permissions;
mod purge;
mod recover;
mod relocate;
mod rename;
mod replace_segment;
mod reset;
mod reset_leaf;
mod restore;
mod resume;
mod retain;
mod revert;
pub(crate) mod run;
mod say;
mod search;
mod serve;
mod session;
mod share;
mod show;
mod snapshot;
mod star;
mod state;
mod tag;
mod tail;
mod todo;
mod tree;
mod trust;
mod undo;
mod usage;
mod workspace;

use clap::Subcommand;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::screen::Screen;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Chat(chat::Chat),
    New(new::New),
    Boot(boot::Boot),
    Say(say::Say),
    Append(append::Append),
    List(list::List),
    Search(search::Search),
    Show(show::Show),
    History(history::History),
    Usage(usage::Usage),
    Tree(tree::Tree),
    Tail(tail::Tail),
    Events(events::Events),
    Context(context::Context),
    Entry(entry::Entry),
    State(state::State),
    Undo(undo::Undo),
    Redo(undo::Redo),
    Log(log::Log),
    Branch(branch::Branch),
    ResetLeaf(reset_leaf::ResetLeaf),
    Label(label::Label),
    Rename(rename::Rename),
    Fork(fork::Fork),
    Children(children::Children),
    Compare(compare::Compare),
    MergeBack(merge_back::MergeBack),
    Compact(compact::Compact),
    Clear(clear::Clear),
    Evict(evict::Evict),
    ReplaceSegment(replace_segment::ReplaceSegment),
    Todo(todo::Todo),
    Artifacts(artifacts::Artifacts),
    Move(move_session::Move),
    Relocate(relocate::Relocate),
    Meta(meta::Meta),
    Tag(tag::Tag),
    Star(star::Star),
    Unstar(star::Unstar),
    Archive(archive::Archive),
    Unarchive(archive::Unarchive),
    Snapshot(snapshot::Snapshot),
    Snapshots(snapshot::Snapshots),
    Diff(diff::Diff),
    Restore(restore::Restore),
    Revert(revert::Revert),
    Unrevert(revert::Unrevert),
    Workspace(workspace::Workspace),
    Resume(resume::Resume),
    Export(export::Export),
    Import(import::Import),
    Share(share::Share),
    Unshare(share::Unshare),
    Delete(delete::Delete),
    Purge(purge::Purge),
    Reset(reset::Reset),
    Doctor(doctor::Doctor),
    Recover(recover::Recover),
    Gc(gc::Gc),
    Retain(retain::Retain),
    Catalogue(catalogue::Catalogue),
    Config(config::Config),
    Models(models::Models),
    Permissions(permissions::Permissions),
    Trust(trust::Trust),
    Serve(serve::Serve),
    Login(login::Login),
    Open(open::Open),
    Session(session::Session),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Runs a command that touches no sessions of the user; none when it does.
    pub(crate) fn run_without_home(&self, screen: &mut Screen) -> Option<anyhow::Result<Exit>> {
        match self {
            Self::Demo(demo) => Some(demo.run(screen)),
            Self::Completions(completions) => Some(completions.run(screen)),
            Self::Man(man) => Some(man.run(screen)),
            _ => None,
        }
    }

    /// Says why the command can only be run here; none when it can be run at a server as well.
    pub(crate) fn is_local(&self) -> Option<&'static str> {
        match self {
            Self::Catalogue(_) => Some("the catalogue is a file of the home, which the server keeps current itself"),
            Self::Config(_) => Some("settings are files of this machine"),
            Self::Trust(_) => Some("which files are trusted is for whoever sits at that machine"),
            Self::Serve(_) => Some("it starts a server"),
            Self::Open(_) => Some("a server shows its own sessions: open its address in a browser"),
            Self::Demo(_) | Self::Completions(_) | Self::Man(_) => Some("it touches no sessions"),
            Self::Login(_)
            | Self::Run(_)
            | Self::Chat(_)
            | Self::New(_)
            | Self::Boot(_)
            | Self::Say(_)
            | Self::Append(_)
            | Self::List(_)
            | Self::Search(_)
            | Self::Show(_)
            | Self::History(_)
            | Self::Usage(_)
            | Self::Tree(_)
            | Self::Tail(_)
            | Self::Events(_)
            | Self::Context(_)
            | Self::Entry(_)
            | Self::State(_)
            | Self::Undo(_)
            | Self::Redo(_)
            | Self::Log(_)
            | Self::Branch(_)
            | Self::ResetLeaf(_)
            | Self::Label(_)
            | Self::Rename(_)
            | Self::Fork(_)
            | Self::Children(_)
            | Self::Compare(_)
            | Self::MergeBack(_)
            | Self::Compact(_)
            | Self::Clear(_)
            | Self::Evict(_)
            | Self::ReplaceSegment(_)
            | Self::Todo(_)
            | Self::Artifacts(_)
            | Self::Move(_)
            | Self::Relocate(_)
            | Self::Meta(_)
            | Self::Tag(_)
            | Self::Star(_)
            | Self::Unstar(_)
            | Self::Archive(_)
            | Self::Unarchive(_)
            | Self::Snapshot(_)
            | Self::Snapshots(_)
            | Self::Diff(_)
            | Self::Restore(_)
            | Self::Revert(_)
            | Self::Unrevert(_)
            | Self::Workspace(_)
            | Self::Resume(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Share(_)
            | Self::Unshare(_)
            | Self::Delete(_)
            | Self::Purge(_)
            | Self::Reset(_)
            | Self::Doctor(_)
            | Self::Recover(_)
            | Self::Gc(_)
            | Self::Retain(_)
            | Self::Models(_)
            | Self::Permissions(_)
            | Self::Session(_) => None,
        }
    }

    /// Runs the command.
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match self {
            Self::Run(run) => run.run(invocation),
            Self::Chat(chat) => chat.run(invocation),
            Self::New(new) => new.run(invocation),
            Self::Boot(boot) => boot.run(invocation),
            Self::Say(say) => say.run(invocation),
            Self::Append(append) => append.run(invocation),
            Self::List(list) => list.run(invocation),
            Self::Search(search) => search.run(invocation),
            Self::Show(show) => show.run(invocation),
            Self::History(history) => history.run(invocation),
            Self::Usage(usage) => usage.run(invocation),
            Self::Tree(tree) => tree.run(invocation),
            Self::Tail(tail) => tail.run(invocation),
            Self::Events(events) => events.run(invocation),
            Self::Context(context) => context.run(invocation),
            Self::Entry(entry) => entry.run(invocation),
            Self::State(state) => state.run(invocation),
            Self::Undo(undo) => undo.run(invocation),
            Self::Redo(redo) => redo.run(invocation),
            Self::Log(log) => log.run(invocation),
            Self::Branch(branch) => branch.run(invocation),
            Self::ResetLeaf(reset_leaf) => reset_leaf.run(invocation),
            Self::Label(label) => label.run(invocation),
            Self::Rename(rename) => rename.run(invocation),
            Self::Fork(fork) => fork.run(invocation),
            Self::Children(children) => children.run(invocation),
            Self::Compare(compare) => compare.run(invocation),
            Self::MergeBack(merge_back) => merge_back.run(invocation),
            Self::Compact(compact) => compact.run(invocation),
            Self::Clear(clear) => clear.run(invocation),
            Self::Evict(evict) => evict.run(invocation),
            Self::ReplaceSegment(replace) => replace.run(invocation),
            Self::Todo(todo) => todo.run(invocation),
            Self::Artifacts(artifacts) => artifacts.run(invocation),
            Self::Move(move_session) => move_session.run(invocation),
            Self::Relocate(relocate) => relocate.run(invocation),
            Self::Meta(meta) => meta.run(invocation),
            Self::Tag(tag) => tag.run(invocation),
            Self::Star(star) => star.run(invocation),
            Self::Unstar(unstar) => unstar.run(invocation),
            Self::Archive(archive) => archive.run(invocation),
            Self::Unarchive(unarchive) => unarchive.run(invocation),
            Self::Snapshot(snapshot) => snapshot.run(invocation),
            Self::Snapshots(snapshots) => snapshots.run(invocation),
            Self::Diff(diff) => diff.run(invocation),
            Self::Restore(restore) => restore.run(invocation),
            Self::Revert(revert) => revert.run(invocation),
            Self::Unrevert(unrevert) => unrevert.run(invocation),
            Self::Workspace(workspace) => workspace.run(invocation),
            Self::Resume(resume) => resume.run(invocation),
            Self::Export(export) => export.run(invocation),
            Self::Import(import) => import.run(invocation),
            Self::Share(share) => share.run(invocation),
            Self::Unshare(unshare) => unshare.run(invocation),
            Self::Delete(delete) => delete.run(invocation),
            Self::Purge(purge) => purge.run(invocation),
            Self::Reset(reset) => reset.run(invocation),
            Self::Doctor(doctor) => doctor.run(invocation),
            Self::Recover(recover) => recover.run(invocation),
            Self::Gc(gc) => gc.run(invocation),
            Self::Retain(retain) => retain.run(invocation),
            Self::Catalogue(catalogue) => catalogue.run(invocation),
            Self::Config(config) => config.run(invocation),
            Self::Models(models) => models.run(invocation),
            Self::Permissions(permissions) => permissions.run(invocation),
            Self::Trust(trust) => trust.run(invocation),
            Self::Serve(serve) => serve.run(invocation),
            // It needs no engine, so it was done before there was one.
            Self::Login(_) => Ok(Exit::Done),
            Self::Open(open) => open.run(invocation),
            Self::Session(session) => session.run(invocation),
            Self::Demo(demo) => demo.run(invocation.screen),
            Self::Completions(completions) => completions.run(invocation.screen),
            Self::Man(man) => man.run(invocation.screen),
        }
    }
}
