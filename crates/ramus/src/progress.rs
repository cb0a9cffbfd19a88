//! How far a long reading of the sessions has come, on stderr, for a person who would otherwise wonder.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ramus_engine::{Engine, Progress};

use crate::render::quantity;

/// How long a person waits without wondering.
const PATIENCE: Duration = Duration::from_millis(400);

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Line {
    started: Option<Instant>,
    shown: Option<Instant>,
}

/// Has the engine tell how far it has come.
pub(crate) fn shown_by(engine: Engine) -> Engine {
    let line = Mutex::new(Line::default());
    engine.with_progress(move |progress| line.lock().unwrap_or_else(PoisonError::into_inner).show(progress))
}

impl Line {
    fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        let started = *self.started.get_or_insert(now);
        if progress.files >= progress.of_files {
            if self.shown.is_some() {
                put("");
            }
            *self = Self::default();
            return;
        }
        let is_due = self.shown.is_none_or(|shown| now - shown >= EVERY);
        if now - started >= PATIENCE && is_due {
            self.shown = Some(now);
            let [files, of_files] = [progress.files, progress.of_files].map(|count| quantity::grouped(count as u64));
            put(&format!("reading sessions: {files} of {of_files}"));
        }
    }
}

/// Replaces the line. A terminal that is gone needs no progress.
fn put(text: &str) {
    let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
}
