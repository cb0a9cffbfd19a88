//! Looking at many files: names relative to open directories, and two threads where there are many of them. Asking the
//! system about ten thousand files is most of what a list costs.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::super::{Stat, Wanted};
use super::stat_of;

/// How many files are worth a second thread.
const WORTH_A_THREAD: usize = 512;

/// A file of one of the directories.
struct Name {
    directory: usize,
    name: CString,
}

type Found = (usize, Result<(OsString, Stat), Errno>);

pub(super) fn stat_all(directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Vec<(OsString, Stat)>>> {
    let mut names = Vec::new();
    let open = |(number, directory): (usize, &PathBuf)| names_in(number, directory, wanted, &mut names);
    let opened: Vec<io::Result<OwnedFd>> = directories.iter().enumerate().map(open).collect();
    let look =
        |names: Vec<Name>| -> Vec<Found> { names.into_iter().filter_map(|name| look_at(&opened, name)).collect() };
    let half = if names.len() < WORTH_A_THREAD { Vec::new() } else { names.split_off(names.len() / 2) };
    let (first, second) = std::thread::scope(|scope| {
        let second = (!half.is_empty()).then(|| scope.spawn(|| look(half)));
        let first = look(names);
        (first, second.map(|second| second.join()))
    });
    let mut found: Vec<io::Result<Vec<(OsString, Stat)>>> =
        opened.into_iter().map(|opened| opened.map(|_| Vec::new())).collect();
    let second = match second {
        Some(Ok(second)) => second,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => Vec::new(),
    };
    for (directory, result) in first.into_iter().chain(second) {
        let Some(of_directory) = found.get_mut(directory) else { continue };
        match (result, &mut *of_directory) {
            (Ok(file), Ok(files)) => files.push(file),
            (Err(error), of_directory) => *of_directory = Err(error.into()),
            (Ok(_), Err(_)) => {}
        }
    }
    found
}

fn names_in(number: usize, directory: &PathBuf, wanted: &Wanted, names: &mut Vec<Name>) -> io::Result<OwnedFd> {
    let opened = openat(CWD, directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if entry.file_type() != FileType::Directory && wanted(OsStr::from_bytes(name.to_bytes())) {
            names.push(Name { directory: number, name: name.to_owned() });
        }
    }
    Ok(opened)
}

/// None when it is gone, or not a file after all.
fn look_at(opened: &[io::Result<OwnedFd>], Name { directory, name }: Name) -> Option<Found> {
    let place = opened.get(directory)?.as_ref().ok()?;
    match statat(place, &name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => None,
        Ok(stat) => Some((directory, Ok((OsString::from_vec(name.into_bytes()), stat_of(&stat))))),
        Err(Errno::NOENT) => None,
        Err(error) => Some((directory, Err(error))),
    }
}
