//! Searching with the index: it proposes, the entries themselves decide.
//!
//! Files that the index is behind with are read through, and so is every file that turned out not to have what the index
//! proposed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ramus_catalogue::{Ask, Chosen, Held, Proposal, Row};
use ramus_model::json::Raw;
use ramus_model::{Depth, EntryId, Place};
use ramus_store::{Location, LogStore};

use super::hit::{Candidate, Hit, hit, line};
use super::scan::{self, Judge};
use super::spot::{About, Whose, spots};
use super::{Hits, IndexState, Sought};
use crate::catalogue::{Trouble, behind};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::load;

/// How much text is indexed before a question is answered.
const BUDGET: u64 = 64 << 20;

/// How often an index that was wrong is asked again.
const ATTEMPTS: usize = 3;

/// What the index says.
pub(super) struct Asked {
    /// What should answer the query, best first.
    proposals: Vec<(Proposal, usize)>,
    /// The files of the proposals.
    files: Vec<(String, About)>,
    total: usize,
    is_broad: bool,
    /// The names of the files that the index says nothing about.
    unknown: Vec<String>,
    /// The names of the forks of deleted sessions.
    based: Vec<String>,
    chosen: Chosen,
}

/// Searches with the index; none when it is of no use, or was wrong too often.
pub(super) fn home(engine: &Engine, sought: &Sought<'_>) -> Result<Option<Hits>, EngineError> {
    let mut wrong: HashSet<String> = HashSet::new();
    for _ in 0..ATTEMPTS {
        let mut prepare = |held: &Held<'_>| {
            engine.index_text(held, BUDGET)?;
            forget(held, &wrong)
        };
        let asked = engine.consult_prepared(&mut prepare, &mut |held, _| match held.is_kept() {
            true => ask(held, sought, &wrong).map(Some),
            false => Ok(None),
        })?;
        let Some(asked) = asked else { return Ok(None) };
        let (hits, found_wrong) = asked.verify(&engine.store, sought);
        if found_wrong.is_empty() {
            return asked.finish(engine, sought, hits, &wrong).map(Some);
        }
        wrong.extend(found_wrong);
    }
    Ok(None)
}

/// Forgets the text of files that do not have it: it is made anew, the next time something is looked for.
fn forget(held: &Held<'_>, names: &HashSet<String>) -> Result<(), Trouble> {
    let lying = numbers(held, names)?;
    if !lying.is_empty() {
        held.forget_text(&lying)?;
    }
    Ok(())
}

fn numbers(held: &Held<'_>, names: &HashSet<String>) -> Result<Vec<i64>, Trouble> {
    let mut numbers = Vec::new();
    for name in names {
        numbers.extend(held.numbered(name)?);
    }
    Ok(numbers)
}

fn ask(held: &Held<'_>, sought: &Sought<'_>, wrong: &HashSet<String>) -> Result<Asked, Trouble> {
    let search = sought.search;
    let behind = behind(held)?;
    let mut except: Vec<i64> = behind.files.iter().map(|file| file.file).chain(behind.gone).collect();
    except.extend(numbers(held, wrong)?);
    let is_chosen = search.query.is_about_sessions() || sought.place.is_some() || search.owner.is_some();
    let mut chosen = if is_chosen { held.choose(&|facts| sought.admits(facts))? } else { held.choose_all()? };
    let files = is_chosen.then(|| std::mem::take(&mut chosen.files));
    let proposals = held.propose(&Ask { query: &search.query, files, except, limit: search.limit })?;
    let mut unknown: Vec<String> = wrong.iter().cloned().collect();
    unknown.extend(behind.files.into_iter().map(|file| file.name).filter(|name| !wrong.contains(name)));
    let mut asked = Asked {
        proposals: Vec::with_capacity(proposals.best.len()),
        files: Vec::new(),
        total: proposals.total,
        is_broad: proposals.is_broad,
        unknown,
        based: held.based_forks()?,
        chosen,
    };
    let mut numbers: HashMap<i64, usize> = HashMap::new();
    for proposal in proposals.best {
        let number = match numbers.get(&proposal.file) {
            Some(number) => *number,
            None => {
                // A file without a row went a moment ago.
                let Some(row) = held.numbered_row(proposal.file)? else { continue };
                asked.files.push((row.name.clone(), about(row)));
                numbers.insert(proposal.file, asked.files.len() - 1);
                asked.files.len() - 1
            }
        };
        asked.proposals.push((proposal, number));
    }
    Ok(asked)
}

