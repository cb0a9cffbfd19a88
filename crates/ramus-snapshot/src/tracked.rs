//! Which files git tracks, as the index of a repository says: they are covered whatever its ignore files say.
//!
//! Only the paths are read, and compared where they stand: an index of many files costs a look at each of its bytes.

use std::ops::Range;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::rules::{LONGEST_NAME, content};

/// An index with more bytes is not read.
const LARGEST_INDEX: u64 = 256 << 20;

/// The most files.
const MOST: usize = 1_000_000;

/// What the look of a file takes, before the name of its content.
const LOOK: usize = 40;

/// The paths of an index, in order.
pub(crate) struct Tracked {
    bytes: Vec<u8>,
    paths: Vec<Range<usize>>,
}

impl Tracked {
    /// Reads what a repository tracks; none when it has no index, or a damaged one.
    pub(crate) fn of(repository: &Path) -> Option<Self> {
        index(repository).and_then(Self::read)
    }

    fn read(bytes: Vec<u8>) -> Option<Self> {
        // The index does not say how long the names of content are.
        let (spelled, paths) = [20, 32].into_iter().find_map(|name| paths(&bytes, name))?;
        Some(Self { bytes: spelled.unwrap_or(bytes), paths })
    }

    /// Says whether a file is tracked, or anything in a directory.
    pub(crate) fn has(&self, path: &[u8], is_directory: bool) -> bool {
        let path = if is_directory { [path, b"/"].concat() } else { path.to_vec() };
        let at = self.paths.partition_point(|one| self.path(one) < path.as_slice());
        let found = self.paths.get(at).map(|one| self.path(one));
        found.is_some_and(|found| if is_directory { found.starts_with(&path) } else { found == path })
    }

    fn path(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}

/// Paths that are spelled out elsewhere than in the index, if they are, and where each is.
type Found = (Option<Vec<u8>>, Vec<Range<usize>>);

fn paths(bytes: &[u8], name: usize) -> Option<Found> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(4)?, usize::try_from(number(8)?).ok().filter(|count| *count <= MOST)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut spelled) = (12, Vec::new());
    let mut paths: Vec<Range<usize>> = Vec::with_capacity(count.min(bytes.len() / LOOK));
    for _ in 0..count {
        let start = at;
        let flags = bytes.get(start + LOOK + name..)?.first()?;
        at = start + LOOK + name + if flags & 0x40 != 0 && version >= 3 { 4 } else { 2 };
        if version == 4 {
            let before = paths.last().cloned().unwrap_or_default();
            let cut = cut(bytes, &mut at)?;
            let kept = before.start..before.end.checked_sub(cut).filter(|end| *end >= before.start)?;
            let from = spelled.len();
            spelled.extend_from_within(kept);
            let rest = bytes.get(at..)?;
            let len = memchr::memchr(0, rest)?;
            spelled.extend_from_slice(rest.get(..len)?);
            at += len + 1;
            paths.push(from..spelled.len());
        } else {
            let len = memchr::memchr(0, bytes.get(at..)?)?;
            paths.push(at..at + len);
            at = start + (at + len - start + 8) / 8 * 8;
        }
    }
    let all = if version == 4 { &spelled } else { bytes };
    let path = |range: &Range<usize>| all.get(range.clone()).unwrap_or_default();
    let is_sound = paths.is_sorted_by(|one, next| path(one) <= path(next)) && at <= bytes.len();
    let is_whole = paths.iter().all(|one| !one.is_empty());
    (is_sound && is_whole).then_some((if version == 4 { Some(spelled) } else { None }, paths))
}

/// How much of the path before goes.
fn cut(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *bytes.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut cut = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next()?;
        cut = cut.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(cut)
}

/// Reads the index of a repository. `.git` may be a file that names the directory where it is.
fn index(repository: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let directory = rustix::fs::openat2(rustix::fs::CWD, repository, flags, Mode::empty(), resolve).ok()?;
    match content(Some(directory.as_fd()), Path::new(".git/index"), LARGEST_INDEX) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTDIR) => {}
        found => return found.ok()?,
    }
    let named = content(Some(directory.as_fd()), Path::new(".git"), LONGEST_NAME).ok()??;
    let named = String::from_utf8(named).ok()?;
    let named = named.lines().next()?.trim_end().strip_prefix("gitdir: ")?;
    content(None, &repository.join(named).join("index"), LARGEST_INDEX).ok()?
}
