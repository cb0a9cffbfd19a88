//! What is left out of snapshots: ignore files, as git reads them, but read as hostile.
//!
//! No link is followed, nothing but a plain file is opened, and how much is read is bounded. What is not heeded is told:
//! then more is kept than was meant, never less.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::known::path_bytes;
use crate::tracked::Tracked;
use crate::walk::Uncovered;

/// A file with more bytes is none that a person wrote.
const LARGEST: u64 = 256 << 10;

/// All of them together; a pattern costs much more than its bytes.
const MOST: u64 = 4 << 20;

/// A file with more bytes names no directory.
pub(crate) const LONGEST_NAME: u64 = 4 << 10;

/// The ignore files of a directory, and those above it.
#[derive(Default)]
pub(crate) struct Rules {
    above: Option<Arc<Self>>,
    /// `.ignore`, which counts before all that is git's.
    own: Option<Gitignore>,
    /// `.gitignore`.
    git: Option<Gitignore>,
    /// `.git/info/exclude`, or what the user leaves out everywhere.
    exclude: Option<Gitignore>,
    /// Whether a repository starts here: what git reads above it does not count.
    is_top: bool,
    /// Where that is: its path in the outermost repository, and what it tracks, which is read when somebody asks.
    repository: Option<(PathBuf, PathBuf, OnceLock<Option<Tracked>>)>,
    /// Whether all of this is left out, but for what git tracks.
    is_within: bool,
}

impl Rules {
    /// Says whether a path is left out.
    pub(crate) fn exclude(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_within {
            return true;
        }
        let chain = || std::iter::successors(Some(self), |rules| rules.above.as_deref());
        let verdict = |file: &Option<Gitignore>| match file.as_ref()?.matched(path, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        if let Some(verdict) = chain().find_map(|rules| verdict(&rules.own)) {
            return verdict;
        }
        let mut is_beyond = false;
        let of_git = |rules: &Self| {
            let counts = !is_beyond;
            is_beyond |= rules.is_top;
            verdict(&rules.git).filter(|_| counts)
        };
        chain()
            .find_map(of_git)
            .or_else(|| chain().find(|rules| rules.is_top).and_then(|top| verdict(&top.exclude)))
            .or_else(|| chain().last().and_then(|last| verdict(&last.exclude)))
            .unwrap_or_default()
    }
}

impl Rules {
    /// Says whether git tracks a path, or something in it, so that no ignore file leaves it out.
    pub(crate) fn tracks(&self, path: &Path, is_directory: bool) -> bool {
        let chain = || std::iter::successors(Some(self), |rules| rules.above.as_deref());
        // What somebody leaves out of snapshots is left out.
        let own = |rules: &Self| match rules.own.as_ref()?.matched(path, is_directory) {
            Match::None => None,
            verdict => Some(verdict.is_ignore()),
        };
        if chain().find_map(own).unwrap_or_default() {
            return false;
        }
        let Some((inside, place, tracked)) = chain().find_map(|rules| rules.repository.as_ref()) else { return false };
        let Ok(path) = path.strip_prefix(inside) else { return false };
        let tracked = tracked.get_or_init(|| Tracked::of(place));
        tracked.as_ref().is_some_and(|tracked| tracked.has(path_bytes(path), is_directory))
    }

    /// The rules in a directory that is left out, but for what git tracks in it.
    pub(crate) fn within(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { above: Some(Arc::clone(self)), is_within: true, ..Self::default() })
    }
}

/// What a directory has that decides what is left out beneath it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks {
    pub(crate) own: bool,
    pub(crate) git: bool,
    pub(crate) repository: bool,
}

impl Marks {
    /// Notices a name.
    pub(crate) fn see(&mut self, name: &[u8]) {
        match name {
            b".ignore" => self.own = true,
            b".gitignore" => self.git = true,
            b".git" => self.repository = true,
            _ => {}
        }
    }

    fn of(directory: BorrowedFd<'_>) -> Self {
        let has = |name: &str| rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok();
        Self { own: has(".ignore"), git: has(".gitignore"), repository: has(".git") }
    }

    fn any(self) -> bool {
        self.own || self.git || self.repository
    }
}

/// Reads ignore files.
#[derive(Default)]
pub(crate) struct RuleReader {
    read: AtomicU64,
    /// The outermost repository, or the directory that is looked at when it is in none.
    outermost: OnceLock<PathBuf>,
}

/// Files that were not heeded, and why.
pub(crate) type Unheeded = Vec<Uncovered>;

impl RuleReader {
    /// Reads what counts above a directory: the files of the repository it is in, and the user's own. Returns the path of
    /// the directory in that repository too.
    pub(crate) fn above(&self, root: &Path, unheeded: &mut Unheeded) -> (Arc<Rules>, PathBuf) {
        let exclude = gitconfig_excludes_path().and_then(|path| self.file(root, None, &path, unheeded));
        let mut rules = Arc::new(Rules { exclude, ..Rules::default() });
        let is_top = |path: &&Path| path.join(".git").symlink_metadata().is_ok();
        let _ = self.outermost.set(root.ancestors().find(is_top).unwrap_or(root).to_owned());
        let Some(top) = root.ancestors().find(is_top).filter(|top| *top != root) else {
            return (rules, PathBuf::new());
        };
        let inside = root.strip_prefix(top).unwrap_or(Path::new(""));
        let mut at = PathBuf::new();
        for part in std::iter::once(None).chain(inside.components().map(Some)) {
            if let Some(part) = part {
                at.push(part);
            }
            let here = top.join(&at);
            // The directory itself is read when it is walked through.
            if here == root {
                break;
            }
            if let Ok(directory) = File::open(&here) {
                rules = self.beneath(&rules, directory.as_fd(), &at, Marks::of(directory.as_fd()), unheeded);
            }
        }
        (rules, inside.to_owned())
    }

