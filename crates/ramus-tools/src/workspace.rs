//! The workspace: the one directory that file tools reach, and how they reach it. Paths are resolved by the kernel beneath an
//! open descriptor of the root, once when a call is planned and once, without following any link, when it runs. What a link
//! pointed to in between does not matter.

mod replace;
mod seen;

pub use replace::Identity;
pub use seen::{Freshness, Seen};

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;
use thiserror::Error;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// It leads out of the workspace.
    #[error("{0} is outside the workspace")]
    Outside(String),
    /// It is kept from tools.
    #[error("{0} is protected")]
    Protected(String),
    /// There is nothing there.
    #[error("{0} does not exist")]
    Missing(String),
    /// It is no regular file, or no directory where one is needed.
    #[error("{0} is not {1}")]
    Kind(String, &'static str),
    /// It was something else when the call was judged.
    #[error("{0} changed while it was being used; try again")]
    Moved(String),
    /// The system says no.
    #[error("{0}: {1}")]
    System(String, String),
}

/// A place in the workspace: the path without links, relative to the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(PathBuf);

impl Place {
    /// Returns the path as text, `.` for the root.
    pub fn text(&self) -> String {
        if self.0.as_os_str().is_empty() { ".".to_owned() } else { self.0.to_string_lossy().into_owned() }
    }

    /// Returns the path, relative to the root.
    pub fn path(&self) -> &Path {
        if self.0.as_os_str().is_empty() { Path::new(".") } else { &self.0 }
    }
}

/// What a call means to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Look at it.
    Read,
    /// Change it.
    Write,
}

/// The directory that tools work in.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    path: PathBuf,
    protected: Vec<PathBuf>,
}

impl Workspace {
    /// Opens a workspace. `protected` are places that no tool may touch even if they are inside, such as the home of ramus.
    pub fn open(root: &Path, protected: &[PathBuf]) -> io::Result<Self> {
        let path = root.canonicalize()?;
        let root = openat(CWD, &path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        Ok(Self { root, path, protected: protected.iter().map(real).collect() })
    }

    /// Returns the root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds out which place a path means now. What does not exist yet is taken as it is written, beneath the deepest
    /// directory that does.
    pub fn resolve(&self, path: &str, intent: Intent) -> Result<Place, PlaceError> {
        let outside = || PlaceError::Outside(path.to_owned());
        let relative = match Path::new(path) {
            absolute if absolute.is_absolute() => absolute.strip_prefix(&self.path).map_err(|_| outside())?,
            relative => relative,
        };
        let mut missing = Vec::new();
        let mut existing = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let found = loop {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            match openat2(&self.root, existing, flags, Mode::empty(), beneath()) {
                Ok(found) => break found,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(self.explain(path, error)),
            }
            let Some(Component::Normal(name)) = existing.components().next_back() else { return Err(outside()) };
            missing.push(name.to_owned());
            existing = existing.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        };
        let mut place = self.real(&found, path)?;
        place.extend(missing.iter().rev());
        self.permit(&place, path, intent)?;
        Ok(Place(place))
    }

    /// Asks the kernel where a descriptor is.
    fn real(&self, found: &OwnedFd, path: &str) -> Result<PathBuf, PlaceError> {
        let real = std::fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd()))
            .map_err(|error| PlaceError::System(path.to_owned(), error.to_string()))?;
        let inside = real.strip_prefix(&self.path).map_err(|_| PlaceError::Outside(path.to_owned()))?;
        Ok(inside.to_owned())
    }

    fn permit(&self, place: &Path, path: &str, intent: Intent) -> Result<(), PlaceError> {
        let whole = self.path.join(place);
        let kept = self.protected.iter().any(|protected| whole.starts_with(protected));
        let git = |part: Component<'_>| {
            part.as_os_str().to_string_lossy().trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
        };
        if kept || intent == Intent::Write && place.components().any(git) {
            return Err(PlaceError::Protected(path.to_owned()));
        }
        Ok(())
    }

    fn explain(&self, path: &str, error: Errno) -> PlaceError {
        match error {
            Errno::XDEV | Errno::LOOP => PlaceError::Outside(path.to_owned()),
            Errno::NOENT => PlaceError::Missing(path.to_owned()),
            Errno::NOTDIR => PlaceError::Kind(path.to_owned(), "a directory"),
            error => PlaceError::System(path.to_owned(), error.to_string()),
        }
    }

    /// Opens a place without following links: it is where it was when it was resolved, or an error.
    fn open_place(&self, place: &Path, name: &str, flags: OFlags) -> Result<OwnedFd, PlaceError> {
        let path = if place.as_os_str().is_empty() { Path::new(".") } else { place };
        let resolve = beneath() | ResolveFlags::NO_SYMLINKS;
        openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve).map_err(|error| match error {
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR => PlaceError::Moved(name.to_owned()),
            error => self.explain(name, error),
        })
    }

    /// Opens a regular file to read it.
    pub fn open_file(&self, place: &Place) -> Result<File, PlaceError> {
        let name = place.text();
        let found = self.open_place(&place.0, &name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = fstat(&found).map_err(|error| self.explain(&name, error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(found)),
            FileType::Directory => Err(PlaceError::Kind(name, "a file but a directory; use list")),
            _ => Err(PlaceError::Kind(name, "a regular file")),
        }
    }

    /// Opens a directory.
    pub fn open_directory(&self, place: &Place) -> Result<OwnedFd, PlaceError> {
        self.open_place(&place.0, &place.text(), OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Returns the place of a path that a walk through the workspace found.
    pub fn place_of(&self, found: &Path) -> Option<Place> {
        Some(Place(found.strip_prefix(&self.path).ok()?.to_owned()))
    }

    /// Says whether a place may be looked at.
    pub fn may_read(&self, place: &Place) -> bool {
        self.permit(&place.0, "", Intent::Read).is_ok()
    }
}

fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS
}
