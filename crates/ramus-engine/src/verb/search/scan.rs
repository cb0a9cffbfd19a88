//! Searching by reading: every session, every line that may have the words.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_model::search::{Corpus, Document, Matcher, Prefilter, Tally, score};
use ramus_model::{Lines as _, Place, SessionId};
use ramus_store::{Location, LogStore, Residence, StoreError};

use super::hit::{self, Candidate, hit};
use super::origin;
use super::spot::{About, Spot, Whose, spots};
use super::{Hits, IndexState, Sought};
use crate::error::EngineError;
use crate::session::{KnownOrigins, Session, load_listed, unknown};

/// What reading through sessions came to.
#[derive(Default)]
pub(super) struct Scan {
    sessions: Vec<Searched>,
    found: Vec<(Candidate, Tally)>,
    corpus: Corpus,
    damaged: Vec<String>,
    unreadable: Vec<(String, String)>,
    /// Sessions that stand on what a deleted one left.
    based: Vec<Location>,
}

/// A session that has hits.
struct Searched {
    about: About,
    sources: Vec<Location>,
}

/// What is needed to judge lines, with its memory.
pub(super) struct Judge<'s> {
    sought: &'s Sought<'s>,
    pub(super) matcher: Matcher,
    prefilter: Prefilter,
    pub(super) document: Document,
}

impl<'s> Judge<'s> {
    pub(super) fn new(sought: &'s Sought<'s>) -> Self {
        let query = &sought.search.query;
        Self { sought, matcher: Matcher::new(query), prefilter: Prefilter::new(query), document: Document::default() }
    }
}

/// Searches all sessions of a home.
pub(super) fn home(store: &Arc<dyn LogStore>, sought: &Sought<'_>) -> Result<Hits, EngineError> {
    let all = store.list()?;
    let mut scan = read_all(store, sought, &all, &all);
    let based = std::mem::take(&mut scan.based);
    if !based.is_empty() {
        origin::add(&mut scan, store, &mut Judge::new(sought), &based)?;
    }
    let index = IndexState { ready: false, indexed: 0, sessions: all.len() };
    scan.finish(store.as_ref(), sought, Some(index))
}

/// Searches some sessions, and what deleted ones left to the forks in `based`.
pub(super) fn part(
    store: &Arc<dyn LogStore>,
    sought: &Sought<'_>,
    some: &[Location],
    based: &[Location],
) -> Result<Hits, EngineError> {
    let mut scan = Scan::default();
    if !some.is_empty() {
        scan = read_all(store, sought, some, &store.list()?);
    }
    if !based.is_empty() {
        origin::add(&mut scan, store, &mut Judge::new(sought), based)?;
    }
    scan.finish(store.as_ref(), sought, None)
}

/// Searches what one session shows.
pub(super) fn session(session: &Session, sought: &Sought<'_>) -> Result<Hits, EngineError> {
    let mut judge = Judge::new(sought);
    let mut scan = Scan::default();
    scan.take(session, Whose::Shown, &mut judge)?;
    scan.finish(session.store.as_ref(), sought, None)
}

