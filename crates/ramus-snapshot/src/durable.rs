//! Making files durable: many at a time, because a file system that is asked for several at once does it in one go.
//! Writing begins for all of them before anyone waits for one.

use std::fs::File;
use std::io;

use rustix::fs::Advice;

use crate::spread::spread;

/// How many wait at a time.
const THREADS: usize = 8;

/// Makes the system begin to write a file. It is a hint: what it comes to does not matter.
pub(crate) fn begin(file: &File) {
    // Whoever says that it will not be read again makes the system begin; what is not written yet stays in memory.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

/// Waits until files, or directories, are durable.
pub(crate) fn wait(files: &[File]) -> io::Result<()> {
    spread(files, THREADS, File::sync_all)?.into_iter().collect()
}

/// Makes files durable.
pub(crate) fn sync(files: &[File]) -> io::Result<()> {
    if files.len() > 1 {
        files.iter().for_each(begin);
    }
    wait(files)
}
