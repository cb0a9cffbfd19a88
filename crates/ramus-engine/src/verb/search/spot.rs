//! Spots: the places of a session that a search looks at.

use std::collections::HashSet;

use ramus_model::json::Raw;
use ramus_model::search::SessionFacts;
use ramus_model::{EntryId, Kind, Lines as _, Place, Record, Seq, time, title};
use ramus_store::Residence;

use crate::error::EngineError;
use crate::session::Session;

/// A stored line that a search looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The entry a hit opens at: the entry itself, or the one that a label is for.
    pub(crate) entry: EntryId,
    /// Where the line is.
    pub(crate) place: Place,
    /// Whether the line is a label.
    pub(crate) is_label: bool,
}

/// Which spots of a session are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those it wrote itself.
    Own,
    /// Those it shows.
    Shown,
}

/// Finds the spots of a session, in the order of the log.
pub(crate) fn spots(session: &Session, whose: Whose) -> Result<Vec<Spot>, EngineError> {
    let log = session.log();
    let mut spots = Vec::new();
    for seq in log.visible() {
        let is_read = log.record(seq).is_some_and(|record| has_text(record.kind));
        // The latest version counts: of a shared entry it may be this session's own.
        let place = log.place(seq).filter(|place| is_read && (whose == Whose::Shown || place.source == 0));
        spots.extend(place.map(|place| Spot { entry: session.entry_id(seq), place, is_label: false }));
    }
    spots.extend(labels(session, whose)?);
    Ok(spots)
}

/// Says whether entries of a kind have text that is searched. Labels are found by who bears them.
fn has_text(kind: Kind) -> bool {
    matches!(kind, Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary)
}

/// The labels that hold: of each entry, the last one.
fn labels(session: &Session, whose: Whose) -> Result<Vec<Spot>, EngineError> {
    let log = session.log();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let is_label = |seq: &Seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Label);
    let lines = session.lines();
    for place in log.seqs().rev().filter(is_label).filter_map(|seq| log.stored_place(seq)) {
        let line = lines.line(place)?;
        let target = Raw::parse(&line).and_then(|raw| raw.field("targetId")).and_then(Raw::text);
        let Some(target) = target.map(|target| EntryId::from(&*target)) else { continue };
        if !seen.insert(target.clone()) || log.facts().label(target.as_str()).is_none() {
            continue;
        }
        let shows = |seq: Seq| log.belongs(seq) && log.record(seq).is_some_and(Record::is_visible);
        let is_asked = whose == Whose::Shown || place.source == 0;
        if is_asked && log.seq_of(target.as_str()).is_some_and(shows) {
            found.push(Spot { entry: target, place, is_label: true });
        }
    }
    found.reverse();
    Ok(found)
}

/// What hits and filters need to know of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The title that was given, which is searched, and when.
    pub(crate) given: Option<(String, Option<i64>)>,
    pub(crate) cwd: String,
    pub(crate) tags: Vec<String>,
    pub(crate) project: Option<ramus_model::Project>,
    pub(crate) archived: bool,
    pub(crate) fork: bool,
    pub(crate) starred: bool,
    pub(crate) draft: bool,
    pub(crate) damaged: bool,
    pub(crate) owner: String,
}

impl About {
    pub(crate) fn of(session: &Session) -> Self {
        let log = session.log();
        let created = log.header().and_then(|header| time::parse(&header.timestamp));
        let named = log.facts().title().and_then(|(_, when)| when);
        Self {
            id: session.id().to_string(),
            title: session.title(),
            given: title::given(log).map(|title| (title.to_owned(), named.or(created))),
            cwd: session.cwd().to_owned(),
            tags: session.tags(),
            project: log.header().and_then(|header| header.ramus.project.clone()),
            archived: session.archived_at().is_some(),
            fork: session.lineage().forked_from.is_some(),
            starred: session.starred(),
            draft: session.residence() == Residence::Draft,
            damaged: log.is_damaged(),
            owner: session.owner().to_owned(),
        }
    }

    pub(crate) fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            cwd: &self.cwd,
            project_root: self.project.as_ref().map_or("", |project| &project.root),
            project_remote: self.project.as_ref().and_then(|project| project.remote.as_deref()).unwrap_or_default(),
            project_git: self.project.as_ref().and_then(|project| project.git.as_deref()).unwrap_or_default(),
            tags: &self.tags,
            archived: self.archived,
            fork: self.fork,
            starred: self.starred,
            draft: self.draft,
            damaged: self.damaged,
            owner: &self.owner,
        }
    }
}
