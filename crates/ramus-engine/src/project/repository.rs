//! Reading the repository in one directory: `.git` is a directory, or a file that names one (worktrees, submodules).
//!
//! Nothing is followed twice and no link is followed at all, so there is no way round in a circle.

use std::ffi::OsStr;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

use ramus_model::Project;
use ramus_snapshot::{Dirtiness, WorkingCopy};
use rustix::fs::OFlags;

use super::{config, remote};
use crate::verb::info::GitState;

/// The longest file that names a directory: more than the longest path.
const LONGEST_POINTER: u64 = 1 << 13;

/// How much of a configuration is read. `origin` is near its start.
const LONGEST_CONFIG: u64 = 1 << 20;

/// How much of a list of branches and tags is read.
const LONGEST_PACKED: u64 = 16 << 20;

/// In front of the identity of a worktree that was added to a repository.
pub(super) const WORKTREE: &str = "worktree:";

/// What a directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// This repository.
    Here(Project),
    /// None.
    Absent,
    /// Something that cannot be read, or that nobody should rely on.
    Unclear,
}

/// Returns the file system a directory is on; none when it is no directory.
pub(super) fn directory_device(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(Metadata::is_dir).map(|metadata| metadata.dev())
}

/// Says which repository is in this very directory.
pub(super) fn at(root: &Path) -> Presence {
    match (git_in(root), root.to_str()) {
        (Git::Here(git), Some(root)) => Presence::Here(git.project(root)),
        (Git::Absent, _) => Presence::Absent,
        _ => Presence::Unclear,
    }
}

/// Returns how the repository in this very directory stands; the outer none when there is no repository here.
pub(super) fn state_at(root: &Path) -> Option<GitStanding> {
    match git_in(root) {
        Git::Here(git) => Some(git.state(root)),
        Git::Absent => None,
        Git::Unclear => Some(GitStanding::default()),
    }
}

/// The git directory of a directory.
enum Git {
    Here(Box<GitDirectory>),
    Absent,
    Unclear,
}

fn git_in(root: &Path) -> Git {
    let path = root.join(".git");
    let found = match std::fs::symlink_metadata(&path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Git::Absent;
        }
        Err(_) => return Git::Unclear,
    };
    // In a directory where everyone may write, anyone may plant a repository.
    if !std::fs::metadata(root).is_ok_and(|around| is_trusted(&found, around.uid())) {
        return Git::Unclear;
    }
    let git = if found.is_dir() {
        // git passes over a directory that only has the name.
        if !has_head(&path) {
            return Git::Absent;
        }
        Some(GitDirectory { own: path.clone(), common: path, metadata: found, is_worktree: false })
    } else if found.is_file() {
        GitDirectory::named_by(root, &path, found.uid())
    } else {
        None
    };
    git.map_or(Git::Unclear, |git| Git::Here(Box::new(git)))
}

/// What belongs to us or to whom the directory around it belongs was not planted by others.
fn is_trusted(found: &Metadata, around: u32) -> bool {
    static USER: LazyLock<u32> = LazyLock::new(|| rustix::process::geteuid().as_raw());
    found.uid() == *USER || found.uid() == around
}

fn has_head(git: &Path) -> bool {
    std::fs::symlink_metadata(git.join("HEAD")).is_ok_and(|head| !head.is_dir())
}

/// How a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitStanding {
    pub(crate) git: GitState,
    /// Why it is not known whether files differ from what was committed last.
    pub(crate) unclear: Option<&'static str>,
}

/// What is checked out.
enum Head {
    At(String),
    /// A branch without commits.
    Unborn,
    Unclear,
}

/// The directory that makes a directory a working copy.
struct GitDirectory {
    /// The one of this working copy.
    own: PathBuf,
    /// The one that holds the configuration: the same, except for worktrees that were added to a repository.
    common: PathBuf,
    /// Of `own`.
    metadata: Metadata,
    is_worktree: bool,
}

