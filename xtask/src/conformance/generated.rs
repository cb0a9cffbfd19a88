//! Trees nobody thought of: generated files of any shape, read by us and by the reference programs.

use std::fs;

use anyhow::{Context as _, Result};
use ramus_testkit::trees;

use super::oracle::Oracles;
use super::ramus::Ramus;
use super::{Extent, Row, Scope, fixtures};

/// Judges generated trees; the seeds are fixed, so a failure can be looked at again.
pub(super) fn judge(oracles: &Oracles, ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let trees = if scope.extent == Extent::Full { 40 } else { 6 };
    for seed in 0..trees {
        let case = format!("generated/tree-{seed}");
        if scope.covers(&case) {
            let file = folder.path().join(format!("tree-{seed}.jsonl"));
            fs::write(&file, trees::tree(seed)).context("cannot write a generated tree")?;
            fixtures::judge_file(&case, &file, oracles, ramus, scope, show);
        }
    }
    Ok(())
}
