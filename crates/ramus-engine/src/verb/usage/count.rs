//! Reading the answers of all logs: those of sessions, and those that were kept of deleted ones for their forks.

use std::collections::HashSet;

use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::usage::ModelName;
use ramus_model::{Depth, Kind, Lines as _, Role, Seq, SessionId, time};
use ramus_store::{Location, Residence, StoreError};

use super::{Answered, SessionAnswers};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load_among};

/// What is told instead of the title of a session that was deleted.
const DELETED: &str = "(deleted)";

/// Answers by session, and the sessions that could not be read with the reason.
type Counted = (Vec<SessionAnswers>, Vec<(String, String)>);

impl Engine {
    /// Reads what all logs say about answers.
    pub(super) fn answers(&self) -> Result<Counted, EngineError> {
        let known = self.store.list()?;
        let mut sessions = Vec::new();
        let mut unreadable = Vec::new();
        let mut present: HashSet<SessionId> = HashSet::new();
        for location in known.iter().cloned().chain(self.store.bases()?) {
            let name = location.id.to_string();
            match self.answers_of(location, &known) {
                // As long as the session is there, its base is not read.
                Ok(answers) if present.insert(answers.id.clone()) => sessions.push(answers),
                // Deleted or published while we were looking.
                Ok(_) | Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => unreadable.push((name, error.to_string())),
            }
        }
        Ok((sessions, unreadable))
    }

    fn answers_of(&self, location: Location, known: &[Location]) -> Result<SessionAnswers, EngineError> {
        let read = |known: &[Location]| load_among(&self.store, location.clone(), Depth::Envelope, known);
        let session = match read(known) {
            // What it was forked from may have been deleted while we were looking: its base is found afresh.
            Err(EngineError::Store(StoreError::NotFound { .. })) => read(&[])?,
            session => session?,
        };
        session.answers()
    }
}

impl Session {
    /// Collects the answers that this session's own entries record, on all branches, replaced ones included: they cost
    /// what they cost.
    pub(crate) fn answers(&self) -> Result<SessionAnswers, EngineError> {
        let header = self.log().header();
        let created = header.and_then(|header| time::parse(&header.timestamp)).unwrap_or_default();
        let mut answers = Vec::new();
        let shared = self.log().len() - self.log().own_len();
        for seq in self.log().seqs().skip(shared) {
            answers.extend(self.answered(seq, created)?);
        }
        let project = header.and_then(|header| header.ramus.project.as_ref());
        Ok(SessionAnswers {
            id: self.id().clone(),
            title: if self.residence() == Residence::Base { DELETED.to_owned() } else { self.title() },
            cwd: self.cwd().to_owned(),
            project: project.map(|project| project.remote.as_ref().unwrap_or(&project.root).clone()),
            parent: self.lineage().parent,
            created,
            answers,
        })
    }

    fn answered(&self, seq: Seq, created: i64) -> Result<Option<Answered>, EngineError> {
        let is_answer = |seq| {
            let record = self.log().record(seq).filter(|record| record.kind == Kind::Message);
            record.is_some_and(|record| record.role == Role::Assistant) && self.log().is_original(seq)
        };
        let Some(place) = self.log().place(seq).filter(|_| is_answer(seq)) else { return Ok(None) };
        let lines = self.lines();
        let line = lines.line(place)?;
        let Some(entry) = Raw::parse(&line) else { return Ok(None) };
        let Some(message) = Message::of_entry(entry) else { return Ok(None) };
        let Some(answer) = message.answer else { return Ok(None) };
        let Some(usage) = answer.usage else { return Ok(None) };
        let written = || entry.field("timestamp").and_then(Raw::text).and_then(|text| time::parse(&text));
        Ok(Some(Answered {
            entry: self.entry_id(seq),
            millis: message.timestamp.or_else(written).unwrap_or(created),
            model: ModelName::of(&answer),
            response: answer.response,
            usage,
        }))
    }
}
