//! Files that are neither tracked nor ignored: one is enough.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashSet;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};

use super::Dirtiness;
use crate::known::path_of;
use crate::rules::{Marks, RuleReader, Rules};

/// How many directories are looked at.
const MOST: usize = 200_000;

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

/// Looks for a file that git does not know, until one is found.
pub(super) fn look(top: &Path, tracked: &HashSet<&[u8]>, is_over: &AtomicBool) -> Dirtiness {
    let Ok(root) = File::open(top) else { return Dirtiness::Unknown("the directory cannot be read") };
    let mut unheeded = Vec::new();
    let reader = RuleReader::default();
    let (rules, _) = reader.above(top, &mut unheeded);
    let mut search = Search { root, reader, tracked, buffer: Vec::with_capacity(NAMES) };
    let mut open = vec![(Vec::new(), rules)];
    let mut count = 0;
    let mut is_unread = false;
    while let Some((path, rules)) = open.pop().filter(|_| !is_over.load(Ordering::Relaxed)) {
        count += 1;
        if count > MOST {
            return Dirtiness::Unknown("there are too many directories");
        }
        match search.directory(&path, &rules, &mut unheeded) {
            Found::Stranger => {
                is_over.store(true, Ordering::Relaxed);
                return Dirtiness::Dirty;
            }
            Found::Directories(mut inner) => open.append(&mut inner),
            Found::Closed => is_unread = true,
        }
    }
    match (unheeded.is_empty(), is_unread) {
        (false, _) => Dirtiness::Unknown("an ignore file cannot be read"),
        (_, true) => Dirtiness::Unknown("a directory cannot be read"),
        _ => Dirtiness::Clean,
    }
}

struct Search<'s> {
    root: File,
    reader: RuleReader,
    tracked: &'s HashSet<&'s [u8]>,
    buffer: Vec<u8>,
}

/// What a directory holds.
enum Found {
    Stranger,
    /// No file that git does not know, but these directories. A path ends with a slash.
    Directories(Vec<(Vec<u8>, Arc<Rules>)>),
    Closed,
}

impl Search<'_> {
    fn directory(&mut self, path: &[u8], rules: &Arc<Rules>, unheeded: &mut Vec<crate::Uncovered>) -> Found {
        let Some(directory) = self.open(path) else { return Found::Closed };
        let mut marks = Marks::default();
        let mut names: Vec<(Vec<u8>, FileType)> = Vec::new();
        let mut entries = RawDir::new(&directory, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { return Found::Closed };
            let name = entry.file_name().to_bytes();
            marks.see(name);
            if !matches!(name, b"." | b"..") && !crate::name::is_git(name) {
                names.push((name.to_vec(), entry.file_type()));
            }
        }
        // What only snapshots leave out is no concern of git's.
        marks.own = false;
        let here = path.strip_suffix(b"/").unwrap_or(path);
        // Another repository is one thing to git, unless it is a submodule, which is tracked.
        if marks.repository && !path.is_empty() {
            let is_repository = rustix::fs::statat(&directory, ".git/HEAD", AtFlags::SYMLINK_NOFOLLOW).is_ok()
                || rustix::fs::statat(&directory, ".git", AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
            if is_repository {
                let is_known = self.tracked.contains(here);
                return if is_known { Found::Directories(Vec::new()) } else { Found::Stranger };
            }
            marks.repository = false;
        }
        let rules = self.reader.beneath(rules, directory.as_fd(), path_of(here), marks, unheeded);
        let mut inner = Vec::new();
        for (name, kind) in names {
            let whole = [path, &name].concat();
            let kind = match kind {
                FileType::Unknown => match rustix::fs::statat(&directory, path_of(&name), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            let is_directory = kind == FileType::Directory;
            if self.tracked.contains(&*whole) && !is_directory {
                continue;
            }
            if rules.exclude(path_of(&whole), is_directory) {
                continue;
            }
            match kind {
                FileType::Directory => inner.push(([&whole[..], b"/"].concat(), Arc::clone(&rules))),
                FileType::RegularFile | FileType::Symlink => return Found::Stranger,
                // Sockets and the like are nothing to git.
                _ => {}
            }
        }
        Found::Directories(inner)
    }

    fn open(&self, path: &[u8]) -> Option<OwnedFd> {
        let path = if path.is_empty() { Path::new(".") } else { path_of(path) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve).ok()
    }
}
