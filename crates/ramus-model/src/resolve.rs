//! Naming entries: full id, unique prefix, `#seq`, label, numbered alias, `@` and `@-`.

use crate::id::{Seq, alias_namespace};
use crate::kind::{Kind, Marker};
use crate::log::{Log, Record};

/// The shortest prefix of an id that is looked at.
pub const MIN_PREFIX: usize = 4;

/// The key of the metadata that names the namespace of numbered messages, when it is not the one the id gives.
pub const NAMESPACE: &str = "namespace";

/// Why a reference names no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nothing matches.
    #[error("no entry is called {0:?}")]
    NotFound(String),
    /// Several entries match.
    #[error("{reference:?} could be {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// The ids that match.
        candidates: Vec<String>,
    },
    /// The reference stands for the leaf, and there is none.
    #[error("the session has no leaf: it is empty or its leaf was reset")]
    NoLeaf,
}

/// Finds the entry that `reference` names. An empty reference is the leaf, and each `-` goes to the parent: what follows
/// the `@` of `SESSION@-`.
pub fn entry(log: &Log, reference: &str) -> Result<Seq, ResolveError> {
    if reference.bytes().all(|byte| byte == b'-') {
        return ancestor(log, reference);
    }
    let not_found = || ResolveError::NotFound(reference.to_owned());
    let ours = |seq: &Seq| log.belongs(*seq);
    if let Some(number) = reference.strip_prefix('#') {
        let seq = number.parse().ok().and_then(Seq::new);
        return seq.filter(ours).ok_or_else(not_found);
    }
    if let Some(seq) = log.seq_of(reference).filter(ours) {
        return Ok(seq);
    }
    let labelled = log.facts().labelled(reference).filter_map(|id| log.seq_of(id.as_str()));
    let mut labelled: Vec<Seq> = labelled.filter(ours).collect();
    labelled.sort_unstable();
    if !labelled.is_empty() {
        return only(log, reference, labelled);
    }
    if let Some(seq) = aliased(log, reference).filter(ours) {
        return Ok(seq);
    }
    if reference.len() < MIN_PREFIX {
        return Err(not_found());
    }
    // A later version of an entry is not another entry.
    let starts = |seq: &Seq| log.id(*seq).starts_with(reference) && log.is_original(*seq);
    let starting: Vec<Seq> = log.seqs().filter(starts).filter(ours).collect();
    if starting.is_empty() { Err(not_found()) } else { only(log, reference, starting) }
}

fn only(log: &Log, reference: &str, found: Vec<Seq>) -> Result<Seq, ResolveError> {
    match found.as_slice() {
        [seq] => Ok(*seq),
        several => Err(ResolveError::Ambiguous {
            reference: reference.to_owned(),
            candidates: several.iter().take(10).map(|seq| log.id(*seq).to_owned()).collect(),
        }),
    }
}

fn ancestor(log: &Log, dashes: &str) -> Result<Seq, ResolveError> {
    let mut visible = log.ancestors(log.leaf()).filter(|seq| log.record(*seq).is_some_and(Record::is_visible));
    visible.next().ok_or(ResolveError::NoLeaf).and_then(|leaf| match dashes.len() {
        0 => Ok(leaf),
        steps => visible.nth(steps - 1).ok_or_else(|| ResolveError::NotFound(format!("@{dashes}"))),
    })
}

/// Finds a message by its number: `<namespace>-0001` is the first message of the session, whatever its branch.
fn aliased(log: &Log, reference: &str) -> Option<Seq> {
    let (namespace, number) = reference.rsplit_once('-')?;
    // A session that was reset counts anew, under another name.
    let own = match log.facts().meta().get(NAMESPACE).and_then(serde_json::Value::as_str) {
        Some(own) => own.to_owned(),
        None => alias_namespace(&log.header()?.id),
    };
    if own != namespace {
        return None;
    }
    let number: usize = number.parse().ok().filter(|number| *number > 0)?;
    let found = numbered(log).nth(number - 1)?;
    log.record(found).filter(|record| record.marker != Marker::Purged).map(|_| found)
}

/// Returns the messages of a session in the order of their numbers. One that was purged keeps its number.
pub fn numbered(log: &Log) -> impl Iterator<Item = Seq> + '_ {
    let is_message = |seq: &Seq| {
        log.record(*seq).is_some_and(|record| record.kind == Kind::Message || record.marker == Marker::Purged)
    };
    log.seqs().filter(move |seq| is_message(seq) && log.belongs(*seq))
}
