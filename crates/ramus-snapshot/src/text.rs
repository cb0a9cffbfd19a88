//! Differences as text: the hunks of a unified diff as git writes them, line counts, and what is no text.

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// How much of a content is looked at to tell whether it is text, as git does it.
const LOOK: usize = 8000;

/// A content with more bytes is compared as a whole. No file that snapshots usually cover has more.
const LARGEST: usize = 8 << 20;

/// So many lines that stayed are shown around what changed.
const CONTEXT: u32 = 3;

/// What stands below a line that the end of its file ends.
const NO_BREAK: &[u8] = b"\n\\ No newline at end of file\n";

/// A difference between two contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextDiff {
    /// The hunks; empty when it is no text.
    pub(crate) hunks: Vec<u8>,
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
    if [old, new].into_iter().any(|content| is_binary(content) || content.len() > LARGEST) {
        return TextDiff { is_binary: true, ..TextDiff::default() };
    }
    let input = InternedInput::new(old, new);
    // The other algorithm takes seconds for files that repeat themselves.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    TextDiff {
        hunks: Printer { input: &input, out: Vec::new() }.print(&diff),
        additions: u64::from(diff.count_additions()),
        deletions: u64::from(diff.count_removals()),
        is_binary: false,
    }
}

/// Writes hunks, byte for byte: a patch must give back what it was made of.
struct Printer<'i> {
    input: &'i InternedInput<&'i [u8]>,
    out: Vec<u8>,
}

impl Printer<'_> {
    fn print(mut self, diff: &Diff) -> Vec<u8> {
        // What is so near that their surroundings would meet is shown together.
        let mut together: Vec<Hunk> = Vec::new();
        for hunk in diff.hunks() {
            let is_far = |last: &Hunk| hunk.before.start.saturating_sub(last.before.end) > 2 * CONTEXT;
            if together.last().is_some_and(is_far) {
                self.group(&together);
                together.clear();
            }
            together.push(hunk);
        }
        self.group(&together);
        self.out
    }

    fn group(&mut self, hunks: &[Hunk]) {
        let Some((first, last)) = hunks.first().zip(hunks.last()) else { return };
        let above = first.before.start.min(CONTEXT);
        let below = (self.input.before.len() as u32).saturating_sub(last.before.end).min(CONTEXT);
        let (old, new) = (first.before.start - above, first.after.start.saturating_sub(above));
        let (old_end, new_end) = (last.before.end + below, last.after.end + below);
        let header = format!("@@ -{} +{} @@\n", range(old, old_end), range(new, new_end));
        self.out.extend_from_slice(header.as_bytes());
        let input = self.input;
        let mut stayed = old;
        for hunk in hunks {
            self.lines(b' ', &input.before, stayed..hunk.before.start);
            self.lines(b'-', &input.before, hunk.before.clone());
            self.lines(b'+', &input.after, hunk.after.clone());
            stayed = hunk.before.end;
        }
        self.lines(b' ', &input.before, stayed..old_end);
    }

    fn lines(&mut self, mark: u8, lines: &[Token], which: std::ops::Range<u32>) {
        for token in lines.get(which.start as usize..which.end as usize).unwrap_or_default() {
            // Indexing an interner by its own token cannot fail.
            let line = self.input.interner[*token];
            self.out.push(mark);
            match line.strip_suffix(b"\n") {
                Some(_) => self.out.extend_from_slice(line),
                None => self.out.extend_from_slice(&[line, NO_BREAK].concat()),
            }
        }
    }
}

/// Lines as a header names them: of nothing, the line above is named, and of one, no count is.
fn range(start: u32, end: u32) -> String {
    match end.saturating_sub(start) {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(old: &[u8], new: &[u8]) -> String {
        String::from_utf8_lossy(&diff(old, new).hunks).into_owned()
    }

    #[test]
    fn hunks_are_headed_and_ended_as_git_does() {
        assert_eq!(hunks(b"", b"a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(hunks(b"a", b"a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(hunks(b"x\ny", b"z\ny"), "@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n");
        let lines: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let near = lines.replace("\n4\n", "\nfour\n").replace("\n11\n", "\neleven\n");
        let headers = |new: &str| hunks(lines.as_bytes(), new.as_bytes()).matches("@@ -").count();
        assert_eq!((headers(&near), headers(&lines.replace("\n2\n", "\n").replace("\n12\n", "\n"))), (1, 2));
        assert_eq!(hunks(b"\tx \r\n", b"  x\n"), "@@ -1 +1 @@\n-\tx \r\n+  x\n");
    }

    #[test]
    fn each_side_may_be_as_large_as_a_file_that_is_covered() {
        let mut old = "many words on a line\n".repeat(300_000).into_bytes();
        let new = old.clone();
        old.iter_mut().take(1).for_each(|letter| *letter = b'M');
        let found = diff(&old, &new);
        assert!(old.len() > 6_000_000 && !found.is_binary);
        assert_eq!((found.additions, found.deletions), (1, 1));
        assert!(diff(&vec![b'x'; LARGEST + 1], b"x").is_binary);
    }
}
