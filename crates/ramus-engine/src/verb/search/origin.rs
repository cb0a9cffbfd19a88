//! What deleted sessions left to their forks: each entry is found once, in the newest fork that shows it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_model::Depth;
use ramus_store::{Location, LogStore, Residence, StoreError};

use super::scan::{Judge, Scan};
use super::spot::{Spot, Whose, spots};
use crate::error::EngineError;
use crate::session::{Session, load};

/// A line of a base: which file, and where.
type Line = (Option<PathBuf>, u64);

/// Judges the entries of bases, each for the newest of `forks` that shows it.
pub(super) fn add(
    scan: &mut Scan,
    store: &Arc<dyn LogStore>,
    judge: &mut Judge<'_>,
    forks: &[Location],
) -> Result<(), EngineError> {
    let mut claims: HashMap<Line, (i64, String)> = HashMap::new();
    let mut read = Vec::new();
    for location in forks {
        // Whatever is wrong with a fork was told when its own entries were read. It, and then its base, may also have
        // been deleted while we were looking.
        let Ok(session) = load(store, location.clone(), Depth::Envelope) else { continue };
        let Ok(info) = session.info() else { continue };
        let claim = (info.updated_millis, info.id.to_string());
        let Some(shown) = unless_gone(of_bases(&session))? else { continue };
        for (line, _) in &shown {
            let best = claims.entry(line.clone()).or_insert_with(|| claim.clone());
            *best = best.clone().max(claim.clone());
        }
        read.push((session, claim, shown));
    }
    for (session, claim, shown) in read {
        let mine = shown.into_iter().filter(|(line, _)| claims.get(line) == Some(&claim)).map(|(_, spot)| spot);
        unless_gone(scan.take_claimed(&session, &mine.collect::<Vec<_>>(), judge))?;
    }
    Ok(())
}

/// None when a log is not there any more.
pub(super) fn unless_gone<T>(read: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match read {
        Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(None),
        read => read.map(Some),
    }
}

/// What a session shows that is in bases.
fn of_bases(session: &Session) -> Result<Vec<(Line, Spot)>, EngineError> {
    let line_of = |spot: Spot| {
        let source = session.sources.get(usize::from(spot.place.source))?;
        (source.residence == Residence::Base).then(|| ((source.path.clone(), spot.place.offset), spot))
    };
    Ok(spots(session, Whose::Shown)?.into_iter().filter_map(line_of).collect())
}
