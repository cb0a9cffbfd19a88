//! Making files durable: many at a time, because a file system that is asked for several at once does it in one go.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many wait at a time.
const THREADS: usize = 16;

/// Makes files, or directories, durable.
pub(crate) fn sync(files: &[File]) -> io::Result<()> {
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
