//! What a directory will hold when a plan was carried out: a snapshot of what is not there yet. Whoever finds a restore
//! interrupted can tell by it what was done.

use std::time::{SystemTime, UNIX_EPOCH};

use hashbrown::HashSet;

use crate::error::SnapshotError;
use crate::known::path_bytes;
use crate::pack::Pack;
use crate::plan::Plan;
use crate::store::{About, SnapshotId, Snapshots};
use crate::tree::{Change, Entries, Trees};

impl Snapshots {
    /// Keeps what a plan makes of a snapshot, without touching the directory.
    pub fn expect(
        &mut self,
        base: SnapshotId,
        plan: &Plan,
        force: bool,
        about: &About,
    ) -> Result<SnapshotId, SnapshotError> {
        let _lock = self.vault().begin()?;
        let root = self.vault().directory_of(base)?;
        let mut changes: Vec<Change> = Vec::new();
        for step in plan.steps.iter().filter(|step| step.is_chosen(force)) {
            let path = path_bytes(&step.path).to_vec();
            changes.extend(step.old.map(|_| (path.clone(), None)));
            changes.extend(step.new.map(|item| (path, Some((item.kind, item.id)))));
        }
        // Of one path, what is gone comes before what is there.
        changes.sort_by(|left, right| (&left.0, left.1.is_some()).cmp(&(&right.0, right.1.is_some())));
        let mut pack = Pack::default();
        let mut trees = Trees { objects: self.objects(), pack: &mut pack, new: HashSet::new() };
        let directory = trees.apply(Some(root), &changes, 0)?;
        let directory = directory.map_or_else(|| trees.write(Entries::new()), Ok)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = self.commit(&mut pack, (directory, None), about, now.as_secs())?;
        self.objects().add(if pack.is_empty() { Vec::new() } else { vec![pack.finish()?] })?;
        Ok(id)
    }
}
