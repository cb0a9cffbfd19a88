//! What a writer could not say, counted by reason.

use crate::sink::{Loss, Report};
use crate::step::{self, Answer, Part};

/// What is said of labels, which entries give to others: whoever knows where they stand counts them better.
pub const LABELS: &str = "labels";

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

    /// Counts the parts of a message that a format of text has no words for.
    pub(crate) fn untold(&mut self, parts: &[Part<'_>]) {
        for part in parts {
            match part {
                Part::Text(_) | Part::Call { .. } => {}
                Part::Thinking { .. } => self.lose("thoughts"),
                Part::Image { .. } => self.lose("pictures"),
                Part::Unknown => self.lose("parts that are neither text, thought, picture nor call"),
            }
        }
    }

    /// Counts what an answer cost, for a format that does not say it.
    pub(crate) fn cost(&mut self, answer: &Answer<'_>) {
        if answer.usage.cost_micros.is_some_and(|cost| cost > 0) {
            self.lose("what answers cost");
        }
    }

    /// Counts the tokens that went into a cache or came from one, for a format that knows only what was sent.
    pub(crate) fn cached(&mut self, answer: &Answer<'_>) {
        if answer.usage.cache_read > 0 || answer.usage.cache_write > 0 {
            self.lose("which tokens came from a cache or went into one");
        }
    }

    /// Counts what an answer used, for a format that does not say it.
    pub(crate) fn used(&mut self, answer: &Answer<'_>) {
        if answer.usage.tokens() > 0 {
            self.lose("how many tokens answers used");
        }
    }

    /// Counts which model answered, for a format that does not say it.
    pub(crate) fn model(&mut self, answer: &Answer<'_>) {
        if !answer.model.is_empty() || !answer.provider.is_empty() {
            self.lose("which model answered, and whose it is");
        }
    }

    /// Counts that a format names models and takes all of them for one provider's.
    pub(crate) fn provider(&mut self, answer: &Answer<'_>, known: &str) {
        if !answer.provider.is_empty() && answer.provider != known {
            self.lose(format!("whose a model is: all are taken for those of {known}"));
        }
    }

    /// Counts that a call failed, for a format that does not say it.
    pub(crate) fn failure(&mut self, result: &step::Result<'_>) {
        if result.is_error {
            self.lose("that calls failed");
        }
    }

    /// Counts when an entry was written, for a format without times.
    pub(crate) fn moment(&mut self, timestamp: &str) {
        if !timestamp.is_empty() {
            self.lose("when things were said");
        }
    }

    /// Counts where a session works, for a format that does not say it.
    pub(crate) fn directory(&mut self, cwd: &str) {
        if !cwd.is_empty() {
            self.lose("the directory");
        }
    }

    /// Counts an entry of a kind that a format has no words for.
    pub(crate) fn kind(&mut self, kind: &str) {
        match kind {
            "label" => self.lose(LABELS),
            _ => self.lose(format!("entries of type {kind}")),
        }
    }

    /// Counts that an answer failed or was stopped, for a format that does not say it.
    pub(crate) fn ending(&mut self, answer: &Answer<'_>) {
        if matches!(&*answer.stop, "error" | "aborted") {
            self.lose("that answers failed or were stopped, and why");
        }
    }

    /// Counts an entry of our own. What only this home says about a session is nobody's loss; what a person or a model made of
    /// it is.
    pub(crate) fn own(&mut self, kind: &str) {
        match kind {
            "ramus.todo" => self.lose("what is to be done"),
            "ramus.snapshot" | "ramus.files" => self.lose("snapshots: what the files were like"),
            _ => {}
        }
    }

    pub(crate) fn finish(mut self) -> Report {
        self.report.sessions = 1;
        self.report
    }
}
