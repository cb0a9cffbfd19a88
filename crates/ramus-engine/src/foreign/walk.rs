//! Looking through a directory that may be hostile: no link is followed, nothing is listed that cannot hold sessions, and there are
//! bounds on depth, number and size.

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

/// Something that was met.
#[derive(Debug)]
pub(crate) struct Walked {
    /// Its name beneath the ground.
    pub(crate) name: String,
    /// What it is.
    pub(crate) what: What,
}

/// What was met. Only regular files are ever opened.
#[derive(Debug)]
pub(crate) enum What {
    File,
    Link,
    Other,
    /// A directory that cannot be looked into.
    Closed(io::Error),
}

/// Goes through the files beneath a directory, in order, and into the directories that are wanted. What cannot be looked into is
/// told, and the rest is gone through. When there are too many names, what was met until then was met.
pub(crate) fn walk(
    ground: &Ground,
    from: &str,
    bounds: Bounds,
    is_wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(Walked),
) -> io::Result<()> {
    let mut waiting = vec![(from.to_owned(), 0)];
    let mut seen = 0;
    while let Some((directory, depth)) = waiting.pop() {
        let names = match ground.list(&directory) {
            Ok(Some((names, _))) => names,
            Ok(None) => continue,
            Err(error) => {
                take(Walked { name: directory, what: What::Closed(error) });
                continue;
            }
        };
        let room = bounds.names - seen;
        seen += names.len().min(room);
        // The stack gives the last first.
        for listed in names.iter().rev().filter(|listed| listed.is_directory && depth < bounds.depth) {
            let name = join(&directory, &listed.name);
            if is_wanted(&name) {
                waiting.push((name, depth + 1));
            }
        }
        for listed in names.iter().take(room).filter(|listed| !listed.is_directory) {
            let what = match (listed.is_file, listed.is_link) {
                (true, _) => What::File,
                (_, true) => What::Link,
                _ => What::Other,
            };
            take(Walked { name: join(&directory, &listed.name), what });
        }
        if names.len() > room {
            let message = format!("there are more than {} files in it; what is beyond was not looked at", bounds.names);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ground: &Ground, bounds: Bounds) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        walk(ground, "", bounds, &|_| true, &mut |met| found.push(met.name))?;
        Ok(found)
    }

    /// Makes directories in one another whose name is too long to be opened at once, by anybody.
    fn too_deep(at: &std::path::Path) {
        let name = "d".repeat(255);
        let mut directory = rustix::fs::open(at, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
        for _ in 0..17 {
            rustix::fs::mkdirat(&directory, &*name, rustix::fs::Mode::RWXU).unwrap();
            let flags = rustix::fs::OFlags::DIRECTORY;
            directory = rustix::fs::openat(&directory, &*name, flags, rustix::fs::Mode::empty()).unwrap();
        }
    }

    #[test]
    fn a_directory_that_cannot_be_looked_into_is_told_and_the_rest_is_found() {
        let directory = tempfile::tempdir().unwrap();
        too_deep(directory.path());
        std::fs::create_dir(directory.path().join("e")).unwrap();
        std::fs::write(directory.path().join("e/1"), "").unwrap();
        let ground = Ground::open(directory.path()).unwrap();
        let (mut files, mut closed) = (Vec::new(), Vec::new());
        let bounds = Bounds { depth: 32, ..Bounds::default() };
        walk(&ground, "", bounds, &|_| true, &mut |met| match met.what {
            What::Closed(error) => closed.push((met.name.len(), error.to_string())),
            _ => files.push(met.name),
        })
        .unwrap();
        assert_eq!(files, ["e/1"]);
        assert!(matches!(&*closed, [(length, reason)] if *length > 4095 && !reason.is_empty()), "{closed:?}");
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
        let mut first = Vec::new();
        let bounds = Bounds { names: 5, ..Bounds::default() };
        assert!(walk(&ground, "", bounds, &|_| true, &mut |met| first.push(met.name)).is_err());
        assert_eq!(first, all[..3], "what was met until then was met");
        let mut shallow = Vec::new();
        let bounds = Bounds { names: 6, ..Bounds::default() };
        walk(&ground, "", bounds, &|name| name != "a/b", &mut |met| shallow.push(met.name)).unwrap();
        assert_eq!(shallow, all[..4], "what cannot hold anything is not listed");
        for name in ["a/loop/1", "a/out/etc", "../x", "/etc/passwd", "a/../1"] {
            assert!(ground.file(name).is_err(), "{name}");
        }
        assert!(ground.file("a/none").unwrap().is_none());
    }
}
