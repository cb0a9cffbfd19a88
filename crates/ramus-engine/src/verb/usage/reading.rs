//! The same report by reading every log, without a catalogue. It is the measure of what `usage` must answer.

use ramus_catalogue::LogAnswers;
use ramus_model::time;
use ramus_store::{Location, StoreError};

use super::{UsageQuery, UsageReport, group};
use crate::catalogue::residence_of;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{KnownOrigins, Session, among, load_listed, unknown};

impl Engine {
    /// Reports like [`Engine::usage`], by reading every log: those of sessions, and what was kept of deleted ones.
    pub fn usage_by_reading(&self, query: &UsageQuery<'_>) -> Result<UsageReport, EngineError> {
        let known = self.store.list()?;
        let mut logs = Vec::new();
        for location in known.iter().cloned().chain(self.store.bases()?) {
            let name = self.store.name_of(&location).unwrap_or_default();
            let residence = residence_of(location.residence);
            match self.answers_of(&location, &known) {
                Ok(answers) => logs.push(LogAnswers { name, residence, ..answers }),
                // Deleted or published while we were looking.
                Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => {
                    let (id, unreadable) = (location.id.to_string(), Some(error.to_string()));
                    logs.push(LogAnswers { name, residence, id, unreadable, ..LogAnswers::default() });
                }
            }
        }
        Ok(group::report(logs, query, query.directory.place().as_mut()))
    }

    fn answers_of(&self, location: &Location, known: &[Location]) -> Result<LogAnswers, EngineError> {
        let read = |known: KnownOrigins<'_>| load_listed(&self.store, location.clone(), known);
        match read(&among(known)) {
            // What it was forked from may have been deleted while we were looking: its base is found afresh.
            Err(EngineError::Store(StoreError::NotFound { .. })) => read(&unknown)?.answers(),
            session => session?.answers(),
        }
    }
}

impl Session {
    fn answers(&self) -> Result<LogAnswers, EngineError> {
        let header = self.log().header();
        Ok(LogAnswers {
            id: self.id().to_string(),
            title: self.title(),
            cwd: self.cwd().to_owned(),
            project: header.and_then(|header| header.ramus.project.clone()),
            parent: self.lineage().parent.map(|id| id.to_string()),
            created: header.and_then(|header| time::parse(&header.timestamp)).unwrap_or_default(),
            answers: self.survey()?.answers,
            ..LogAnswers::default()
        })
    }
}
