//! Differences as text: unified diffs, line counts, and what is no text.

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// How much of a content is looked at to tell whether it is text, as git does it.
const LOOK: usize = 8000;

/// Contents with more bytes together are compared as a whole.
const LARGEST: usize = 8 << 20;

/// A difference between two contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextDiff {
    /// The hunks; empty when it is no text.
    pub(crate) hunks: String,
    pub(crate) additions: u64,
    pub(crate) deletions: u64,
    pub(crate) is_binary: bool,
}

/// Says whether a content is no text.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content.get(..LOOK).unwrap_or(content).contains(&0)
}

/// Compares two contents.
pub(crate) fn diff(old: &[u8], new: &[u8]) -> TextDiff {
    if is_binary(old) || is_binary(new) || old.len() + new.len() > LARGEST {
        return TextDiff { is_binary: true, ..TextDiff::default() };
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let input = InternedInput::new(&*old, &*new);
    // The other algorithm takes seconds for files that repeat themselves.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string();
    TextDiff {
        hunks,
        additions: u64::from(diff.count_additions()),
        deletions: u64::from(diff.count_removals()),
        is_binary: false,
    }
}