    /// Adds the files of a directory, whose path starts at the top of the repository.
    pub(crate) fn beneath(
        &self,
        above: &Arc<Rules>,
        directory: BorrowedFd<'_>,
        path: &Path,
        marks: Marks,
        unheeded: &mut Unheeded,
    ) -> Arc<Rules> {
        if !marks.any() {
            return Arc::clone(above);
        }
        let mut file = |is_there: bool, name: &str| {
            is_there.then(|| self.file(path, Some(directory), Path::new(name), unheeded)).flatten()
        };
        let (own, git) = (file(marks.own, ".ignore"), file(marks.git, ".gitignore"));
        let exclude = file(marks.repository, ".git/info/exclude");
        let exclude = exclude.or_else(|| {
            let outside = marks.repository.then(|| linked(directory)).flatten()?;
            self.file(path, None, &outside.join("info").join("exclude"), unheeded)
        });
        let outermost = self.outermost.get().filter(|_| marks.repository);
        let repository = outermost.map(|outermost| (path.to_owned(), outermost.join(path), OnceLock::new()));
        let is_within = above.is_within;
        Arc::new(Rules {
            above: Some(Arc::clone(above)),
            own,
            git,
            exclude,
            is_top: marks.repository,
            repository,
            is_within,
        })
    }

    /// Reads one file; none when it is not there or says nothing.
    fn file(
        &self,
        root: &Path,
        directory: Option<BorrowedFd<'_>>,
        path: &Path,
        unheeded: &mut Unheeded,
    ) -> Option<Gitignore> {
        let mut tell = |reason| {
            let path = if directory.is_some() { root.join(path) } else { path.to_owned() };
            unheeded.push(Uncovered { path, reason });
        };
        let text = match content(directory, path, LARGEST) {
            Ok(Some(text)) => text,
            Ok(None) => {
                tell("it is no plain file, or too large");
                return None;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            // `.git` may be a file.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTDIR) => return None,
            Err(_) => {
                tell("it cannot be read");
                return None;
            }
        };
        if self.read.fetch_add(text.len() as u64, Ordering::Relaxed) > MOST {
            tell("there are too many patterns");
            return None;
        }
        let (file, is_whole) = patterns(root, &text);
        if !is_whole {
            tell("a line of it is no pattern");
        }
        if file.is_none() {
            tell("its patterns are too complex");
        }
        file.filter(|file| !file.is_empty())
    }

    /// Adds the files that a directory had: what `.ignore` and `.gitignore` said. `place` is its path in the repository, and
    /// where it is.
    pub(crate) fn former(&self, above: &Arc<Rules>, place: (&Path, &Path), texts: [Option<Vec<u8>>; 2]) -> Arc<Rules> {
        let (path, directory) = place;
        let repository = directory.join(".git").symlink_metadata().is_ok();
        let open = || File::open(directory).ok();
        let marks = Marks { repository, ..Marks::default() };
        let mut rules = match repository.then(open).flatten() {
            Some(open) => self.beneath(above, open.as_fd(), path, marks, &mut Unheeded::new()),
            None if texts.iter().all(Option::is_none) => return Arc::clone(above),
            None => Arc::new(Rules { above: Some(Arc::clone(above)), ..Rules::default() }),
        };
        let heed = |text: Option<Vec<u8>>| {
            let text = text.filter(|text| text.len() as u64 <= LARGEST)?;
            let read = self.read.fetch_add(text.len() as u64, Ordering::Relaxed);
            if read > MOST { None } else { patterns(path, &text).0 }
        };
        let [own, git] = texts.map(heed);
        if let Some(rules) = Arc::get_mut(&mut rules) {
            (rules.own, rules.git) = (own, git);
        }
        rules
    }
}

/// Reads the lines of a file; none when they are too complex. Says whether each of them is a pattern.
fn patterns(root: &Path, text: &[u8]) -> (Option<Gitignore>, bool) {
    let mut builder = GitignoreBuilder::new(root);
    let mut is_whole = true;
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(line);
        is_whole &= line.is_ok_and(|line| builder.add_line(None, line).is_ok());
    }
    (builder.build().ok(), is_whole)
}

/// Reads a plain file of bounded size without following a link; none when it is something else.
pub(crate) fn content(directory: Option<BorrowedFd<'_>>, path: &Path, largest: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = match directory {
        Some(directory) => {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve)
        }
        None => rustix::fs::open(path, flags, Mode::empty()),
    };
    let file = match opened {
        Err(Errno::LOOP) => return Ok(None),
        opened => File::from(opened?),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > largest {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= largest).then_some(bytes))
}

/// Where a linked worktree keeps what all worktrees share: `.git` is a file that names a directory, in which another file
/// may name it. Both are read for a name, and nothing but patterns is read from there.
fn linked(directory: BorrowedFd<'_>) -> Option<PathBuf> {
    let line = |bytes: Vec<u8>| String::from_utf8(bytes).ok()?.lines().next().map(|line| line.trim_end().to_owned());
    let named = line(content(Some(directory), Path::new(".git"), LONGEST_NAME).ok()??)?;
    let named = PathBuf::from(named.strip_prefix("gitdir: ")?);
    // A relative one is that of a submodule, which shares nothing.
    if !named.is_absolute() {
        return None;
    }
    let common = line(content(None, &named.join("commondir"), LONGEST_NAME).ok()??)?;
    Some(named.join(common))
}
