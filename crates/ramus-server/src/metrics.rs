//! Counters, as Prometheus reads them.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What was counted since the start.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Instant,
    /// By the first digit of the status.
    answers: [AtomicU64; 6],
    pub(crate) entries: AtomicU64,
    pub(crate) runs: AtomicU64,
    pub(crate) events: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// What is so at the moment.
pub(crate) struct Now {
    pub(crate) working: usize,
    pub(crate) running: usize,
    pub(crate) streams: usize,
}

impl Default for Metrics {
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            started: Instant::now(),
            answers: Default::default(),
            entries: zero(),
            runs: zero(),
            events: zero(),
            dropped: zero(),
        }
    }
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, status: u16) {
        if let Some(counter) = self.answers.get(usize::from(status / 100)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes everything down.
    pub(crate) fn write(&self, now: &Now) -> String {
        let mut text = String::new();
        let mut put = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP ramus_{name} {help}\n# TYPE ramus_{name} {kind}\nramus_{name} {value}");
        };
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        put("uptime_seconds", "gauge", "Time since the start.", self.started.elapsed().as_secs());
        put("working_requests", "gauge", "Requests that work now.", now.working as u64);
        put("running_turns", "gauge", "Turns that run now.", now.running as u64);
        put("event_streams", "gauge", "Readers of events now.", now.streams as u64);
        put("turns_total", "counter", "Turns that were started.", read(&self.runs));
        put("entries_appended_total", "counter", "Entries that were appended through requests.", read(&self.entries));
        put("events_sent_total", "counter", "Events that were handed to readers.", read(&self.events));
        put("readers_dropped_total", "counter", "Readers that were too slow.", read(&self.dropped));
        let _ = writeln!(text, "# HELP ramus_http_answers_total Answers by class of status.");
        let _ = writeln!(text, "# TYPE ramus_http_answers_total counter");
        for (class, counter) in self.answers.iter().enumerate().skip(2) {
            let _ = writeln!(text, "ramus_http_answers_total{{class=\"{class}xx\"}} {}", read(counter));
        }
        text
    }
}
