//! The pulse of a turn: a file whose time says when a call of a session was last known to run. A killed turn leaves it
//! behind, so that what changed after its end can be told from what its call changed.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_model::SessionId;

/// How often it beats.
pub(crate) const BEAT: Duration = Duration::from_millis(500);

/// How long after a beat a call may still have run, in nanoseconds: one beat, and as much again for a busy machine.
const SLACK: i128 = 2 * BEAT.as_nanos() as i128;

/// The pulse of a session in a directory.
#[derive(Clone, Debug)]
pub(crate) struct Pulse {
    path: PathBuf,
}

impl Pulse {
    /// The pulse of a session; `vault` is where the snapshots of its directory are.
    pub(crate) fn of(vault: &Path, session: &SessionId) -> Self {
        let name: String = session.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        Self { path: vault.join("pulse").join(name) }
    }

    /// Says that a call runs. Without a file, nobody can tell how long it did, which is safe.
    pub(crate) fn beat(&self) {
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        let _ = fs::write(&self.path, b"\n");
    }

    /// Says that none runs whose changes are not noted.
    pub(crate) fn stop(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Returns until when a call may have run, in nanoseconds since 1970.
    pub(crate) fn until(&self) -> Option<i128> {
        fs::symlink_metadata(&self.path).ok().map(|found| modified(&found) + SLACK)
    }
}

/// Says whether a path beneath a root may have become what it is after a moment. Of what is gone, its directory says so; what
/// is there may have come with a directory that was moved.
pub(crate) fn is_later(root: &Path, path: &Path, moment: Option<i128>) -> bool {
    let Some(moment) = moment else { return true };
    let mut above = path.ancestors().skip(1).filter_map(|above| fs::symlink_metadata(root.join(above)).ok());
    match fs::symlink_metadata(root.join(path)) {
        // A directory that is moved is changed, and what is in it is not.
        Ok(found) => changed(&found) > moment || above.any(|one| changed(&one) > moment && modified(&one) <= moment),
        Err(_) => above.next().is_none_or(|directory| changed(&directory) > moment),
    }
}

fn changed(found: &fs::Metadata) -> i128 {
    i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
}

fn modified(found: &fs::Metadata) -> i128 {
    i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec())
}
