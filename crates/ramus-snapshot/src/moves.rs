//! Moving names within a directory, so that nothing is overwritten unseen: also on file systems that cannot exchange two
//! names, or cannot refuse to overwrite one (network file systems, those of other systems, some in user space).

#[cfg(test)]
pub(crate) mod seam;

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

/// Says whether a file system cannot do what was asked at all, whatever the names are.
pub(crate) fn is_unable(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

/// Exchanges what two names hold. Where that cannot be done, the error says so.
pub(crate) fn exchange(directory: BorrowedFd<'_>, one: &Path, other: &Path) -> Result<(), Errno> {
    flagged(directory, one, other, RenameFlags::EXCHANGE)
}

/// Gives something of ours a name, unless somebody has it.
pub(crate) fn put_in(directory: BorrowedFd<'_>, ours: &Path, name: &Path) -> Result<(), Errno> {
    match flagged(directory, ours, name, RenameFlags::NOREPLACE) {
        Err(error) if is_unable(error) => {}
        moved => return moved,
    }
    match link(directory, ours, name) {
        Ok(()) => unlink(directory, ours),
        Err(error @ (Errno::EXIST | Errno::NOENT)) => Err(error),
        // Not every file system has a second name for a file, and no directory has one. What comes between looking and
        // moving is overwritten: there is no other way.
        Err(_) => unless_there(directory, ours, name),
    }
}

/// Takes what has a name out, to a name of ours that nobody has.
pub(crate) fn take_out(directory: BorrowedFd<'_>, name: &Path, ours: &Path) -> Result<(), Errno> {
    match flagged(directory, name, ours, RenameFlags::NOREPLACE) {
        // Nobody else uses a name of ours; a second name would let go of what takes the first meanwhile.
        Err(error) if is_unable(error) => unless_there(directory, name, ours),
        moved => moved,
    }
}

/// Removes a name that is no directory's. One that is gone is as good.
pub(crate) fn clear(directory: BorrowedFd<'_>, name: &Path) -> Result<(), Errno> {
    match unlink(directory, name) {
        Err(Errno::NOENT) => Ok(()),
        cleared => cleared,
    }
}

/// Gives something of ours another name of ours, whatever has that.
pub(crate) fn replace(directory: BorrowedFd<'_>, from: &Path, to: &Path) -> Result<(), Errno> {
    begin(Call::Plain)?;
    rustix::fs::renameat(directory, from, directory, to)
}

fn unless_there(directory: BorrowedFd<'_>, from: &Path, to: &Path) -> Result<(), Errno> {
    match rustix::fs::statat(directory, to, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => replace(directory, from, to),
        Err(error) => Err(error),
    }
}

fn flagged(directory: BorrowedFd<'_>, from: &Path, to: &Path, flags: RenameFlags) -> Result<(), Errno> {
    begin(Call::Flagged)?;
    rustix::fs::renameat_with(directory, from, directory, to, flags)
}

fn link(directory: BorrowedFd<'_>, from: &Path, to: &Path) -> Result<(), Errno> {
    begin(Call::Link)?;
    rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())
}

fn unlink(directory: BorrowedFd<'_>, name: &Path) -> Result<(), Errno> {
    begin(Call::Plain)?;
    rustix::fs::unlinkat(directory, name, AtFlags::empty())
}

/// What is asked of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// Every one can.
    Plain,
    /// A rename that exchanges, or overwrites nothing.
    Flagged,
    /// A second name for a file.
    Link,
}

/// Tests play a file system that cannot do everything, and one that is switched off.
#[cfg(test)]
fn begin(call: Call) -> Result<(), Errno> {
    seam::begin(call)
}

#[cfg(not(test))]
fn begin(_: Call) -> Result<(), Errno> {
    Ok(())
}
