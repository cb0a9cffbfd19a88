//! Looking at many files: names relative to open directories, and two threads where there are many of them. Asking the
//! system about ten thousand files is most of what a list costs, so nothing here allocates per file.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};
use rustix::io::Errno;

use super::super::{Stat, Surveyed, Wanted};
use super::stat_of;

/// How many files are worth a second thread.
const FILES_WORTH_A_THREAD: usize = 600;

/// How many directories are.
const DIRECTORIES_WORTH_A_THREAD: usize = 64;

/// How many files a thread looks at before it takes more.
const CHUNK: usize = 256;

/// How many bytes of names the system tells at once.
const NAMES: usize = 1 << 16;

/// An open directory and the names in it that are wanted, each with the zero byte that ends it.
struct Opened {
    directory: OwnedFd,
    names: Vec<u8>,
    ends: Vec<usize>,
}

/// Some of the names of a directory.
struct Task {
    directory: usize,
    first: usize,
}

pub(super) fn stat_all(directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Surveyed>> {
    let open = |at: usize| directories.get(at).map(|directory| names_in(directory, wanted));
    let opened = shared_out(directories.len(), directories.len() >= DIRECTORIES_WORTH_A_THREAD, open);
    let opened: Vec<io::Result<Opened>> = opened.into_iter().flatten().collect();
    let tasks: Vec<Task> = opened
        .iter()
        .enumerate()
        .flat_map(|(directory, opened)| {
            let files = opened.as_ref().map_or(0, |opened| opened.ends.len());
            (0..files).step_by(CHUNK).map(move |first| Task { directory, first })
        })
        .collect();
    let files: usize = opened.iter().flatten().map(|opened| opened.ends.len()).sum();
    let look = |at: usize| {
        let task = tasks.get(at)?;
        Some(look_at(opened.get(task.directory)?.as_ref().ok()?, task.first))
    };
    let looked = shared_out(tasks.len(), files >= FILES_WORTH_A_THREAD, look);
    let mut found: Vec<io::Result<Surveyed>> = Vec::with_capacity(opened.len());
    let mut looked = tasks.iter().zip(looked).peekable();
    for (number, opened) in opened.into_iter().enumerate() {
        let mut of_directory = opened.map(|opened| (opened, Surveyed::default()));
        while let Some((task, stats)) = looked.next_if(|(task, _)| task.directory == number) {
            let Ok((opened, surveyed)) = &mut of_directory else { continue };
            match stats.unwrap_or_else(|| Ok(Vec::new())) {
                Ok(stats) => take(opened, task.first, &stats, surveyed),
                Err(error) => of_directory = Err(error.into()),
            }
        }
        found.push(of_directory.map(|(_, surveyed)| surveyed));
    }
    found
}

/// Does pieces of work, in two threads if there is enough of it, and returns what they came to in their order.
fn shared_out<T: Send>(pieces: usize, is_worth_a_thread: bool, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if !is_worth_a_thread {
        return (0..pieces).map(each).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::with_capacity(pieces);
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= pieces {
                return done;
            }
            done.push((at, each(at)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let second = scope.spawn(work);
        let mut done = work();
        done.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, done)| done).collect()
}

fn names_in(directory: &PathBuf, wanted: &Wanted) -> io::Result<Opened> {
    let directory = openat(CWD, directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (mut names, mut ends) = (Vec::new(), Vec::new());
    let mut buffer: Vec<u8> = Vec::with_capacity(NAMES);
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
fn look_at(opened: &Opened, first: usize) -> Result<Vec<Option<Stat>>, Errno> {
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
    (first..last).map(look).collect()
}

fn take(opened: &Opened, first: usize, stats: &[Option<Stat>], surveyed: &mut Surveyed) {
    for (at, stat) in (first..).zip(stats) {
        if let (Some(stat), Some((_, name))) = (stat, opened.name(at).split_last()) {
            surveyed.push(OsStr::from_bytes(name), *stat);
        }
    }
}
