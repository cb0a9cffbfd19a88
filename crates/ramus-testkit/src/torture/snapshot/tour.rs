//! Everything that snapshots do, once, in a directory that somebody else prepared.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use ramus_snapshot::{About, Restore, Snapshots, WorkingCopy};
use serde_json::json;

/// Takes snapshots before and after changes, compares, restores, collects, and looks whether git would call it dirty. Says the hashes of all content it came by.
pub fn tour(store: &Path, root: &Path) -> Result<()> {
    let mut snapshots = Snapshots::open(store, root, &[])?;
    let about = |label: &str| About { label: label.to_owned(), parents: Vec::new() };
    fs::write(root.join("tour.txt"), "one\n")?;
    let first = snapshots.take(&about("first"))?.id;
    fs::write(root.join("tour.txt"), "two\n")?;
    fs::write(root.join("tour-new.txt"), "new\n")?;
    // The second time around is when others trust what they saw at first.
    let second = snapshots.take(&about("second"))?.id;
    let changed = snapshots.diff(first, second, &[])?.len();
    let only: [PathBuf; 0] = [];
    let plan = snapshots.plan(&Restore { target: first, baseline: second, current: second, only: &only })?;
    let restored = snapshots.restore(&plan, true)?;
    let third = snapshots.take(&about("third"))?;
    let mut hashes = Vec::new();
    for id in [first, second, third.id] {
        hashes.extend(snapshots.files(id)?.into_iter().map(|file| file.sha256));
    }
    snapshots.collect(&[second], Duration::ZERO)?;
    snapshots.recover()?;
    let git = root.join(".git");
    for head in [None, Some("0123456789012345678901234567890123456789")] {
        // Whatever it says: it must run nothing, follow nothing and come to an end.
        WorkingCopy { top: root, own: &git, common: &git, head, heeds_modes: true }.dirtiness();
    }
    let text = fs::read_to_string(root.join("tour.txt"))?;
    let said = json!({
        "changed": changed, "done": restored.done.len(), "kept": restored.kept.len(), "files": third.files,
        "uncovered": third.uncovered.len(), "unheeded": third.unheeded.len(), "text": text, "hashes": hashes,
    });
    Ok(writeln!(std::io::stdout().lock(), "{said}")?)
}
