//! Walking through a directory: which files there are, and which of them look different than before.
//!
//! Links are not followed, not even one that takes the place of a directory meanwhile; git's own directories are left
//! out, ignore files are honoured, and nothing is read but those, names and looks.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::beside::Beside;
use crate::error::SnapshotError;
use crate::known::{Known, Look, path_bytes, path_of};
use crate::modes::Modes;
use crate::rules::{RuleReader, Rules, Unheeded};
use crate::visit::Visitor;

/// How often a directory is opened that others move about.
const TRIES: usize = 8;

/// What is kept at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files with more bytes are left out, and told.
    pub file: u64,
    /// With more files, or more directories, there is no snapshot.
    pub files: usize,
    /// With more bytes that must be read there is no snapshot.
    pub bytes: u64,
    /// With more bytes in the store there is no further snapshot.
    pub store: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file: 8 << 20, files: 400_000, bytes: 4 << 30, store: 16 << 30 }
    }
}

/// Something that is in the directory and not in the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uncovered {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub reason: &'static str,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Walked {
    /// Files that are new or look different.
    pub(crate) changed: Vec<(Vec<u8>, Look)>,
    /// Known files that still look the same, by number; those that say nothing any more are among them.
    pub(crate) same: Vec<bool>,
    /// How many files look the same.
    pub(crate) known: usize,
    pub(crate) uncovered: Vec<Uncovered>,
    /// What is there and left out on purpose.
    pub(crate) left_out: Vec<Vec<u8>>,
    /// Directories among that which stand for some of what is in them.
    pub(crate) many: BTreeSet<Vec<u8>>,
    /// Directories with nothing in them.
    pub(crate) hollow: Vec<Vec<u8>>,
    /// Files that are not as new ones are, and who may do what with them.
    pub(crate) odd: Vec<(Vec<u8>, u32)>,
    /// What new files may not do.
    pub(crate) mask: u32,
    pub(crate) unheeded: Unheeded,
}

impl Walked {
    /// Returns what is kept beside the directory.
    pub(crate) fn beside(self) -> Beside {
        Beside::of((self.left_out, self.many), &self.uncovered, self.hollow, Modes::new(self.mask, self.odd))
    }

    /// Says whether nothing changed, to all appearances.
    pub(crate) fn is_same(&self) -> bool {
        self.changed.is_empty() && self.same.iter().all(|same| *same)
    }
}

/// What is walked through.
pub(crate) struct Ground<'a> {
    pub(crate) root: &'a File,
    pub(crate) path: &'a Path,
    /// Directories beneath the root that are left out.
    pub(crate) apart: &'a [PathBuf],
    pub(crate) limits: Limits,
}

/// Walks through a directory.
pub(crate) fn walk(ground: &Ground<'_>, known: &Known) -> Result<Walked, SnapshotError> {
    let reader = RuleReader::default();
    let mut unheeded = Unheeded::new();
    let (rules, inside) = reader.above(ground.path, &mut unheeded);
    let mut prefix = path_bytes(&inside).to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    let mask = crate::modes::mask();
    let walk = Walk {
        ground,
        mask,
        known,
        reader,
        prefix,
        same: known.passed().into_iter().map(AtomicBool::new).collect(),
        files: AtomicUsize::new(0),
        directories: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
        queue: Mutex::new(Queue { open: vec![(Vec::new(), rules)], busy: 0, trouble: None }),
        ready: Condvar::new(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let found: Result<Vec<Walked>, SnapshotError> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| walk.work())).collect();
        let own = walk.work();
        others.into_iter().map(|other| other.join().map_err(|_| died())).chain([Ok(own)]).collect()
    });
    let Walk { same, queue, .. } = walk;
    let queue = queue.into_inner().map_err(|_| died())?;
    if let Some(trouble) = queue.trouble {
        return Err(trouble);
    }
    let found = found?;
    let mut all = Walked { unheeded, mask, ..Walked::default() };
    for mut one in found {
        all.changed.append(&mut one.changed);
        all.known += one.known;
        all.uncovered.append(&mut one.uncovered);
        all.left_out.append(&mut one.left_out);
        all.many.append(&mut one.many);
        all.hollow.append(&mut one.hollow);
        all.odd.append(&mut one.odd);
        all.unheeded.append(&mut one.unheeded);
    }
    all.uncovered.sort();
    all.unheeded.sort();
    all.same = same.into_iter().map(AtomicBool::into_inner).collect();
    Ok(all)
}

fn died() -> SnapshotError {
    SnapshotError::Damaged { reason: "a walker died".into() }
}

/// Whoever looks at a directory, so that nobody waits for them when they are gone.
struct Busy<'a>(&'a Walk<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.busy -= 1;
        if std::thread::panicking() {
            queue.trouble.get_or_insert_with(died);
        }
        drop(queue);
        self.0.ready.notify_all();
    }
}

/// Directories that nobody has looked at, with the rules above them. A path ends with a slash.
struct Queue {
    open: Vec<(Vec<u8>, Arc<Rules>)>,
    busy: usize,
    trouble: Option<SnapshotError>,
}

pub(crate) struct Walk<'a> {
    pub(crate) ground: &'a Ground<'a>,
    pub(crate) known: &'a Known,
    pub(crate) mask: u32,
    pub(crate) reader: RuleReader,
    /// The path of the root in its repository.
    pub(crate) prefix: Vec<u8>,
    pub(crate) same: Vec<AtomicBool>,
    pub(crate) files: AtomicUsize,
    pub(crate) directories: AtomicUsize,
    pub(crate) bytes: AtomicU64,
    queue: Mutex<Queue>,
    ready: Condvar,
}

impl Walk<'_> {
    /// Looks at directories until there is none left.
    fn work(&self) -> Walked {
        let mut visitor = Visitor::new(self);
        while let Some((path, rules)) = self.next() {
            let _busy = Busy(self);
            let done = visitor.directory(&path, &rules);
            let mut queue = self.queue();
            match done {
                Ok(mut inner) => queue.open.append(&mut inner),
                Err(error) => drop(queue.trouble.get_or_insert(error)),
            }
        }
        visitor.found
    }

    fn next(&self) -> Option<(Vec<u8>, Arc<Rules>)> {
        let mut queue = self.queue();
        loop {
            if queue.trouble.is_some() {
                return None;
            }
            if let Some(one) = queue.open.pop() {
                queue.busy += 1;
                return Some(one);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { Path::new(".") } else { path_of(path) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let open = || rustix::fs::openat2(self.ground.root, path, flags, Mode::empty(), resolve);
        // The system asks to try again when something was moved at the same moment.
        (1..TRIES).map(|_| open()).find(|opened| !matches!(opened, Err(Errno::AGAIN))).unwrap_or_else(open)
    }
}
