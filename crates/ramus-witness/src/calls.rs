//! Which system calls can change what a path holds, and where they say it.

use libc::c_long;

/// A directory that a path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The directory that the process works in.
    Working,
    /// The descriptor in this argument.
    Argument(usize),
}

/// What a system call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Opens the file at a path, or changes it; links are followed. The flags of opening are in this argument, if any are.
    Opens(Base, usize, Option<usize>),
    /// The same, with the flags in memory.
    OpensHow(Base, usize, usize),
    /// Makes or removes a name.
    Names(Base, usize),
    /// Moves a name to another one.
    Moves((Base, usize), (Base, usize)),
    /// Changes what a descriptor is of.
    Descriptor(usize),
    /// Talks to another program, which may act in its place.
    Connects(usize),
    /// Makes it impossible to see what comes.
    Hides,
}

use Base::{Argument, Working};
use Deed::{Connects, Descriptor, Hides, Moves, Names, Opens, OpensHow};

/// Those that both architectures have.
const COMMON: &[(c_long, Deed)] = &[
    (libc::SYS_openat, Opens(Argument(0), 1, Some(2))),
    (libc::SYS_openat2, OpensHow(Argument(0), 1, 2)),
    (libc::SYS_truncate, Opens(Working, 0, None)),
    (libc::SYS_renameat, Moves((Argument(0), 1), (Argument(2), 3))),
    (libc::SYS_renameat2, Moves((Argument(0), 1), (Argument(2), 3))),
    (libc::SYS_unlinkat, Names(Argument(0), 1)),
    (libc::SYS_linkat, Names(Argument(2), 3)),
    (libc::SYS_symlinkat, Names(Argument(1), 2)),
    (libc::SYS_mknodat, Names(Argument(0), 1)),
    (libc::SYS_fchmod, Descriptor(0)),
    (libc::SYS_fchmodat, Opens(Argument(0), 1, None)),
    (FCHMODAT2, Opens(Argument(0), 1, None)),
    (libc::SYS_connect, Connects(1)),
    (libc::SYS_io_uring_setup, Hides),
    (libc::SYS_pidfd_getfd, Hides),
    (libc::SYS_open_by_handle_at, Hides),
    (libc::SYS_chroot, Hides),
    (libc::SYS_pivot_root, Hides),
    (libc::SYS_mount, Hides),
    (libc::SYS_move_mount, Hides),
    (libc::SYS_setns, Hides),
];

/// Since Linux 6.6.
const FCHMODAT2: c_long = 452;

/// Those that only the older architecture has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[(c_long, Deed)] = &[
    (libc::SYS_open, Opens(Working, 0, Some(1))),
    (libc::SYS_creat, Opens(Working, 0, None)),
    (libc::SYS_rename, Moves((Working, 0), (Working, 1))),
    (libc::SYS_unlink, Names(Working, 0)),
    (libc::SYS_link, Names(Working, 1)),
    (libc::SYS_symlink, Names(Working, 1)),
    (libc::SYS_mknod, Names(Working, 0)),
    (libc::SYS_chmod, Opens(Working, 0, None)),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[(c_long, Deed)] = &[];

/// What the kernel calls this architecture; none when its numbers are not known here.
pub(crate) const ARCH: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// Opening with any of these can change something.
pub(crate) const WRITES: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// Returns every system call that is of interest, and what it does.
pub(crate) fn all() -> impl Iterator<Item = (c_long, Deed)> {
    COMMON.iter().chain(OLDER).copied()
}

/// Returns what a system call does; none when it is not among them.
pub(crate) fn deed(arch: u32, number: i32) -> Option<Deed> {
    all().find(|(known, _)| Some(arch) == ARCH && *known == c_long::from(number)).map(|(_, deed)| deed)
}
