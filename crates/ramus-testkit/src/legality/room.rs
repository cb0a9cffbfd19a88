//! Making room in a tree: what an eviction and a compaction would append.

use ramus_model::budget::{self, Keep};
use ramus_model::context::provider::Outgoing;
use ramus_model::tokens::Heuristic;
use ramus_model::{Log, Seq, context};
use serde_json::{Value, json};

use crate::random::Random;

/// The file after evictions of some tokens, and of as many as can go.
pub(super) fn evictions(log: &Log, leaf: Seq, file: &[u8], sent: &[Outgoing], random: &mut Random) -> Vec<Vec<u8>> {
    let weights = budget::weights(log, sent, &Heuristic);
    let total: u64 = weights.iter().map(|(_, weight)| weight.tokens).sum();
    let plain: Vec<_> = weights.iter().map(|(_, weight)| *weight).collect();
    let mut files = Vec::new();
    for need in [1 + random.below(total as usize + 1) as u64, u64::MAX] {
        let evicted = budget::evict(&plain, need).removed;
        let seqs = evicted.iter().filter_map(|at| weights.get(*at).and_then(|(seq, _)| *seq));
        let edits = seqs.map(|seq| json!({"type": "context_edit", "targetId": log.id(seq), "replacement": null}));
        files.extend(appended(log, leaf, file, edits.collect()));
    }
    files
}

/// The file after a compaction at each place where one can cut.
pub(super) fn compactions(log: &Log, leaf: Seq, file: &[u8]) -> Vec<Vec<u8>> {
    let path = log.path(Some(leaf));
    let Ok(context) = context::build(log, Some(leaf), file);
    let Ok(weighed) = budget::weigh(log, &path, file, &Heuristic);
    let Ok(start) = budget::start(log, &path, context.compacted_by, file);
    let mut cuts: Vec<usize> = (1..=path.len())
        .filter_map(|count| budget::plan(&weighed, start, Keep::Messages(count)))
        .map(|plan| plan.first_kept)
        .collect();
    cuts.dedup();
    let entry = |cut: usize| {
        let kept = path.get(cut).map(|seq| log.id(*seq));
        json!({"type": "compaction", "summary": "They spoke of rings.", "firstKeptEntryId": kept, "tokensBefore": 9})
    };
    cuts.into_iter().filter_map(|cut| appended(log, leaf, file, vec![entry(cut)])).collect()
}

/// The file with entries behind a leaf; none when there are no entries.
fn appended(log: &Log, leaf: Seq, file: &[u8], entries: Vec<Value>) -> Option<Vec<u8>> {
    let mut file = file.to_vec();
    let mut parent = log.id(leaf).to_owned();
    for (at, mut entry) in entries.into_iter().enumerate() {
        let id = format!("ffff{at:04x}");
        let object = entry.as_object_mut()?;
        object.insert("id".to_owned(), id.as_str().into());
        object.insert("parentId".to_owned(), parent.into());
        object.insert("timestamp".to_owned(), "2026-03-02T08:00:02.000Z".into());
        file.extend_from_slice(format!("{entry}\n").as_bytes());
        parent = id;
    }
    (parent != log.id(leaf)).then_some(file)
}