impl GitDirectory {
    /// Follows a `.git` file.
    fn named_by(root: &Path, file: &Path, owner: u32) -> Option<Self> {
        let text = pointer(file).ok()?;
        let own = root.join(path_in(text.strip_prefix(b"gitdir:")?)?);
        let metadata = trusted_directory(&own, owner).filter(|_| has_head(&own))?;
        let common = match pointer(&own.join("commondir")) {
            Ok(text) => own.join(path_in(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(Self { common: own.clone(), own, metadata, is_worktree: false });
            }
            Err(_) => return None,
        };
        trusted_directory(&common, owner)?;
        Some(Self { own, common, metadata, is_worktree: true })
    }

    fn project(&self, root: &str) -> Project {
        let address = read(&self.common.join("config"), LONGEST_CONFIG).ok().and_then(|text| config::origin(&text));
        // A relative address is meant from where the repository was made.
        let base = if self.is_worktree { self.common.parent().unwrap_or(&self.own) } else { Path::new(root) };
        Project {
            root: root.to_owned(),
            remote: address.and_then(|address| remote::normal(&address, base)),
            git: self.identity(),
        }
    }

    /// Says which commit is checked out, and whether files differ from it.
    fn state(&self, root: &Path) -> GitStanding {
        let head = self.head();
        let dirtiness = match &head {
            Head::Unclear => Dirtiness::Unknown("it is not known which commit is checked out"),
            Head::At(commit) => self.dirtiness(root, Some(commit)),
            Head::Unborn => self.dirtiness(root, None),
        };
        let (dirty, unclear) = match dirtiness {
            Dirtiness::Clean => (Some(false), None),
            Dirtiness::Dirty => (Some(true), None),
            Dirtiness::Unknown(reason) => (None, Some(reason)),
        };
        let commit = if let Head::At(commit) = head { Some(commit) } else { None };
        GitStanding { git: GitState { commit, dirty }, unclear }
    }

    fn dirtiness(&self, root: &Path, head: Option<&str>) -> Dirtiness {
        let config = match read(&self.common.join("config"), LONGEST_CONFIG) {
            Ok(config) => config,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(_) => return Dirtiness::Unknown("the configuration of the repository cannot be read"),
        };
        if config::core(&config, b"worktree").is_some() {
            return Dirtiness::Unknown("the files of the repository are elsewhere");
        }
        let heeds_modes = !config::core(&config, b"filemode")
            .is_some_and(|value| ["false", "no", "off", "0"].iter().any(|no| value.eq_ignore_ascii_case(no)));
        WorkingCopy { top: root, own: &self.own, common: &self.common, head, heeds_modes }.dirtiness()
    }

    /// Returns the commit that is checked out, as files say it. What they do not say plainly is not known.
    fn head(&self) -> Head {
        let known = |text: &[u8]| commit(text).map_or(Head::Unclear, Head::At);
        let Ok(text) = pointer(&self.own.join("HEAD")) else { return Head::Unclear };
        let Some(name) = text.strip_prefix(b"ref:") else { return known(&text) };
        let name = path_in(name).filter(|name| {
            name.starts_with("refs") && name.components().all(|part| matches!(part, Component::Normal(_)))
        });
        // There may be other ways to keep branches.
        let Some(name) = name.filter(|_| !self.common.join("reftable").exists()) else { return Head::Unclear };
        // Branches are shared by all worktrees; a few refs are a worktree's own.
        for git in [&self.own, &self.common] {
            match pointer(&git.join(name)) {
                Ok(text) => return known(&text),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(_) => return Head::Unclear,
            }
        }
        let packed = match read(&self.common.join("packed-refs"), LONGEST_PACKED) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Head::Unborn,
            Ok(packed) if (packed.len() as u64) < LONGEST_PACKED => packed,
            _ => return Head::Unclear,
        };
        let line = packed.split(|byte| *byte == b'\n').find_map(|line| {
            let (id, rest) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
            (rest.trim_ascii() == name.as_os_str().as_bytes()).then_some(id)
        });
        line.map_or(Head::Unborn, known)
    }

    /// The directory as the file system knows it, whatever its name. Numbers of directories are used again, so without
    /// the time of birth they prove nothing and there is no identity.
    fn identity(&self) -> Option<String> {
        let born = self.metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let identity = born.filter(|born| !born.is_zero()).map(|born| {
            let (device, inode) = (self.metadata.dev(), self.metadata.ino());
            format!("{device}:{inode}:{}.{:09}", born.as_secs(), born.subsec_nanos())
        });
        // That it is a worktree is known in any case, and matters.
        if self.is_worktree { Some(format!("{WORKTREE}{}", identity.unwrap_or_default())) } else { identity }
    }
}

/// A directory, no link to one, that belongs to us or to the `owner` of what named it.
fn trusted_directory(path: &Path, owner: u32) -> Option<Metadata> {
    std::fs::symlink_metadata(path).ok().filter(|found| found.is_dir() && is_trusted(found, owner))
}

/// Reads a file that holds one path; one that is too long holds none.
fn pointer(path: &Path) -> io::Result<Vec<u8>> {
    let text = read(path, LONGEST_POINTER)?;
    if text.len() as u64 == LONGEST_POINTER { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

/// Reads the name of a commit.
fn commit(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let is_name = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| text.to_ascii_lowercase())
}

fn path_in(text: &[u8]) -> Option<&Path> {
    let text = text.trim_ascii();
    let is_path = !text.is_empty() && !text.iter().any(u8::is_ascii_control);
    is_path.then(|| Path::new(OsStr::from_bytes(text)))
}

/// Reads the start of a regular file. A pipe would make us wait and a link may lead anywhere; both are errors.
fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
