//! Noticing changes with the help of the kernel, so that a process that asks again need not look at every file again.
//!
//! The kernel tells of a change before whoever made it goes on, so a process that was told of an append and then asks sees
//! it. It tells only of changes that are made on this machine: directories on file systems that others may write to are
//! not watched.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::statfs;
use rustix::io::Errno;

use super::super::Watch;

/// How many bytes of changes are read at once.
const BUFFER: usize = 1 << 14;

/// The file systems that only this machine writes to: ext2 to ext4, xfs, btrfs, f2fs, zfs, tmpfs, overlayfs.
const LOCAL: [u64; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

/// Changes of names and contents.
const OF_FILES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO);

/// Changes of the directory itself.
const OF_ITSELF: WatchFlags = WatchFlags::DELETE_SELF.union(WatchFlags::MOVE_SELF).union(WatchFlags::ONLYDIR);

/// Directories that come or go.
const OF_DIRECTORIES: WatchFlags =
    WatchFlags::CREATE.union(WatchFlags::DELETE).union(WatchFlags::MOVED_FROM).union(WatchFlags::MOVED_TO);

#[derive(Debug)]
struct Vigil {
    descriptor: OwnedFd,
    /// The number of each directory whose files are watched; none where only directories are.
    directories: HashMap<i32, Option<usize>>,
    is_lost: bool,
}

pub(super) fn watch(directories: &[PathBuf], around: &[PathBuf]) -> Option<Box<dyn Watch>> {
    begin(directories, around).ok().flatten().map(|vigil| Box::new(vigil) as Box<dyn Watch>)
}

fn begin(directories: &[PathBuf], around: &[PathBuf]) -> io::Result<Option<Vigil>> {
    let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    let mut numbers = HashMap::new();
    let files = directories.iter().enumerate().map(|(number, directory)| (Some(number), directory, OF_FILES));
    for (number, directory, changes) in files.chain(around.iter().map(|around| (None, around, OF_DIRECTORIES))) {
        if !LOCAL.contains(&(statfs(directory)?.f_type as u64)) {
            return Ok(None);
        }
        let watched = inotify::add_watch(&descriptor, directory, changes | OF_ITSELF)?;
        // The same directory under two names would be told of under one.
        if numbers.insert(watched, number).is_some() {
            return Ok(None);
        }
    }
    Ok(Some(Vigil { descriptor, directories: numbers, is_lost: false }))
}

impl Watch for Vigil {
    fn changes(&mut self) -> Option<Vec<(usize, OsString)>> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.descriptor, &mut buffer);
        let mut changed = Vec::new();
        while !self.is_lost {
            match reader.next() {
                Ok(event) => {
                    let of_itself = ReadFlags::DELETE_SELF
                        | ReadFlags::MOVE_SELF
                        | ReadFlags::IGNORED
                        | ReadFlags::UNMOUNT
                        | ReadFlags::QUEUE_OVERFLOW;
                    let is_directory = event.events().contains(ReadFlags::ISDIR);
                    match (self.directories.get(&event.wd()), event.file_name()) {
                        _ if event.events().intersects(of_itself) || is_directory => self.is_lost = true,
                        (Some(Some(number)), Some(name)) => {
                            changed.push((*number, OsStr::from_bytes(name.to_bytes()).to_owned()));
                        }
                        (Some(None), Some(_)) => {}
                        _ => self.is_lost = true,
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => self.is_lost = true,
            }
        }
        // Appending twice is told of twice.
        changed.sort_unstable();
        changed.dedup();
        (!self.is_lost).then_some(changed)
    }
}
