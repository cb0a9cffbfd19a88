//! Making one row: reading a log, or only what was added to it.
//!
//! A log that only grew is not read again: what was counted is added to. That is believed when it is the same file, it is
//! not shorter, the bytes before the end that was known are the same, and nothing new changes what was counted. Of short
//! logs all bytes are compared, which finds any change and takes no time; of long ones the last few.

use std::sync::Arc;

use ramus_catalogue::{Answers, Change, Rest, Row};
use ramus_model::{Marker, time};
use ramus_store::{Location, LogStore, Residence, Stamped, StoreError};

use super::record::{residence_of, row_of, usage_of};
use crate::error::EngineError;
use crate::session::{KnownOrigins, LONG, Session, load_listed, unknown};
use crate::verb::survey::Survey;

/// How many bytes before the end that was known are compared.
const TAIL: u64 = 4096;

/// One file to look at.
pub(super) struct Task {
    pub(super) file: Stamped,
    pub(super) bucket: u16,
    /// The stamp of its row, if it has one.
    pub(super) before: Option<Vec<u8>>,
    /// Its row, when adding to it may be enough.
    pub(super) row: Option<Box<Row>>,
}

impl Task {
    /// Says whether it may be enough to add to the row that is there.
    pub(super) fn may_add(file: &Stamped, before: &[u8]) -> bool {
        file.stamp.to_bytes().get(..16) == before.get(..16)
    }

    /// Reads what must be read. None when the file is gone.
    pub(super) fn examine(self, store: &Arc<dyn LogStore>, known: KnownOrigins<'_>) -> Option<Change> {
        let location = store.located(&self.file.name)?;
        match self.read(store, &location, known) {
            Err(EngineError::Store(StoreError::NotFound { .. })) => match self.read(store, &location, &unknown) {
                // Deleted, published or moved while we were looking.
                Err(EngineError::Store(StoreError::NotFound { .. })) => None,
                // What it was forked from was: its base was found at the second look.
                result => Some(self.change(store, &location, result)),
            },
            result => Some(self.change(store, &location, result)),
        }
    }

    fn read(&self, store: &Arc<dyn LogStore>, at: &Location, known: KnownOrigins<'_>) -> Result<Read, EngineError> {
        if at.residence == Residence::Base {
            return read_base(store, at, known);
        }
        let is_as_known = match &self.row {
            Some(row) => tail_of(store, at, row.known_end)? == Some(row.tail),
            None => false,
        };
        let session = load_listed(store, at.clone(), known)?;
        if let Some(row) = self.row.as_deref().filter(|_| is_as_known)
            && let Some(survey) = added(&session, row)?
        {
            let answers = Answers::More(survey.answers.clone());
            return Read::of(&session, survey, answers, true);
        }
        let survey = session.survey()?;
        let answers = Answers::All(survey.answers.clone());
        Read::of(&session, survey, answers, false)
    }

    fn change(self, store: &Arc<dyn LogStore>, at: &Location, read: Result<Read, EngineError>) -> Change {
        let read = read.unwrap_or_else(|error| Read {
            // Why it cannot be read may lie outside the file, so its stamp says nothing.
            row: Row {
                unreadable: Some(error.to_string()),
                usage: "{}".into(),
                summary: "{}".into(),
                ..Row::default()
            },
            is_doubtful: true,
            ..Read::default()
        });
        let tail = tail_of(store, at, read.row.known_end).ok().flatten();
        let row = Row {
            bucket: self.bucket,
            residence: residence_of(self.file.residence),
            stamp: self.file.stamp.to_bytes().to_vec(),
            is_unsettled: self.file.is_fresh || read.is_doubtful,
            tail: tail.unwrap_or_default(),
            located: at.id.to_string(),
            name: self.file.name.to_string(),
            ..read.row
        };
        let Read { answers, rests, has_grown, .. } = read;
        Change::Put { row: Box::new(row), before: self.before, answers, rests, has_grown }
    }
}

