//! Snapshots beside git's own commands and beside the sequence of commands that opencode runs, on the same directories:
//! `snapshots OPERATION DIRECTORY`. Prints one JSON object per measurement.
#![allow(clippy::print_stdout, missing_docs, reason = "stdout is how the harness is told")]

mod git;
mod growth;
mod time;
mod tree;

use std::fs;
use std::io;
use std::path::Path;

use ramus_snapshot::{About, Restore, Restored, SnapshotId, Snapshots, Taken};
use serde_json::json;

use git::Git;
use time::{Timed, repeat};
use tree::Tree;

/// How many files are changed, and how many are restored.
const CHANGED: usize = 10;
const RESTORED: usize = 100;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (operation, directory) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let directory = Path::new(&directory);
    match operation.as_str() {
        "small" => measure(&Tree { root: directory.join("small"), files: 10_000, lines: 120 }, directory, 4),
        "large" => measure(&Tree { root: directory.join("large"), files: 100_000, lines: 20 }, directory, 2),
        "growth" => growth::measure(directory),
        _ => Err(io::Error::other("usage: snapshots small|large|growth DIRECTORY")),
    }
}

fn measure(tree: &Tree, directory: &Path, cold_runs: usize) -> io::Result<()> {
    tree.make()?;
    let store = directory.join("store");
    let git = Git { directory: directory.join("shadow"), tree: tree.root.clone() };
    let say = |name: &str, ours: Timed, theirs: Timed| {
        println!(
            "{}",
            json!({"op": name, "entries": tree.files, "ms": ours.wall, "cpu_ms": ours.processor,
                "their_ms": theirs.wall, "their_cpu_ms": theirs.processor})
        );
    };
    let fresh = |path: &Path| if path.exists() { fs::remove_dir_all(path) } else { Ok(()) };
    let walk = repeat(10, || Ok(()), || tree.walk())?;
    let cold = repeat(cold_runs, || fresh(&store), || take(&store, tree).map(drop))?;
    let theirs = repeat(cold_runs, || fresh(&git.directory).and_then(|()| git.init()), || git.add_all())?;
    say("cold", cold, theirs);
    // What was just written is not trusted; from then on nothing changes.
    take(&store, tree)?;
    let unchanged = repeat(20, || Ok(()), || take(&store, tree).map(drop))?;
    say("walk", walk, walk);
    let theirs = repeat(10, || Ok(()), || git.track().map(drop))?;
    say("unchanged", unchanged, theirs);
    let mut round = 0;
    let mut change = |count| {
        round += 1;
        tree.change(count, round)
    };
    let changed = repeat(10, || change(CHANGED), || take(&store, tree).map(drop))?;
    let theirs = repeat(10, || change(CHANGED), || git.track().map(drop))?;
    say("changed", changed, theirs);
    restoring(tree, &store, &git, &mut change, &say)?;
    fresh(&store)?;
    fresh(&git.directory)?;
    fs::remove_dir_all(&tree.root)
}

/// Puts back a hundred files, as a person does it who sees what was changed.
fn restoring(
    tree: &Tree,
    store: &Path,
    git: &Git,
    change: &mut impl FnMut(usize) -> io::Result<()>,
    say: &impl Fn(&str, Timed, Timed),
) -> io::Result<()> {
    let target = take(store, tree)?.id;
    let mut snapshots = open(store, tree)?;
    let current = std::cell::Cell::new(target);
    let prepare = || {
        change(RESTORED)?;
        current.set(take(store, tree)?.id);
        Ok(())
    };
    let ours = repeat(10, prepare, || restore(&mut snapshots, target, current.get()))?;
    let hash = git.track()?;
    let paths = tree.changed_paths(RESTORED);
    let theirs = repeat(10, || change(RESTORED), || git.checkout(&hash, &paths))?;
    say("restore", ours, theirs);
    drop(snapshots);
    let changed = std::cell::RefCell::new(change);
    let change = || (changed.borrow_mut())(RESTORED);
    let ours = repeat(10, change, || restore_as_command(store, tree, target))?;
    let theirs = repeat(10, change, || {
        git.track()?;
        git.checkout(&hash, &paths)?;
        git.track().map(drop)
    })?;
    say("restore_with_snapshots", ours, theirs);
    Ok(())
}

/// All that `ramus restore` does to files and store: it looks, keeps what is there and what shall come, restores, and keeps
/// what came of it.
fn restore_as_command(store: &Path, tree: &Tree, target: SnapshotId) -> io::Result<()> {
    let mut snapshots = open(store, tree)?;
    let about = About::default();
    let current = snapshots.take(&about).map_err(io::Error::other)?.id;
    let all = Restore { target, baseline: current, current, only: &[] };
    let plan = snapshots.plan(&all).map_err(io::Error::other)?;
    let safety = snapshots.take(&about).map_err(io::Error::other)?.id;
    snapshots.expect(safety, &plan, false, &about).map_err(io::Error::other)?;
    let restored = snapshots.restore(&plan, false).map_err(io::Error::other)?;
    snapshots.take_since(safety, &about).map_err(io::Error::other)?;
    complete(&restored)
}

fn restore(snapshots: &mut Snapshots, target: SnapshotId, current: SnapshotId) -> io::Result<()> {
    let plan = snapshots.plan(&Restore { target, baseline: current, current, only: &[] }).map_err(io::Error::other)?;
    let restored = snapshots.restore(&plan, false).map_err(io::Error::other)?;
    complete(&restored)
}

fn complete(restored: &Restored) -> io::Result<()> {
    if restored.done.len() == RESTORED { Ok(()) } else { Err(io::Error::other(format!("{restored:?}"))) }
}

fn open(store: &Path, tree: &Tree) -> io::Result<Snapshots> {
    Snapshots::open(store, &tree.root, &[]).map_err(io::Error::other)
}

/// A snapshot as every process takes it: the store is opened for it.
fn take(store: &Path, tree: &Tree) -> io::Result<Taken> {
    let taken = open(store, tree)?.take(&About::default()).map_err(io::Error::other)?;
    if taken.files == tree.files { Ok(taken) } else { Err(io::Error::other(format!("{} files", taken.files))) }
}
