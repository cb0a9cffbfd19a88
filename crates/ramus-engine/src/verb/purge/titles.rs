//! Names of a session that repeat what is erased. Sessions that come from other agents are called by what was said first in
//! them, and that must not outlive it. What a person called the session stays.

use std::collections::{BTreeMap, BTreeSet};

use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use ramus_model::{Kind, Role, Seq};

use crate::error::EngineError;
use crate::foreign::comes_from;
use crate::session::Session;

/// How many names are compared with what is erased; the last ones count.
const MOST: usize = 256;

/// What repeats what is erased.
#[derive(Default)]
pub(super) struct Titles {
    /// Whether the title of the header does.
    pub(super) header: bool,
    /// Entries that only give a title which does.
    pub(super) entries: Vec<Seq>,
}

impl Titles {
    /// Looks for names of the session that come from entries which go.
    pub(super) fn of(session: &Session, doomed: &BTreeSet<Seq>) -> Result<Self, EngineError> {
        let header = session.log().header().and_then(|header| header.title.as_deref());
        let given = given(session)?;
        let mut found = Self::default();
        if header.is_none() && given.is_empty() {
            return Ok(found);
        }
        let mut repeated: BTreeSet<&str> = BTreeSet::new();
        for line in said(session, doomed) {
            let line = line?;
            found.header |= header.is_some_and(|title| comes_from(title, &line));
            repeated.extend(given.keys().map(String::as_str).filter(|title| comes_from(title, &line)));
        }
        let entries = given.iter().filter(|(title, _)| repeated.contains(title.as_str()));
        found.entries = entries.flat_map(|(_, seqs)| seqs).copied().collect();
        Ok(found)
    }
}

/// The names that no person gave here, and the entries that give them.
fn given(session: &Session) -> Result<BTreeMap<String, Vec<Seq>>, EngineError> {
    let log = session.log();
    let mut given: BTreeMap<String, Vec<Seq>> = BTreeMap::new();
    let is_own = |seq: &Seq| log.stored_place(*seq).is_some_and(|place| place.source == 0);
    let is_title =
        |seq: &Seq| log.record(*seq).is_some_and(|record| matches!(record.kind, Kind::SessionInfo | Kind::TitleChange));
    for seq in log.seqs().rev().filter(|seq| is_own(seq) && is_title(seq)) {
        let line = session.line(seq)?;
        let Some(raw) = Raw::parse(&line) else { continue };
        if Mark::read(raw).is_some_and(|mark| mark.name != "import") {
            continue;
        }
        let title = ["name", "title"].into_iter().find_map(|name| raw.field(name)?.text());
        let Some(title) = title.filter(|title| given.len() < MOST || given.contains_key(&**title)) else { continue };
        given.entry(title.into_owned()).or_default().push(seq);
    }
    Ok(given)
}

/// What was said by people in the entries that go.
fn said<'s>(
    session: &'s Session,
    doomed: &'s BTreeSet<Seq>,
) -> impl Iterator<Item = Result<Vec<u8>, EngineError>> + 's {
    let log = session.log();
    let is_said = |seq: &&Seq| {
        log.record(**seq).is_some_and(|record| {
            record.kind == Kind::CustomMessage || record.kind == Kind::Message && record.role == Role::User
        })
    };
    doomed.iter().filter(is_said).filter_map(|seq| log.stored_place(*seq)).map(|place| Ok(session.line_at(place)?))
}

/// The header without its title; none when it is no header, or has none.
pub(super) fn untitled(line: &[u8]) -> Option<Vec<u8>> {
    let raw = Raw::parse(line)?;
    if raw.field("type")?.text()? != "session" {
        return None;
    }
    let mut kept = b"{".to_vec();
    let mut had_title = false;
    for (name, value) in raw.raw_fields() {
        if name.text().as_deref() == Some("title") {
            had_title = true;
            continue;
        }
        if kept.len() > 1 {
            kept.push(b',');
        }
        kept.extend([name.bytes(), b":", value.bytes()].concat());
    }
    kept.push(b'}');
    had_title.then_some(kept)
}
