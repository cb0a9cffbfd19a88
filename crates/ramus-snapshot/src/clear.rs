//! Removing whatever has a name, with everything in it: no link is followed, and nothing outside is touched, whoever moves
//! things about meanwhile. Whoever goes on with it later leaves what came since.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, StatxFlags, StatxTimestamp};
use rustix::io::Errno;

use crate::known::path_of;

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

/// A moment as file systems tell it: seconds since 1970, and nanoseconds.
pub(crate) type Moment = (i64, i64);

/// Removes what has a name in a directory. What is gone already is as good. What came `since` a moment stays; says whether
/// something did.
pub(crate) fn clear(parent: BorrowedFd<'_>, name: &Path, since: Option<Moment>) -> io::Result<bool> {
    let mut has_stayed = false;
    let mut buffer = Vec::with_capacity(NAMES);
    // Each with whether what is in it was removed.
    let mut open = vec![(name.to_owned(), false)];
    while let Some((path, is_hollow)) = open.pop() {
        let (above, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
        let above = match directory(parent, above) {
            Err(Errno::NOENT) => continue,
            above => above?,
        };
        if !is_hollow && since.is_some_and(|since| is_later(&above, name, since)) {
            has_stayed = true;
            continue;
        }
        let flags = if is_hollow { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match rustix::fs::unlinkat(&above, name, flags) {
            Ok(()) | Err(Errno::NOENT) => continue,
            // Some systems say the one, some the other, of a directory.
            Err(Errno::ISDIR | Errno::PERM) if !is_hollow => {}
            // What stays has a place.
            Err(Errno::NOTEMPTY | Errno::EXIST) if has_stayed => continue,
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
            let may_go = since.is_none() && kind != FileType::Directory;
            let is_gone = may_go && rustix::fs::unlinkat(&inner, &name, AtFlags::empty()).is_ok();
            if !is_gone {
                open.push((path.join(name), false));
            }
        }
    }
    Ok(has_stayed)
}

/// Says whether something came to be as it is, or where it is, after a moment. What is removed from a directory changes it too,
/// so of one it counts when it was made.
fn is_later(above: &OwnedFd, name: &OsStr, since: Moment) -> bool {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    match rustix::fs::statx(above, name, AtFlags::SYMLINK_NOFOLLOW, wanted) {
        Ok(found) => {
            let moment = |at: StatxTimestamp| (at.tv_sec, i64::from(at.tv_nsec));
            let has_birth = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
            let is_born = has_birth && moment(found.stx_btime) > since;
            let is_directory = FileType::from_raw_mode(found.stx_mode.into()) == FileType::Directory;
            is_born || !is_directory && moment(found.stx_ctime) > since
        }
        Err(Errno::NOENT) => false,
        // What cannot be looked at may be anybody's.
        Err(_) => true,
    }
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
