//! What a writer could not say, counted by reason.

use crate::sink::{Loss, Report};

/// The report of a writer in the making.
#[derive(Default)]
pub(crate) struct Losses {
    report: Report,
}

impl Losses {
    /// Counts an entry that was looked at.
    pub(crate) fn entry(&mut self) {
        self.report.entries += 1;
    }

    /// Counts a record that was written; `original` when it is one of the agent's own.
    pub(crate) fn record(&mut self, original: bool) {
        self.report.records += 1;
        self.report.kept += u64::from(original);
    }

    /// Counts something that was not written.
    pub(crate) fn lose(&mut self, why: impl Into<String>) {
        let Loss { .. } = self.report.lose(None, why);
    }

    pub(crate) fn finish(mut self) -> Report {
        self.report.sessions = 1;
        self.report
    }
}
