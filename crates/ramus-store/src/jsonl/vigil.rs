//! What the logs looked like when they were last asked about. Whoever asks again and again is spared looking at every
//! file: the system tells which ones changed.
//!
//! What the system tells is believed for a short while only. Whatever it should miss is noticed at the next full look.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::JsonlStore;
use super::stamp::{Lair, is_log};
use crate::error::StoreError;
use crate::fs::Watch;
use crate::store::Stamped;

/// For how long changes are believed to be told.
const TRUST: Duration = Duration::from_secs(2);

/// What is known of the logs.
#[derive(Debug, Default)]
pub(super) struct Vigil {
    /// Whether someone asked before: who asks once needs no watch.
    is_asked_again: bool,
    watched: Option<Watched>,
}

#[derive(Debug)]
struct Watched {
    watch: Box<dyn Watch>,
    /// The directories that are watched, by their number.
    lairs: Vec<Lair>,
    since: Instant,
    stamps: Arc<Vec<Stamped>>,
    /// Where in `stamps` a log is.
    places: HashMap<Arc<str>, usize>,
    /// Those that changed a moment ago: another change may not show.
    fresh: Vec<(usize, OsString)>,
}

impl JsonlStore {
    pub(super) fn stamp_files(&self) -> Result<Arc<Vec<Stamped>>, StoreError> {
        self.check_home()?;
        let mut vigil = self.vigil.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut watched) = vigil.watched.take().filter(|watched| watched.since.elapsed() < TRUST)
            && let Some(changes) = watched.watch.changes()
            && self.follow(&mut watched, changes)?
        {
            let stamps = Arc::clone(&watched.stamps);
            vigil.watched = Some(watched);
            return Ok(stamps);
        }
        let lairs = self.lairs()?;
        // Watched before it is looked at: what changes in between is told.
        let watch = if std::mem::replace(&mut vigil.is_asked_again, true) { self.watch(&lairs) } else { None };
        let since = Instant::now();
        let stamps = Arc::new(self.survey(&lairs)?);
        vigil.watched = watch.map(|(watch, lairs)| Watched::new(watch, lairs, since, Arc::clone(&stamps)));
        Ok(stamps)
    }

    fn watch(&self, lairs: &[Lair]) -> Option<(Box<dyn Watch>, Vec<Lair>)> {
        let there: Vec<Lair> = lairs.iter().filter(|lair| lair.path.is_dir()).cloned().collect();
        let directories: Vec<_> = there.iter().map(|lair| lair.path.clone()).collect();
        let watch = self.fs.watch(&directories, &[self.root.clone(), self.sessions()])?;
        Some((watch, there))
    }

    /// Looks at what changed. Says whether nothing was lost track of.
    fn follow(&self, watched: &mut Watched, changes: Vec<(usize, OsString)>) -> Result<bool, StoreError> {
        let mut changes = Some(changes);
        while let Some(changed) = changes {
            if !self.look_at_changed(watched, changed)? {
                return Ok(true);
            }
            // One that is gone may have been moved while this looked: then its new name is told by now.
            changes = watched.watch.changes();
            if changes.as_ref().is_some_and(Vec::is_empty) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Says whether a log is gone.
    fn look_at_changed(&self, watched: &mut Watched, mut changes: Vec<(usize, OsString)>) -> Result<bool, StoreError> {
        let mut is_gone = false;
        changes.append(&mut watched.fresh);
        changes.retain(|(_, name)| is_log(name));
        changes.sort_unstable();
        changes.dedup();
        for (number, name) in changes {
            let Some(lair) = watched.lairs.get(number) else { continue };
            let stamped = self.look_again(lair, &name)?;
            if stamped.as_ref().is_some_and(|stamped| stamped.is_fresh) {
                watched.fresh.push((number, name.clone()));
            }
            let name = lair.name_of(&name);
            is_gone |= stamped.is_none() && watched.places.contains_key(&name);
            watched.put(&name, stamped);
        }
        Ok(is_gone)
    }
}

impl Watched {
    fn new(watch: Box<dyn Watch>, lairs: Vec<Lair>, since: Instant, stamps: Arc<Vec<Stamped>>) -> Self {
        let places = stamps.iter().enumerate().map(|(at, stamped)| (Arc::clone(&stamped.name), at)).collect();
        let fresh = stamps.iter().filter(|stamped| stamped.is_fresh).filter_map(|stamped| {
            let (place, name) = stamped.name.rsplit_once('/')?;
            let number = lairs.iter().position(|lair| lair.is_spelled(place))?;
            Some((number, OsStr::new(name).to_owned()))
        });
        let fresh = fresh.collect();
        Self { watch, lairs, since, stamps, places, fresh }
    }

    /// Takes in what a log looks like now.
    fn put(&mut self, name: &Arc<str>, stamped: Option<Stamped>) {
        let place = self.places.get(name).copied();
        match (place, stamped) {
            (Some(at), Some(stamped)) if self.stamps.get(at) == Some(&stamped) => {}
            (Some(at), Some(stamped)) => {
                if let Some(slot) = Arc::make_mut(&mut self.stamps).get_mut(at) {
                    *slot = stamped;
                }
            }
            (None, Some(stamped)) => {
                let stamps = Arc::make_mut(&mut self.stamps);
                self.places.insert(Arc::clone(name), stamps.len());
                stamps.push(stamped);
            }
            (Some(at), None) => {
                let stamps = Arc::make_mut(&mut self.stamps);
                stamps.swap_remove(at);
                self.places.remove(name);
                if let Some(moved) = stamps.get(at) {
                    self.places.insert(Arc::clone(&moved.name), at);
                }
            }
            (None, None) => {}
        }
    }
}
