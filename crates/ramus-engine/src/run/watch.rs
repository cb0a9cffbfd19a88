//! Watching a call: what is there before it is kept before it may start, and what is there after it ran. While it runs, the
//! pulse of the session beats.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ramus_snapshot::SnapshotId;
use ramus_tools::Reach;

use crate::workspace::{BEAT, Ledger, Pulse};

/// A call whose changes are watched.
pub(super) struct Watched(Arc<Watch>);

struct Watch {
    ledger: Arc<Ledger>,
    pulse: Pulse,
    turn: String,
    call: String,
    label: String,
    /// Whether what changes is taken for its own now.
    is_open: AtomicBool,
    /// Whether it may have changed something.
    has_run: AtomicBool,
}

impl Watched {
    pub(super) fn new(ledger: Arc<Ledger>, pulse: Pulse, (turn, call): (&str, &str), label: String) -> Self {
        let (turn, call) = (turn.to_owned(), call.to_owned());
        let (is_open, has_run) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(Watch { ledger, pulse, turn, call, label, is_open, has_run }))
    }

    /// Keeps what is there before the call is noted to start, and returns it. While another call runs, what was there before
    /// that one is all there is, and this one begins later.
    pub(super) fn expect(&self) -> Option<SnapshotId> {
        self.0.pulse.beat();
        match self.0.ledger.before() {
            Some(before) => Some(before),
            None => self.0.begin(),
        }
    }

    /// Keeps what is there before the call runs, unless that was done.
    pub(super) async fn begin(&self) {
        self.0.has_run.store(true, Ordering::Release);
        if !self.0.is_open.load(Ordering::Acquire) {
            self.on_its_own_thread(|watch| {
                watch.begin();
            })
            .await;
        }
    }

    /// Lets the pulse beat while something goes on.
    pub(super) async fn beating<T>(&self, work: impl Future<Output = T>) -> T {
        let pulse = self.0.pulse.clone();
        let beat = async {
            loop {
                pulse.beat();
                tokio::time::sleep(BEAT).await;
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            () = beat => std::future::pending().await,
        }
    }

    /// Keeps what is there after it ran.
    pub(super) async fn end(self, reach: Option<Reach>) {
        self.on_its_own_thread(|watch| watch.end(reach)).await;
    }

    /// Looking through a directory takes its time.
    async fn on_its_own_thread(&self, work: impl FnOnce(&Watch) + Send + 'static) {
        let watch = Arc::clone(&self.0);
        // A runtime that shuts down runs no more calls either.
        let _ = tokio::task::spawn_blocking(move || work(&watch)).await;
    }
}

impl Watch {
    fn begin(&self) -> Option<SnapshotId> {
        let before = self.ledger.begin(&self.turn, &self.call, &self.label);
        self.is_open.store(true, Ordering::Release);
        before
    }

    fn end(&self, reach: Option<Reach>) {
        if self.is_open.swap(false, Ordering::AcqRel) {
            self.ledger.end(&self.turn, &self.call, &self.label, reach);
        }
    }
}

impl Drop for Watch {
    /// A call that never ran changed nothing. Of one that was dropped nobody knows.
    fn drop(&mut self) {
        let has_run = self.has_run.load(Ordering::Acquire);
        self.end((!has_run).then(Reach::default));
    }
}
