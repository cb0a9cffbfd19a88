//! Which files are meant: paths that somebody wrote, as they are beneath the directory of a session.

use std::path::{Component, Path, PathBuf};

use ramus_snapshot::SnapshotError;

use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::root_of;

impl Session {
    /// Returns paths as they are beneath the session's directory: a relative one begins there, and none may lead out.
    pub(crate) fn chosen(&self, written: &[PathBuf]) -> Result<Vec<PathBuf>, EngineError> {
        if written.is_empty() {
            return Ok(Vec::new());
        }
        let cwd = Path::new(self.cwd());
        let root = root_of(self)?;
        let one = |path: &PathBuf| {
            let outside = || EngineError::Outside { path: path.clone(), directory: cwd.to_owned() };
            beneath(&root, cwd, path).ok_or_else(outside)
        };
        written.iter().map(one).collect()
    }
}

/// Fails with the first path that no side holds.
pub(crate) fn check_chosen(
    chosen: &[PathBuf],
    is_held: impl Fn(&Path) -> Result<bool, SnapshotError>,
) -> Result<(), EngineError> {
    for path in chosen {
        if !is_held(path)? {
            return Err(EngineError::NoSuchFile(path.clone()));
        }
    }
    Ok(())
}

/// A path as it is beneath `root`, which is also called `cwd`. Its last part may be a link, which is meant itself.
fn beneath(root: &Path, cwd: &Path, path: &Path) -> Option<PathBuf> {
    let whole = plain(&cwd.join(path))?;
    let called = plain(cwd)?;
    if let Ok(rest) = whole.strip_prefix(&called).or_else(|_| whole.strip_prefix(root)) {
        return Some(rest.to_owned());
    }
    // Another name for it may lead here.
    let (above, real) = whole.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    let real = real.join(whole.strip_prefix(above).ok()?);
    real.strip_prefix(root).ok().map(Path::to_owned)
}

/// A path without `.` and `..`; none when it leads above everything.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_has_many_spellings() {
        let (root, cwd) = (Path::new("/real/shop"), Path::new("/called/shop"));
        let spell = |path: &str| beneath(root, cwd, Path::new(path));
        for same in
            ["src/a", "./src/a", "src//a/", "src/../src/./a", "/called/shop/src/a", "/real/shop/src/a", "../shop/src/a"]
        {
            assert_eq!(spell(same).as_deref(), Some(Path::new("src/a")), "{same}");
        }
        for all in [".", "", "/called/shop", "/real/shop/", "src/.."] {
            assert_eq!(spell(all).as_deref(), Some(Path::new("")), "{all}");
        }
        for outside in ["..", "../x", "/", "/etc/passwd", "../../../x", "/called/shopper"] {
            assert_eq!(spell(outside), None, "{outside}");
        }
    }
}
