//! Doing the same to many things, several at a time.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads pay off for work that keeps a processor busy.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Does something to each thing on so many threads, this one among them. Returns what came of each, in order.
pub(crate) fn spread<T: Sync, R: Send>(
    things: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(number) else { return results };
            results.push((number, work(thing)));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(things.len())).map(|_| scope.spawn(take)).collect();
        let mut results = take();
        for other in others {
            results.append(&mut other.join().map_err(|_| io::Error::other("a thread died"))?);
        }
        Ok::<_, io::Error>(results)
    })?;
    results.sort_unstable_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
