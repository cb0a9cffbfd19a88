//! Looking through a directory that may be hostile: no link is followed, and there are bounds on depth, number and size.

use std::io;

use super::ground::Ground;
use super::source::join;

/// What a walk puts up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How many directories may lie between the start and a file.
    pub(crate) depth: usize,
    /// How many names there may be.
    pub(crate) names: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: 16, names: 500_000 }
    }
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Its name beneath the ground.
    pub(crate) name: String,
    /// Whether it is a regular file. Others are told about, and never opened.
    pub(crate) is_file: bool,
}

/// Goes through the files beneath a directory, in order.
pub(crate) fn walk(ground: &Ground, from: &str, bounds: Bounds, take: &mut dyn FnMut(&Walked)) -> io::Result<()> {
    let mut waiting = vec![(from.to_owned(), 0)];
    let mut seen = 0;
    while let Some((directory, depth)) = waiting.pop() {
        let Some((names, _)) = ground.list(&directory)? else { continue };
        seen += names.len();
        if seen > bounds.names {
            let message = format!("there are more than {} files in it", bounds.names);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        // The stack gives the last first.
        for listed in names.iter().rev().filter(|listed| listed.is_directory && depth < bounds.depth) {
            waiting.push((join(&directory, &listed.name), depth + 1));
        }
        for listed in names.iter().filter(|listed| !listed.is_directory) {
            take(&Walked { name: join(&directory, &listed.name), is_file: listed.is_file });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ground: &Ground, bounds: Bounds) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        walk(ground, "", bounds, &mut |file| found.push(file.name.clone()))?;
        Ok(found)
    }

    #[test]
    fn a_walk_has_bounds_and_follows_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir_all(path("a/b/c")).unwrap();
        for name in ["1", "a/2", "a/b/3", "a/b/c/4"] {
            std::fs::write(path(name), "").unwrap();
        }
        std::os::unix::fs::symlink(directory.path(), path("a/loop")).unwrap();
        std::os::unix::fs::symlink("/", path("a/out")).unwrap();
        let ground = Ground::open(directory.path()).unwrap();
        let all = ["1", "a/2", "a/loop", "a/out", "a/b/3", "a/b/c/4"];
        assert_eq!(names(&ground, Bounds::default()).unwrap(), all);
        assert_eq!(names(&ground, Bounds { depth: 1, ..Bounds::default() }).unwrap(), all[..4]);
        let crowded = names(&ground, Bounds { names: 5, ..Bounds::default() }).unwrap_err();
        assert!(crowded.to_string().contains("more than 5 files"), "{crowded}");
        for name in ["a/loop/1", "a/out/etc", "../x", "/etc/passwd", "a/../1"] {
            assert!(ground.file(name).is_err(), "{name}");
        }
        assert!(ground.file("a/none").unwrap().is_none());
    }
}
