//! The few calls of the kernel for which there is no safe way: seccomp and its descriptor, and reading the memory of a process
//! that waits. They are here and nowhere else.
//!
//! Each of them is handed memory that is ours, has the length that is said, and lives until the call returns; the kernel
//! writes to none of it behind our back. What comes back is plain numbers, for which every bit pattern is valid.

#![expect(unsafe_code, reason = "seccomp has no safe interface, and what it needs of memory is kept to this file")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use libc::{
    SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_SET_MODE_FILTER, SECCOMP_USER_NOTIF_FLAG_CONTINUE, iovec, seccomp_notif,
    seccomp_notif_resp, sock_filter, sock_fprog,
};

/// Only a fatal signal interrupts a process whose call was received. Since Linux 5.19.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
/// The process that waits is woken where we are, without a detour through another core. Since Linux 6.6.
const WAKE_HERE: u64 = 1;

const RECEIVE: libc::c_ulong = 0xc050_2100;
const ANSWER: libc::c_ulong = 0xc018_2101;
const IS_VALID: libc::c_ulong = 0x4008_2102;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;

/// A system call that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Its name for the kernel.
    pub(crate) id: u64,
    /// The thread that makes it.
    pub(crate) thread: u32,
    /// The architecture whose numbers count.
    pub(crate) arch: u32,
    /// Its number.
    pub(crate) number: i32,
    pub(crate) arguments: [u64; 6],
}

/// Installs a filter for this thread and everything it starts, and returns the descriptor that tells what it stops. This
/// thread must have given up new privileges.
pub(crate) fn install(filter: &[sock_filter]) -> io::Result<OwnedFd> {
    match install_with(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            install_with(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER)
        }
        result => result,
    }
}

fn install_with(filter: &[sock_filter], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let length = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program points to `length` instructions, which the kernel copies and never writes to.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    let descriptor = i32::try_from(checked(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Has the kernel wake who waits without a detour, if it can.
pub(crate) fn wake_here(listener: BorrowedFd<'_>) {
    // SAFETY: this one takes a number in the place of an address.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS as _, WAKE_HERE) };
}

/// Takes the next system call that waits.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> io::Result<Asked> {
    // SAFETY: a struct of numbers, for which zero is a value. The kernel insists on zeros.
    let mut asked: seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the number of the call says how long the struct is, and it is that long.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut asked) };
    checked(result.into())?;
    let data = asked.data;
    Ok(Asked { id: asked.id, thread: asked.pid, arch: data.arch, number: data.nr, arguments: data.args })
}

/// Says whether a system call still waits: if not, its thread is gone, and its number may be that of another one.
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads eight bytes, which are there.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID as _, &raw const id) };
    result == 0
}

/// Lets a system call go on as if nobody had looked.
pub(crate) fn go_on(listener: BorrowedFd<'_>, id: u64) {
    let flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let answer = seccomp_notif_resp { id, val: 0, error: 0, flags };
    // SAFETY: the number of the call says how long the struct is, and it is that long. One that is gone needs no answer.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), ANSWER as _, &raw const answer) };
}

/// Reads memory of a thread that waits, up to the end of a page or of the buffer.
pub(crate) fn read(thread: u32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let thread = libc::pid_t::try_from(thread).map_err(|_| io::ErrorKind::InvalidInput)?;
    let start = usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = buffer.len().min(PAGE - start % PAGE);
    let ours = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length };
    let theirs = iovec { iov_base: std::ptr::without_provenance_mut(start), iov_len: length };
    // SAFETY: at most `length` bytes are written to the buffer, which is as long or longer. The other address is one of
    // another process, and is never looked at here.
    let count = unsafe { libc::process_vm_readv(thread, &raw const ours, 1, &raw const theirs, 1, 0) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// No page is smaller. What is larger is read in several steps.
const PAGE: usize = 4096;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