/// What reading a file came to.
struct Read {
    row: Row,
    answers: Answers,
    rests: Vec<Rest>,
    has_grown: bool,
    /// Whether the same stamp must not be taken for the same answer.
    is_doubtful: bool,
}

impl Default for Read {
    fn default() -> Self {
        let answers = Answers::All(Vec::new());
        Self { row: Row::default(), answers, rests: Vec::new(), has_grown: false, is_doubtful: false }
    }
}

impl Read {
    fn of(session: &Session, survey: Survey, answers: Answers, has_grown: bool) -> Result<Self, EngineError> {
        let info = session.info_of_survey(survey)?;
        let mut row = row_of(&info, time::parse(&info.created));
        row.known_end = session.log().end();
        row.known_entries = session.log().own_len() as u64;
        // That a file is not what was written is known from its sidecar, which may go or be made anew.
        let is_doubtful = session.is_changed_outside();
        Ok(Self { row, answers, rests: rests_of(session), has_grown, is_doubtful })
    }
}

/// Bases are not listed. That forks stand on them, and what their answers used, is all there is to know.
fn read_base(store: &Arc<dyn LogStore>, at: &Location, known: KnownOrigins<'_>) -> Result<Read, EngineError> {
    let session = load_listed(store, at.clone(), known)?;
    let answers = Answers::All(session.survey()?.answers);
    let created = session.log().header().map(|header| header.timestamp.clone()).unwrap_or_default();
    let row = Row {
        id: session.id().to_string(),
        cwd: session.cwd().to_owned(),
        parent: session.lineage().parent.map(|id| id.to_string()),
        created_millis: time::parse(&created).unwrap_or_default(),
        created,
        usage: "{}".into(),
        tags: "[]".into(),
        metadata: "{}".into(),
        permission: "[]".into(),
        summary: "{}".into(),
        ..Row::default()
    };
    Ok(Read { row, answers, rests: rests_of(&session), ..Read::default() })
}

/// The checksum of the last bytes before `end`, of a short log of all; none when the line before it has no end, or the log
/// does not reach there.
fn tail_of(store: &Arc<dyn LogStore>, at: &Location, end: u64) -> Result<Option<u32>, StoreError> {
    let length = if end < LONG { end } else { TAIL };
    let bytes = store.read_at(at, end - length, length as usize)?;
    let is_whole = bytes.len() as u64 == length && bytes.ends_with(b"\n");
    Ok(is_whole.then(|| crc32fast::hash(&bytes)))
}

/// What there is now, when what is in the row still counts; none when it must be counted again.
fn added(session: &Session, row: &Row) -> Result<Option<Survey>, EngineError> {
    let log = session.log();
    let known = usize::try_from(row.known_entries).unwrap_or(usize::MAX);
    let Some(usage) = usage_of(row).filter(|_| known <= log.own_len() && !row.is_damaged && row.unreadable.is_none())
    else {
        return Ok(None);
    };
    let first_new = log.len() - log.own_len() + known;
    let counts_again = log
        .seqs()
        .skip(first_new)
        .any(|seq| !log.is_original(seq) || log.record(seq).is_some_and(|record| record.marker == Marker::Segment));
    if counts_again || log.is_damaged() {
        return Ok(None);
    }
    let messages = usize::try_from(row.messages).unwrap_or_default();
    let newest = Some(row.updated_millis).filter(|millis| *millis != 0);
    let mut survey = Survey { messages, usage, newest, answers: Vec::new() };
    session.survey_more(&mut survey, first_new)?;
    // What a piece of an answer used was counted with the piece before it.
    Ok(if session.goes_on(&survey, first_new)? { None } else { Some(survey) })
}

/// The logs below this one, and the one that should be.
fn rests_of(session: &Session) -> Vec<Rest> {
    let name = |at: &Location| session.store.name_of(at);
    let there = session.sources.iter().skip(1).map(|at| Rest { id: at.id.to_string(), name: name(at) });
    let lost = session.lost_origin.iter().map(|(id, at)| Rest { id: id.to_string(), name: at.as_ref().and_then(name) });
    there.chain(lost).collect()
}
