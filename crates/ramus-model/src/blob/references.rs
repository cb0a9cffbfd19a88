//! References to blobs anywhere in bytes, however damaged: what a collector must keep.

use std::collections::BTreeSet;

use super::{BlobHash, HASH_PREFIX};

/// How long a reference is.
const LEN: usize = HASH_PREFIX.len() + 64;

/// Collects the hashes that bytes refer to. It looks for `sha256:` and 64 digits and does not ask where they stand, so
/// that it finds too many rather than too few.
#[derive(Clone, Debug, Default)]
pub struct References {
    found: BTreeSet<BlobHash>,
    /// The end of the last chunk: a reference may reach over it.
    tail: Vec<u8>,
}

impl References {
    /// Looks through the next chunk of a file.
    pub fn feed(&mut self, chunk: &[u8]) {
        let mut seam = std::mem::take(&mut self.tail);
        let overlap = seam.len() + chunk.len().min(LEN - 1);
        seam.extend_from_slice(chunk.get(..overlap - seam.len()).unwrap_or_default());
        self.scan(&seam);
        self.scan(chunk);
        let end = if chunk.len() >= LEN - 1 { chunk } else { &seam };
        self.tail = end.get(end.len().saturating_sub(LEN - 1)..).unwrap_or_default().to_vec();
    }

    /// Ends a file: what follows does not continue it.
    pub fn end(&mut self) {
        self.tail.clear();
    }

    /// Looks through the next chunk of a file; an empty one ends it.
    pub fn feed_or_end(&mut self, chunk: &[u8]) {
        if chunk.is_empty() { self.end() } else { self.feed(chunk) }
    }

    /// Says whether a blob is referred to.
    pub fn contains(&self, hash: BlobHash) -> bool {
        self.found.contains(&hash)
    }

    /// Returns what was found.
    pub fn found(&self) -> &BTreeSet<BlobHash> {
        &self.found
    }

    fn scan(&mut self, bytes: &[u8]) {
        for at in memchr::memmem::find_iter(bytes, HASH_PREFIX) {
            let digits = bytes.get(at + HASH_PREFIX.len()..at + LEN);
            self.found.extend(digits.and_then(BlobHash::parse));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_across_any_chunks() {
        let hashes: Vec<BlobHash> = (0..20u8).map(|at| BlobHash::of(&[at])).collect();
        let text: String =
            hashes.iter().enumerate().map(|(at, hash)| format!("{}sha256:{hash}", " ".repeat(at))).collect();
        for size in [1, 2, 6, 7, 63, 64, 70, 71, 72, 100, 1000, 10_000] {
            let mut references = References::default();
            text.as_bytes().chunks(size).for_each(|chunk| references.feed(chunk));
            assert_eq!(references.found().iter().copied().collect::<Vec<_>>(), {
                let mut sorted = hashes.clone();
                sorted.sort_unstable();
                sorted
            });
        }
        let mut split = References::default();
        split.feed(&text.as_bytes()[..40]);
        split.end();
        split.feed(&text.as_bytes()[40..71]);
        assert!(split.found().is_empty());
    }
}
