//! Reading sources beside each other, each on a thread of its own, a little ahead of whoever takes in what they give.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::flow::{Flow, Job};
use super::read::Reading;
use super::source::Located;

/// How many sources are read that nobody takes in yet: where readers are quicker than the disk, what they have read waits.
const WAITING: usize = 8;

/// Readers, and what they have to read.
pub(super) struct Crew<'r> {
    pub(super) reading: &'r Reading<'r>,
    pub(super) sources: &'r [Located],
    /// The numbers of the sources that are read.
    pub(super) due: &'r [usize],
    pub(super) threads: usize,
}

impl Crew<'_> {
    /// Has everything read while somebody takes it in. When that ends early, so do the readers.
    pub(super) fn work<T>(&self, take: impl FnOnce(&Receiver<Job>) -> T) -> T {
        let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let flow = Flow::new();
        std::thread::scope(|scope| {
            let (jobs, incoming) = sync_channel::<Job>(WAITING);
            for _ in 0..self.threads.clamp(1, self.due.len().max(1)) {
                let (jobs, next, ended, flow) = (jobs.clone(), &next, &ended, &flow);
                scope.spawn(move || self.read(next, ended, flow, &jobs));
            }
            drop(jobs);
            let taken = take(&incoming);
            // Whoever still reads finds nobody who listens.
            ended.store(true, Ordering::Relaxed);
            drop(incoming);
            taken
        })
    }

    /// Reads sources until there are none left.
    fn read(&self, next: &AtomicUsize, ended: &AtomicBool, flow: &Arc<Flow>, jobs: &SyncSender<Job>) {
        while !ended.load(Ordering::Relaxed) {
            let Some(at) = self.due.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let Some(source) = self.sources.get(*at) else { continue };
            let (outlet, job) = flow.open(*at);
            if jobs.send(job).is_err() {
                return;
            }
            self.reading.read(source, &outlet);
        }
    }
}
