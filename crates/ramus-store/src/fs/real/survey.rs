//! Looking at many files: names relative to open directories, and two threads where there are many of them. Asking the
//! system about ten thousand files is most of what a list costs, so nothing here allocates per file.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};
use rustix::io::Errno;

use super::super::{Stat, Surveyed, Wanted};
use super::stat_of;

/// How many directories are worth a second thread.
const WORTH_A_THREAD: usize = 8;

/// Of how many files whoever lists a directory asks at once. The rest of a long one is shared out.
const CHUNK: usize = 512;

/// How many bytes of names the system tells at once.
const NAMES: usize = 1 << 16;

/// An open directory and the names in it that are wanted, each with the zero byte that ends it.
struct Opened {
    directory: OwnedFd,
    names: Vec<u8>,
    ends: Vec<usize>,
}

/// A directory that was listed, and the number of the first name that nobody has asked about.
type Rest = (usize, Arc<Opened>, usize);

/// What came of some names of a directory: the directory, the first name, and what is said about each.
type Stats = (Arc<Opened>, usize, Vec<Option<Stat>>);

/// The same, with the number of the directory.
type Looked = (usize, io::Result<Stats>);

/// Work that threads share.
struct Survey<'w> {
    directories: &'w [PathBuf],
    wanted: &'w Wanted,
    next: AtomicUsize,
    rests: Mutex<Vec<Rest>>,
}

pub(super) fn stat_all(directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Surveyed>> {
    let survey = Survey { directories, wanted, next: AtomicUsize::new(0), rests: Mutex::new(Vec::new()) };
    let looked = match directories.len() < WORTH_A_THREAD {
        true => survey.work(),
        // Waking a processor takes a while, so it is done once, and both take what is left as they come.
        false => std::thread::scope(|scope| {
            let second = scope.spawn(|| survey.work());
            let mut looked = survey.work();
            looked.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            looked
        }),
    };
    let mut found: Vec<io::Result<Surveyed>> = directories.iter().map(|_| Ok(Surveyed::default())).collect();
    for (number, result) in looked {
        let Some(of_directory) = found.get_mut(number) else { continue };
        match (result, &mut *of_directory) {
            (Ok((opened, first, stats)), Ok(surveyed)) => take(&opened, first, &stats, surveyed),
            (Err(error), of_directory) => *of_directory = Err(error),
            (Ok(_), Err(_)) => {}
        }
    }
    found
}

impl Survey<'_> {
    /// Lists directories and asks about their files until there is nothing left to do.
    fn work(&self) -> Vec<Looked> {
        let mut looked = Vec::with_capacity(self.directories.len());
        let mut buffer = Vec::with_capacity(NAMES);
        while let Some((number, directory)) = self.directory() {
            match names_in(directory, self.wanted, &mut buffer) {
                Err(error) => looked.push((number, Err(error))),
                Ok(opened) => {
                    let opened = Arc::new(opened);
                    let rests = (CHUNK..opened.ends.len()).step_by(CHUNK);
                    self.rests().extend(rests.map(|first| (number, Arc::clone(&opened), first)));
                    looked.push((number, look_at(opened, 0)));
                }
            }
        }
        // Whoever is still listing takes care of what it finds.
        while let Some((number, opened, first)) = self.rest() {
            looked.push((number, look_at(opened, first)));
        }
        looked
    }

    fn directory(&self) -> Option<(usize, &PathBuf)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.directories.get(number).map(|directory| (number, directory))
    }

    fn rest(&self) -> Option<Rest> {
        self.rests().pop()
    }

    fn rests(&self) -> MutexGuard<'_, Vec<Rest>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names_in(directory: &PathBuf, wanted: &Wanted, buffer: &mut Vec<u8>) -> io::Result<Opened> {
    let directory = openat(CWD, directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (mut names, mut ends) = (Vec::new(), Vec::new());
    let mut entries = RawDir::new(&directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if entry.file_type() != FileType::Directory && wanted(OsStr::from_bytes(name.to_bytes())) {
            names.extend_from_slice(name.to_bytes_with_nul());
            ends.push(names.len());
        }
    }
    Ok(Opened { directory, names, ends })
}

impl Opened {
    /// Returns the name of a file, with the zero byte that ends it.
    fn name(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.ends.get(at).and_then(|end| self.names.get(start..*end)).unwrap_or_default()
    }
}

/// Asks about some files. None for one that is gone, or no file after all.
fn look_at(opened: Arc<Opened>, first: usize) -> io::Result<Stats> {
    let last = (first + CHUNK).min(opened.ends.len());
    let look = |at: usize| {
        let Ok(name) = CStr::from_bytes_with_nul(opened.name(at)) else { return Ok(None) };
        match statat(&opened.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => Ok(None),
            Ok(stat) => Ok(Some(stat_of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let stats = (first..last).map(look).collect::<Result<Vec<_>, Errno>>()?;
    Ok((opened, first, stats))
}

fn take(opened: &Opened, first: usize, stats: &[Option<Stat>], surveyed: &mut Surveyed) {
    for (at, stat) in (first..).zip(stats) {
        if let (Some(stat), Some((_, name))) = (stat, opened.name(at).split_last()) {
            surveyed.push(OsStr::from_bytes(name), *stat);
        }
    }
}
