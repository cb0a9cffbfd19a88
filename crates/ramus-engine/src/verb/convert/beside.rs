//! What a written path leaves out of its session: other branches and labels, which are told, and the title, which comes along.

use std::collections::HashSet;

use ramus_interchange::{Format, Loss, Report};
use ramus_model::json::quote;
use ramus_model::{Kind, Log, Record, Seq, derived_entry_id, time, title};

use crate::error::EngineError;
use crate::foreign::comes_from;
use crate::session::Session;

/// How many entries are looked at to see whether a title was made of what was said first.
const LOOKED_AT: usize = 64;
/// How long the id of an entry is that only an export has.
const ID_DIGITS: usize = 16;

/// Tells what the report cannot know of: the writer sees only what it is given.
pub(super) fn tell(log: &Log, format: Format, entries: &[Seq], report: &mut Report) {
    let written: HashSet<u32> = entries.iter().map(|seq| seq.number()).collect();
    let shows = |seq: &Seq| log.is_original(*seq) && log.record(*seq).is_some_and(Record::is_visible);
    let beside = log.visible().filter(|seq| !written.contains(&seq.number())).count();
    let why = "entries beside the path: those of other branches, and what follows its end";
    report.losses.extend(loss(why, beside));
    // A label is lost where it stands, wherever in the tree it was given.
    let labelled = entries.iter().filter(|seq| shows(seq) && log.facts().label(log.id(**seq)).is_some()).count();
    let given = match format {
        Format::Pi | Format::Omp => entries.iter().filter(|seq| is_of(log, **seq, Kind::Label)).count(),
        _ => 0,
    };
    report.losses.retain(|loss| loss.why != ramus_interchange::LABELS);
    report.losses.extend(loss(ramus_interchange::LABELS, labelled.saturating_sub(given)));
}

fn loss(why: &str, count: usize) -> Option<Loss> {
    (count > 0).then(|| Loss { line: None, why: why.to_owned(), count: count as u64 })
}

fn is_of(log: &Log, seq: Seq, kind: Kind) -> bool {
    log.record(seq).is_some_and(|record| record.kind == kind)
}

/// An entry that gives the title, when none of those that are written does: it was given where the session begins, or on another
/// branch. None when the session has none that somebody gave it, or the agent's own file says it.
pub(super) fn titled(session: &Session, format: Format, entries: &[Seq]) -> Result<Option<Vec<u8>>, EngineError> {
    let log = session.log();
    let gives = |seq: &Seq| is_of(log, *seq, Kind::SessionInfo) || is_of(log, *seq, Kind::TitleChange);
    let last = log.seqs().rev().find(|seq| log.is_original(*seq) && gives(seq));
    let is_written = last.is_some_and(|last| entries.contains(&last));
    let is_theirs = last.is_none() && session.start().format == Some(format);
    let Some(title) = title::given(log).filter(|title| !title.trim().is_empty() && !is_written && !is_theirs) else {
        return Ok(None);
    };
    if last.is_none() && is_made_up(session, title)? {
        return Ok(None);
    }
    let shows = |seq: &&Seq| log.record(**seq).is_some_and(Record::is_visible);
    let leaf = entries.iter().rev().find(shows).map(|seq| log.id(*seq));
    let (kind, name) = match format {
        Format::Omp => ("title_change", "title"),
        _ => ("session_info", "name"),
    };
    let created = log.header().map(|header| time::parse(&header.timestamp).unwrap_or_default());
    let mut line = format!("{{\"type\":\"{kind}\",\"id\":").into_bytes();
    quote(derived_entry_id(session.id().as_str(), u64::MAX, ID_DIGITS).as_str(), &mut line);
    line.extend_from_slice(b",\"parentId\":");
    match leaf {
        Some(leaf) => quote(leaf, &mut line),
        None => line.extend_from_slice(b"null"),
    }
    line.extend_from_slice(b",\"timestamp\":");
    quote(&time::format(created.unwrap_or_default()), &mut line);
    line.extend_from_slice(format!(",\"{name}\":").as_bytes());
    quote(title, &mut line);
    line.push(b'}');
    Ok(Some(line))
}

/// Says whether an import made the title of what a person said first: the next reader makes it again.
fn is_made_up(session: &Session, title: &str) -> Result<bool, EngineError> {
    if session.start().format.is_none() {
        return Ok(false);
    }
    for seq in session.log().visible().take(LOOKED_AT) {
        if comes_from(title, &session.line(seq)?) {
            return Ok(true);
        }
    }
    Ok(false)
}