/// Reads through sessions, several at a time.
fn read_all(store: &Arc<dyn LogStore>, sought: &Sought<'_>, locations: &[Location], all: &[Location]) -> Scan {
    // Of several logs of one session the first in the order of a list counts.
    let known: HashMap<&SessionId, &Location> = all.iter().rev().map(|location| (&location.id, location)).collect();
    let known = |id: &SessionId| known.get(id).map(|location| (*location).clone());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(locations.len());
    let next = AtomicUsize::new(0);
    let scans = Mutex::new(Vec::new());
    let work = || {
        let mut judge = Judge::new(sought);
        let mut scan = Scan::default();
        while let Some(location) = locations.get(next.fetch_add(1, Ordering::Relaxed)) {
            scan.read(store, location, &known, &mut judge);
        }
        scans.lock().unwrap_or_else(PoisonError::into_inner).push(scan);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut whole = Scan::default();
    scans.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().for_each(|scan| whole.join(scan));
    whole
}

impl Scan {
    /// Reads through one session; what cannot be read is named.
    fn read(&mut self, store: &Arc<dyn LogStore>, location: &Location, known: KnownOrigins<'_>, judge: &mut Judge<'_>) {
        let read = |known: KnownOrigins<'_>| load_listed(store, location.clone(), known);
        let session = match read(known) {
            // What it was forked from may have been deleted while we were looking: its base is found afresh.
            Err(EngineError::Store(StoreError::NotFound { .. })) => read(&unknown),
            session => session,
        };
        let taken = session.and_then(|session| self.take(&session, Whose::Own, judge));
        match taken {
            // Deleted or published while we were looking.
            Ok(()) | Err(EngineError::Store(StoreError::NotFound { .. })) => {}
            Err(error) => self.unreadable.push((location.id.to_string(), error.to_string())),
        }
    }

    /// Judges what a session has.
    fn take(&mut self, session: &Session, whose: Whose, judge: &mut Judge<'_>) -> Result<(), EngineError> {
        let about = About::of(session);
        if whose == Whose::Own && session.sources.iter().any(|source| source.residence == Residence::Base) {
            self.based.push(session.location().clone());
        }
        if !judge.sought.admits(&about.facts()) {
            return Ok(());
        }
        let number = self.sessions.len();
        let before = self.found.len();
        if let Some((title, millis)) = &about.given {
            judge.document.read_title(title, *millis);
            self.judge(number, None, judge);
        }
        let judged = spots(session, whose).and_then(|spots| self.judge_spots(session, number, &spots, judge));
        if judged.is_err() {
            self.found.truncate(before);
            return judged;
        }
        // Reading may have shown what opening did not.
        if session.log().is_damaged() {
            self.damaged.push(about.id.clone());
        }
        if self.found.len() > before {
            self.sessions.push(Searched { about, sources: session.sources.clone() });
        }
        Ok(())
    }

    fn judge_spots(
        &mut self,
        session: &Session,
        number: usize,
        spots: &[Spot],
        judge: &mut Judge<'_>,
    ) -> Result<(), EngineError> {
        let lines = session.lines();
        let residence = session.residence();
        for spot in spots {
            let line = lines.line(spot.place)?;
            if !judge.prefilter.may_match(&line) {
                self.corpus.documents += 1;
                self.corpus.words += line.len() as u64 / 8;
                continue;
            }
            let (line, _) = hit::restored(session.store.as_ref(), residence, line);
            if judge.document.read(&line) {
                self.judge(number, Some(spot), judge);
            }
        }
        Ok(())
    }

    fn judge(&mut self, session: usize, spot: Option<&Spot>, judge: &mut Judge<'_>) {
        let (holds, tally) = judge.matcher.judge(&judge.document);
        self.corpus.count(tally);
        if holds {
            let at = spot.map(|spot| (spot.entry.clone(), spot.place));
            let candidate = Candidate { session, at, millis: judge.document.millis, score: 0.0 };
            self.found.push((candidate, tally.clone()));
        }
    }

    /// Judges what a session shows of logs that were deleted and that it alone answers for.
    pub(super) fn take_claimed(
        &mut self,
        session: &Session,
        claimed: &[Spot],
        judge: &mut Judge<'_>,
    ) -> Result<(), EngineError> {
        let about = About::of(session);
        if !judge.sought.admits(&about.facts()) {
            return Ok(());
        }
        let (number, before) = (self.sessions.len(), self.found.len());
        let judged = self.judge_spots(session, number, claimed, judge);
        if judged.is_err() {
            self.found.truncate(before);
            return judged;
        }
        if self.found.len() > before {
            self.sessions.push(Searched { about, sources: session.sources.clone() });
        }
        Ok(())
    }

    fn join(&mut self, other: Self) {
        let shift = self.sessions.len();
        self.sessions.extend(other.sessions);
        self.found.extend(other.found.into_iter().map(|(mut candidate, tally)| {
            candidate.session += shift;
            (candidate, tally)
        }));
        self.corpus.add(&other.corpus);
        self.damaged.extend(other.damaged);
        self.unreadable.extend(other.unreadable);
        self.based.extend(other.based);
    }

    /// Ranks what was found and reads the best again, to show it.
    fn finish(
        mut self,
        store: &dyn LogStore,
        sought: &Sought<'_>,
        index: Option<IndexState>,
    ) -> Result<Hits, EngineError> {
        let mut judge = Judge::new(sought);
        for (candidate, tally) in &mut self.found {
            candidate.score = score(tally, judge.matcher.scored(), &self.corpus);
        }
        let mut found: Vec<Candidate> = self.found.into_iter().map(|(candidate, _)| candidate).collect();
        // The order in which threads came to sessions must not show.
        let name = |candidate: &Candidate| self.sessions.get(candidate.session).map(|searched| &searched.about.id);
        found.sort_by(|a, b| a.order(b).then_with(|| name(a).cmp(&name(b))));
        let mut total = found.len();
        found.truncate(sought.search.limit);
        let mut hits = Vec::with_capacity(found.len());
        for candidate in &found {
            let Some(searched) = self.sessions.get(candidate.session) else { continue };
            let line = match &candidate.at {
                Some((_, place)) => origin::unless_gone(searched.line(store, *place))?,
                None => Some(Vec::new()),
            };
            let Some(line) = line else {
                // Deleted since it was judged.
                total -= 1;
                continue;
            };
            match (&candidate.at, &searched.about.given) {
                (None, Some((title, millis))) => judge.document.read_title(title, *millis),
                _ => drop(judge.document.read(&line)),
            }
            hits.push(hit(&searched.about, candidate, &line, &judge.document, &mut judge.matcher));
        }
        self.damaged.sort();
        self.unreadable.sort();
        Ok(Hits { hits, total, is_counted: true, damaged: self.damaged, unreadable: self.unreadable, index })
    }
}

impl Searched {
    fn line(&self, store: &dyn LogStore, place: Place) -> Result<Vec<u8>, EngineError> {
        let source = self.sources.get(usize::from(place.source));
        let source = source.ok_or_else(|| StoreError::NotFound { what: "the log this entry is in".to_owned() })?;
        Ok(hit::line(store, source, place)?)
    }
}
