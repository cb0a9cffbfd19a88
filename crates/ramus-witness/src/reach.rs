//! Reach: what somebody can have changed, whatever else changed at the same time.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Paths that can have been changed, absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    paths: HashSet<PathBuf>,
    /// Directories of which everything counts.
    trees: HashSet<PathBuf>,
    /// Files with several names, of which all count.
    files: HashSet<(u64, u64)>,
}

impl Reach {
    /// Exactly these paths.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: paths.into_iter().collect(), ..Self::default() }
    }

    /// Adds a path.
    pub fn add(&mut self, path: PathBuf) {
        self.paths.insert(path);
    }

    /// Adds a path and everything beneath it.
    pub fn add_tree(&mut self, path: PathBuf) {
        self.trees.insert(path);
    }

    /// Adds a file by its device and number, whatever it is called.
    pub(crate) fn add_file(&mut self, device: u64, number: u64) {
        self.files.insert((device, number));
    }

    /// Returns how much is remembered.
    pub(crate) fn len(&self) -> usize {
        self.paths.len() + self.trees.len() + self.files.len()
    }

    /// Both together.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.paths.extend(other.paths);
        self.trees.extend(other.trees);
        self.files.extend(other.files);
        self
    }

    /// Says whether a path is among them.
    pub fn covers(&self, path: &Path) -> bool {
        let is_file = |found: fs::Metadata| self.files.contains(&(found.dev(), found.ino()));
        self.paths.contains(path)
            || path.ancestors().any(|above| self.trees.contains(above))
            || !self.files.is_empty() && fs::symlink_metadata(path).is_ok_and(is_file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_itself_and_a_tree_is_all_of_it() {
        let mut reach = Reach::of(["/w/a".into()]);
        reach.add("/w/b".into());
        reach = reach.with(Reach::default());
        reach.add_tree("/w/c".into());
        let covered = ["/w/a", "/w/b", "/w/c", "/w/c/d/e"];
        assert!(covered.iter().all(|path| reach.covers(Path::new(path))), "{reach:?}");
        assert!(!["/w", "/w/a/b", "/w/cd", "/"].iter().any(|path| reach.covers(Path::new(path))), "{reach:?}");
    }
}
