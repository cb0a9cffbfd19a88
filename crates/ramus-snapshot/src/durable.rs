//! Making files durable: many at a time, because a file system that is asked for several at once does it in one go.
//! Writing begins for all of them before anyone waits for one.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::Advice;

/// How many wait at a time.
const THREADS: usize = 8;

/// Makes files, or directories, durable.
pub(crate) fn sync(files: &[File]) -> io::Result<()> {
    if files.len() > 1 {
        for file in files {
            // Whoever says that it will not be read again makes the system begin to write it. It is a hint: what it comes
            // to does not matter.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            file.sync_all()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..files.len().min(THREADS)).map(|_| scope.spawn(work)).collect();
        let own = work();
        let died = |_| Err(io::Error::other("a thread died"));
        others.into_iter().map(|other| other.join().unwrap_or_else(died)).fold(own, io::Result::and)
    })
}
