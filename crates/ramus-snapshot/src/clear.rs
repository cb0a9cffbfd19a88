//! Removing whatever has a name, with everything in it: no link is followed, and nothing outside is touched, whoever moves
//! things about meanwhile.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

use crate::known::path_of;

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

/// Removes what has a name in a directory. What is gone already is as good.
pub(crate) fn clear(parent: BorrowedFd<'_>, name: &Path) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(NAMES);
    // Each with whether what is in it was removed.
    let mut open = vec![(name.to_owned(), false)];
    while let Some((path, is_hollow)) = open.pop() {
        let (above, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
        let above = match directory(parent, above) {
            Err(Errno::NOENT) => continue,
            above => above?,
        };
        let flags = if is_hollow { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match rustix::fs::unlinkat(&above, name, flags) {
            Ok(()) | Err(Errno::NOENT) => continue,
            // Some systems say the one, some the other, of a directory.
            Err(Errno::ISDIR | Errno::PERM) if !is_hollow => {}
            Err(error) => return Err(error.into()),
        }
        allow(&above, Path::new(name));
        let inner = directory(parent, &path)?;
        open.push((path.clone(), true));
        let mut entries = RawDir::new(&inner, buffer.spare_capacity_mut());
        let mut rest = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                rest.push((path_of(entry.file_name().to_bytes()).to_owned(), entry.file_type()));
            }
        }
        for (name, kind) in rest {
            let is_gone = kind != FileType::Directory && rustix::fs::unlinkat(&inner, &name, AtFlags::empty()).is_ok();
            if !is_gone {
                open.push((path.join(name), false));
            }
        }
    }
    Ok(())
}

/// A directory that its owner closed is opened again: it goes.
fn allow(above: &OwnedFd, name: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(inner) = rustix::fs::openat(above, name, flags, Mode::empty()) {
        let _ = rustix::fs::fchmod(&inner, Mode::RWXU);
        return;
    }
    // What may not be read cannot be opened, but named by what it is.
    if let Ok(inner) = rustix::fs::openat(above, name, flags | OFlags::PATH, Mode::empty()) {
        use std::os::fd::AsRawFd as _;
        let path: PathBuf = format!("/proc/self/fd/{}", inner.as_raw_fd()).into();
        let _ = rustix::fs::chmod(&path, Mode::RWXU);
    }
}

fn directory(parent: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(parent.as_fd(), path, flags, Mode::empty(), resolve)
}
