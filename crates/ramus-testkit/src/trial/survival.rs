//! The judge of a disk that had errors: everything acknowledged is there in its order and byte for byte, and nothing is
//! there that was refused for good.

use std::collections::BTreeSet;

use ramus_engine::{EngineError, Filter};
use ramus_store::StoreError;

use super::home::{CWD, engine};
use super::model::Entry;
use super::oracle::{check_writing, entries_of};
use super::world::World;
use crate::sim::{Operation, OperationKind, SimFs};

/// What errors left open.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// Sessions whose deletion reported an error: the file may be gone all the same.
    pub(super) may_be_gone: BTreeSet<String>,
    /// Entries that were refused without a doubt: they must not be there.
    pub(super) refused: BTreeSet<String>,
    /// Sessions and entries that were acknowledged behind the model's back.
    pub(super) extra: Vec<(String, String)>,
}

impl Survivors {
    /// Takes down what a verb that failed leaves open: `refused` are the entries it was given.
    pub(super) fn note(&mut self, error: &EngineError, failed: &[Operation], refused: BTreeSet<String>) {
        let in_doubt = matches!(error, EngineError::Store(StoreError::Unconfirmed { .. }))
            || failed.iter().any(|operation| operation.kind == OperationKind::Truncate);
        if !in_doubt {
            self.refused.extend(refused);
        }
    }
}

/// Checks a disk against what was acknowledged in a world, and that all of it can be written to.
pub(super) fn check_survival(fs: &SimFs, world: &World, survivors: &Survivors) -> Result<(), String> {
    let engine = engine(fs);
    let filter = Filter { drafts: true, archived: true, ..Filter::default() };
    let listing = engine.list_by_reading(&filter).map_err(|error| format!("list: {error}"))?;
    if let Some((id, reason)) = listing.unreadable.first() {
        return Err(format!("session {id} cannot be read: {reason}"));
    }
    let listed: Vec<String> = listing.sessions.iter().map(|info| info.id.to_string()).collect();
    for (id, acknowledged) in &world.model().sessions {
        let wrong = |wrong: String| format!("session {id} {wrong}");
        if !listed.contains(id) {
            if survivors.may_be_gone.contains(id) {
                continue;
            }
            return Err(wrong("is gone".to_owned()));
        }
        let session = engine.open(id, CWD).map_err(|error| wrong(error.to_string()))?;
        let read = entries_of(&session).map_err(|error| wrong(error.to_string()))?;
        check_entries(&read, acknowledged, world, survivors).map_err(wrong)?;
    }
    // A session whose making was refused may be there, perhaps without the origin it names; nobody counts on it.
    for id in listed.iter().filter(|id| world.model().sessions.contains_key(*id)) {
        check_writing(fs, id).map_err(|wrong| format!("session {id} {wrong}"))?;
    }
    Ok(())
}

fn check_entries(read: &[Entry], acknowledged: &[Entry], world: &World, survivors: &Survivors) -> Result<(), String> {
    let mut rest = read.iter();
    if let Some(lost) = acknowledged.iter().find(|wanted| !rest.any(|read| wanted.is(read))) {
        let read: Vec<&str> = read.iter().map(|entry| entry.id.as_str()).collect();
        return Err(format!("lost {}, or its place or bytes: it has {read:?}", lost.id));
    }
    for entry in read {
        let known = acknowledged.iter().any(|wanted| wanted.id == entry.id)
            || world.attempted().contains(&entry.id)
            || survivors.extra.iter().any(|(_, id)| *id == entry.id)
            || is_made_by_engine(entry);
        if !known {
            return Err(format!("holds {}, which nobody wrote", entry.id));
        }
        if survivors.refused.contains(&entry.id) {
            return Err(format!("holds {}, which was refused", entry.id));
        }
    }
    Ok(())
}

/// Titles and pointer moves get ids that only the engine knows.
fn is_made_by_engine(entry: &Entry) -> bool {
    let line = entry.line.as_deref().unwrap_or_default();
    !entry.id.contains('~')
        && [&b"\"session_info\""[..], b"\"ramus.leaf\""].iter().any(|mark| memchr::memmem::find(line, mark).is_some())
}
