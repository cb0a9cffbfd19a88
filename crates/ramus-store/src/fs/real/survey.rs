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
const FILES_WORTH_A_THREAD: usize = 1500;

/// How many directories are.
const DIRECTORIES_WORTH_A_THREAD: usize = 64;

/// A file of one of the directories.
struct Name {
    directory: usize,
    name: CString,
}

type Found = (usize, Result<(OsString, Stat), Errno>);

pub(super) fn stat_all(directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Vec<(OsString, Stat)>>> {
    let open = |directories: Vec<(usize, &PathBuf)>| -> Vec<(io::Result<OwnedFd>, Vec<Name>)> {
        directories.into_iter().map(|(number, directory)| names_in(number, directory, wanted)).collect()
    };
    let listed = in_halves(directories.iter().enumerate().collect(), DIRECTORIES_WORTH_A_THREAD, open);
    let (opened, names): (Vec<io::Result<OwnedFd>>, Vec<Vec<Name>>) = listed.into_iter().unzip();
    let look =
        |names: Vec<Name>| -> Vec<Found> { names.into_iter().filter_map(|name| look_at(&opened, name)).collect() };
    let looked = in_halves(names.into_iter().flatten().collect(), FILES_WORTH_A_THREAD, look);
    let mut found: Vec<io::Result<Vec<(OsString, Stat)>>> =
        opened.into_iter().map(|opened| opened.map(|_| Vec::new())).collect();
    for (directory, result) in looked {
        let Some(of_directory) = found.get_mut(directory) else { continue };
        match (result, &mut *of_directory) {
            (Ok(file), Ok(files)) => files.push(file),
            (Err(error), of_directory) => *of_directory = Err(error.into()),
            (Ok(_), Err(_)) => {}
        }
    }
    found
}

/// Does the second half of the work in a second thread, if there is enough of it.
fn in_halves<W: Send, F: Send>(mut work: Vec<W>, worth: usize, each: impl Fn(Vec<W>) -> Vec<F> + Sync) -> Vec<F> {
    if work.len() < worth {
        return each(work);
    }
    let half = work.split_off(work.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| each(half));
        let mut done = each(work);
        done.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done
    })
}

fn names_in(number: usize, directory: &PathBuf, wanted: &Wanted) -> (io::Result<OwnedFd>, Vec<Name>) {
    let mut names = Vec::new();
    let mut open = || {
        let opened = openat(CWD, directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name: &CStr = entry.file_name();
            if entry.file_type() != FileType::Directory && wanted(OsStr::from_bytes(name.to_bytes())) {
                names.push(Name { directory: number, name: name.to_owned() });
            }
        }
        Ok(opened)
    };
    (open(), names)
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
