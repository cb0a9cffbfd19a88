//! Diffs: what a change did to a file, as one unified hunk from the first to the last line that differs.

/// How many lines are shown around a change.
const AROUND: usize = 3;

/// A difference between two contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// As a unified diff; empty when there is none.
    pub text: String,
    /// How many lines came.
    pub additions: usize,
    /// How many lines went.
    pub deletions: usize,
}

/// Compares two contents of a file.
pub fn unified(path: &str, before: &[u8], after: &[u8]) -> Diff {
    let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (gone, come) = (old.get(start..old.len() - end), new.get(start..new.len() - end));
    let (gone, come) = (gone.unwrap_or_default(), come.unwrap_or_default());
    if gone.is_empty() && come.is_empty() {
        return Diff::default();
    }
    let first = start.saturating_sub(AROUND);
    let lead = old.get(first..start).unwrap_or_default();
    let tail = old.iter().skip(old.len() - end).take(AROUND);
    let around = lead.len() + end.min(AROUND);
    let span = |count: usize| if count == 0 { format!("{first},0") } else { format!("{},{count}", first + 1) };
    let mut text =
        format!("--- a/{path}\n+++ b/{path}\n@@ -{} +{} @@\n", span(gone.len() + around), span(come.len() + around));
    let lines = lead.iter().map(|line| (' ', line)).chain(gone.iter().map(|line| ('-', line)));
    for (sign, line) in lines.chain(come.iter().map(|line| ('+', line))).chain(tail.map(|line| (' ', line))) {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    Diff { text, additions: come.len(), deletions: gone.len() }
}