/// What a row says about a session, as far as hits show it.
fn about(row: Row) -> About {
    About { id: row.id, given: Some((row.title.clone(), None)), title: row.title, cwd: row.cwd, ..About::default() }
}

impl Asked {
    /// Reads what was proposed and judges it. Returns the hits, and the files that do not have what they should.
    fn verify(&self, store: &Arc<dyn LogStore>, sought: &Sought<'_>) -> (Vec<Hit>, HashSet<String>) {
        let mut judge = Judge::new(sought);
        let mut hits = Vec::with_capacity(self.proposals.len());
        let mut wrong = HashSet::new();
        for (proposal, number) in &self.proposals {
            let Some((name, about)) = self.files.get(*number) else { continue };
            if wrong.contains(name) {
                continue;
            }
            match verified(store, name, about, proposal, &mut judge) {
                Some(hit) => hits.push(hit),
                None => drop(wrong.insert(name.clone())),
            }
        }
        (hits, wrong)
    }

    /// Adds what the index knows nothing about.
    fn finish(
        self,
        engine: &Engine,
        sought: &Sought<'_>,
        hits: Vec<Hit>,
        wrong: &HashSet<String>,
    ) -> Result<Hits, EngineError> {
        let locate = |names: &[String]| -> Vec<Location> {
            names.iter().filter_map(|name| engine.store.located(name)).collect()
        };
        let behind = self.unknown.len() - wrong.len();
        let index = IndexState {
            ready: self.unknown.is_empty(),
            indexed: self.chosen.sessions.saturating_sub(self.chosen.unreadable.len() + behind),
            sessions: self.chosen.sessions,
        };
        let (unknown, based) = (locate(&self.unknown), locate(&self.based));
        let scanned = if unknown.is_empty() && based.is_empty() {
            Hits::default()
        } else {
            scan::part(&engine.store, sought, &unknown, &based)?
        };
        let mut all = hits;
        all.extend(scanned.hits);
        all.sort_by(Hit::order);
        all.truncate(sought.search.limit);
        let mut damaged = self.chosen.damaged;
        damaged.extend(scanned.damaged);
        damaged.sort();
        damaged.dedup();
        let mut unreadable = self.chosen.unreadable;
        unreadable.extend(scanned.unreadable);
        unreadable.sort();
        unreadable.dedup_by(|a, b| a.0 == b.0);
        Ok(Hits {
            hits: all,
            total: self.total + scanned.total,
            is_counted: !self.is_broad,
            damaged,
            unreadable,
            index: Some(index),
        })
    }
}

/// Reads a proposed entry; none when it does not answer the query, or is not where the index says.
fn verified(
    store: &Arc<dyn LogStore>,
    name: &str,
    about: &About,
    proposal: &Proposal,
    judge: &mut Judge<'_>,
) -> Option<Hit> {
    let entry = EntryId::from(proposal.entry.as_str());
    let place = Place { source: 0, len: proposal.length, offset: proposal.offset };
    let is_title = proposal.length == 0;
    let line = if is_title {
        judge.document.read_title(&about.title, proposal.millis);
        Vec::new()
    } else {
        let location = store.located(name)?;
        let line = line(store.as_ref(), &location, place).ok()?;
        if !judge.document.read(&line) || !is_called(store, &location, place, &line, &entry) {
            return None;
        }
        line
    };
    let holds = judge.matcher.judge(&judge.document).0;
    let at = (!is_title).then_some((entry, place));
    let candidate = Candidate { session: 0, at, millis: proposal.millis, score: proposal.score };
    holds.then(|| hit(about, &candidate, &line, &judge.document, &mut judge.matcher))
}

/// Says whether a line is that of an entry, or of a label for it.
fn is_called(store: &Arc<dyn LogStore>, location: &Location, place: Place, line: &[u8], entry: &EntryId) -> bool {
    let Some(raw) = Raw::parse(line) else { return false };
    let is = |name: &str| raw.field(name).and_then(Raw::text).is_some_and(|id| id == entry.as_str());
    if is("id") || is("targetId") {
        return true;
    }
    // Entries of old logs, and those that share an id, are called otherwise than their lines say.
    let spots = load(store, location.clone(), Depth::Envelope).and_then(|session| spots(&session, Whose::Own));
    spots.is_ok_and(|spots| spots.iter().any(|spot| spot.place == place && spot.entry == *entry))
}
