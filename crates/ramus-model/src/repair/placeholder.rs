//! Placeholders: an entry whose content is damaged but whose front still says who it is and what it hangs from keeps its
//! place in the tree. Without it everything that hangs from it would lose its history.

use std::ops::Range;

use super::header::member;
use crate::json::{Raw, quote};
use crate::kind::RAMUS_PREFIX;
use crate::log::{Depth, Log};

/// Finds the damaged ranges that a quick reading would show as entries, and what can stand for each in its place.
pub(super) fn placeholders(bytes: &[u8], damage: &[Range<usize>]) -> Vec<(usize, Vec<u8>)> {
    if damage.is_empty() {
        return Vec::new();
    }
    let log = Log::from_bytes(&without_zeros(bytes, damage), Depth::Envelope);
    if log.is_legacy() {
        // Without ids nothing refers to an entry.
        return Vec::new();
    }
    let shown = log.seqs().filter_map(|seq| {
        let start = usize::try_from(log.stored_place(seq)?.offset).ok()?;
        let range = damage.binary_search_by_key(&start, |range| range.start).ok().and_then(|at| damage.get(at))?;
        let line = placeholder(bytes.get(range.clone())?, log.id(seq))?;
        Some((start, line))
    });
    shown.collect()
}

/// The bytes with the zeros in damaged ranges blanked. A quick reading shows no line with a zero byte as an entry, but
/// behind a legible front zeros are damage like any other.
fn without_zeros(bytes: &[u8], damage: &[Range<usize>]) -> Vec<u8> {
    let mut blanked = bytes.to_vec();
    for range in damage {
        let zeros = blanked.get_mut(range.clone()).unwrap_or_default().iter_mut().filter(|byte| **byte == 0);
        zeros.for_each(|byte| *byte = b' ');
    }
    blanked
}

/// Writes an entry with the same id, parent and time, if it fits where the damaged one is.
fn placeholder(damaged: &[u8], id: &str) -> Option<Vec<u8>> {
    // One that goes by another name than it says is a duplicate: nothing hangs from it.
    member(damaged, "id").and_then(Raw::text).filter(|stored| *stored == id)?;
    let mut line = b"{\"type\":\"custom\"".to_vec();
    for name in ["id", "parentId", "timestamp"] {
        let value = member(damaged, name);
        line.push(b',');
        quote(name, &mut line);
        line.push(b':');
        line.extend_from_slice(value.map_or(b"null", Raw::bytes));
    }
    line.extend_from_slice(b",\"customType\":");
    quote(&format!("{RAMUS_PREFIX}damaged"), &mut line);
    line.push(b'}');
    (line.len() <= damaged.len() && Raw::parse(&line).is_some()).then_some(line)
}
