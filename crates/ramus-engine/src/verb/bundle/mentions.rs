//! What a log refers to: blobs wherever they stand, snapshots where ramus itself wrote them down. Anybody can say the name of
//! a snapshot, and must not get files for it.

use memchr::{memchr, memmem};
use ramus_model::RAMUS_PREFIX;
use ramus_model::blob::References;
use ramus_model::json::Raw;

use crate::workspace::Named;

/// The longest line that is looked at for snapshots.
const LONGEST: usize = 1 << 24;

/// What a log refers to.
#[derive(Default)]
pub(super) struct Mentions {
    pub(super) blobs: References,
    pub(super) snapshots: Named,
    /// What came of the line so far.
    line: Vec<u8>,
    is_long: bool,
}

impl Mentions {
    /// Takes in the next bytes of a log.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        self.blobs.feed(chunk);
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end);
            self.take(line);
            self.end_line();
            rest = behind.get(1..).unwrap_or_default();
        }
        self.take(rest);
    }

    /// Ends a log.
    pub(super) fn end(&mut self) {
        self.blobs.end();
        self.end_line();
    }

    fn take(&mut self, piece: &[u8]) {
        self.is_long |= self.line.len() + piece.len() > LONGEST;
        if !self.is_long {
            self.line.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self) {
        if !std::mem::take(&mut self.is_long) && is_ours(&self.line) {
            self.snapshots.feed(&self.line);
            // A name does not go on in another line.
            self.snapshots.feed(b"");
        }
        self.line.clear();
    }
}

fn is_ours(line: &[u8]) -> bool {
    // Most lines have not even the word.
    memmem::find(line, RAMUS_PREFIX.as_bytes()).is_some()
        && Raw::parse(line)
            .and_then(|entry| entry.field("customType")?.text())
            .is_some_and(|name| name.starts_with(RAMUS_PREFIX))
}

#[cfg(test)]
mod tests {
    use ramus_snapshot::SnapshotId;

    use super::*;

    #[test]
    fn a_snapshot_counts_where_ramus_wrote_it_down_and_nowhere_else() {
        let id = |digit: char| digit.to_string().repeat(40);
        let noted = format!(r#"{{"type":"custom","customType":"ramus.snapshot","data":{{"commit":"{}"}}}}"#, id('a'));
        let said = format!(r#"{{"type":"message","message":{{"role":"user","content":"ramus.x {}"}}}}"#, id('b'));
        let nested =
            format!(r#"{{"type":"custom","customType":"x","data":{{"customType":"ramus.y","c":"{}"}}}}"#, id('c'));
        let log = format!("{noted}\n{said}\n{nested}\n{}", noted.replace(&id('a'), &id('d')));
        for size in [1, 7, 50, 1000] {
            let mut mentions = Mentions::default();
            log.as_bytes().chunks(size).for_each(|chunk| mentions.feed(chunk));
            mentions.end();
            let found = ['a', 'b', 'c', 'd']
                .map(|digit| SnapshotId::parse(&id(digit)).is_ok_and(|id| mentions.snapshots.contains(id)));
            assert_eq!(found, [true, false, false, true], "{size}");
        }
    }
}
