//! Names of snapshots anywhere in bytes, however damaged: what a collector must keep.

use std::collections::HashSet;

use ramus_snapshot::SnapshotId;

/// How long a name is.
const LEN: usize = 40;

/// Finds which of some snapshots are named. It looks for their digits and does not ask where they stand, so that it finds
/// too many rather than too few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Which are looked for; none when any is.
    wanted: Option<HashSet<SnapshotId>>,
    found: HashSet<SnapshotId>,
    /// The end of the last chunk: a name may reach over it.
    tail: Vec<u8>,
}

impl Named {
    /// Looks for these.
    pub(crate) fn among(wanted: HashSet<SnapshotId>) -> Self {
        Self { wanted: Some(wanted), ..Self::default() }
    }

    /// Looks for whatever might be the name of one.
    pub(crate) fn any() -> Self {
        Self::default()
    }

    /// Returns what was found.
    pub(crate) fn into_found(self) -> HashSet<SnapshotId> {
        self.found
    }

    /// Looks through the next chunk of a file; an empty one ends it.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if chunk.is_empty() {
            self.tail.clear();
            return;
        }
        let mut seam = std::mem::take(&mut self.tail);
        seam.extend_from_slice(chunk.get(..LEN - 1).unwrap_or(chunk));
        self.scan(&seam);
        self.scan(chunk);
        let end = if chunk.len() >= LEN - 1 { chunk } else { &seam };
        self.tail = end.get(end.len().saturating_sub(LEN - 1)..).unwrap_or_default().to_vec();
    }

    /// Says whether a snapshot is named.
    pub(crate) fn contains(&self, id: SnapshotId) -> bool {
        self.found.contains(&id)
    }

    fn scan(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while let Some(window) = bytes.get(at..at + LEN) {
            // Most windows end at their last byte.
            if let Some(stop) = window.iter().rposition(|byte| !byte.is_ascii_hexdigit()) {
                at += stop + 1;
                continue;
            }
            let id = str::from_utf8(window).ok().and_then(|text| SnapshotId::parse(text).ok());
            let is_wanted = |id: &SnapshotId| self.wanted.as_ref().is_none_or(|wanted| wanted.contains(id));
            self.found.extend(id.filter(is_wanted));
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_across_any_chunks_and_only_whole_ones() {
        let id = |digit: u8| SnapshotId::parse(&format!("{:039}{digit:x}", 0)).unwrap_or_else(|_| panic!("no id"));
        let ids: Vec<SnapshotId> = (1..10).map(id).collect();
        let text: String = ids.iter().map(|id| format!("\"commit\":\"{id}\",a{id}f ")).collect();
        for size in [1, 2, 39, 40, 41, 100, 10_000] {
            let mut named = Named::among(ids.iter().copied().collect());
            text.as_bytes().chunks(size).for_each(|chunk| named.feed(chunk));
            assert!(ids.iter().all(|id| named.contains(*id)), "{size}");
        }
        let mut named = Named::among(ids.iter().copied().collect());
        named.feed(&text.as_bytes()[..30]);
        named.feed(b"");
        named.feed(&text.as_bytes()[30..50]);
        assert!(!named.contains(id(1)), "one file does not go on in another");
        let mut others = Named::among(HashSet::new());
        others.feed(text.as_bytes());
        assert!(!ids.iter().any(|id| others.contains(*id)));
    }
}
