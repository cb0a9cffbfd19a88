//! Reading one source, from finding out what it is to the last line of its last session. Runs beside others.

use std::error::Error as _;
use std::path::Path;

use ramus_interchange::{Error, Format, Loss, Sink as _};
use ramus_store::StoreError;

use super::flow::Outlet;
use super::handed::Handed;
use super::header::Projects;
use super::message::{Again, Failed, Message, Outcome};
use super::passes::Passes;
use super::presence::Presence;
use super::rank::Rank;
use super::recognise::recognise;
use super::source::{FileSource, Located};
use super::take::Taking;
use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind};

/// How often a source is read again because somebody else wrote to its session.
const ATTEMPTS: usize = 5;

/// What all sources of an import are read with.
pub(super) struct Reading<'e> {
    pub(super) engine: &'e Engine,
    pub(super) presence: &'e Presence,
    pub(super) projects: &'e Projects,
    pub(super) handed: &'e Handed,
    pub(super) scratch: Option<&'e Path>,
    pub(super) is_dry: bool,
}

impl Reading<'_> {
    /// Reads a source and hands on what it gives.
    pub(super) fn read(&self, located: &Located, messages: &Outlet) {
        let began = self.engine.now();
        let mut looked = super::source::Looked::default();
        let mut result = Err(Failed::Again);
        for _ in 0..ATTEMPTS {
            result = match self.read_once(located, messages, &mut looked) {
                // Somebody else wrote to the session that was being compared: what is there now is compared again.
                Err(Failed::Home(EngineError::Store(StoreError::Moved { .. } | StoreError::Replaced { .. }))) => {
                    Err(Failed::Reason("somebody else keeps writing to its session".to_owned()))
                }
                result => {
                    let _ = messages.send(Message::Ended(Box::new(Outcome { result, looked, began })));
                    return;
                }
            };
        }
        let _ = messages.send(Message::Ended(Box::new(Outcome { result, looked, began })));
    }

    fn read_once(
        &self,
        located: &Located,
        messages: &Outlet,
        looked: &mut super::source::Looked,
    ) -> Result<(), Failed> {
        let format = self.format(located)?;
        let rank = Rank::of(located, format);
        let path = located.path();
        let file = path.to_string_lossy();
        let mut passes = Passes::default();
        // A source that shares an id with another session is read twice: to compare, and to act on it.
        loop {
            let source = FileSource::new(&located.store, &located.name, format, self.scratch);
            let mut taking = Taking::new(
                self.engine,
                self.presence,
                self.projects,
                messages,
                &mut passes,
                (format.name(), &*file),
                located.parent.as_deref(),
                self.is_dry,
            );
            taking.rank = rank;
            taking.handed = Some(self.handed);
            let read = format.codec().read(&source, &mut taking).and_then(|_| {
                if source.waits() {
                    let why = "the last line is not complete yet; it is read when it is".to_owned();
                    taking.loss(&Loss { line: None, why, count: 1 })?;
                }
                taking.complete()
            });
            *looked = source.looked();
            if let Err(error) = read {
                taking.abandon();
                return Err(sorted(error));
            }
            if !passes.are_due() {
                return Ok(());
            }
        }
    }

    /// Says what a file is: what its place says, or what is in it.
    fn format(&self, located: &Located) -> Result<Format, Failed> {
        let wrong = |error: std::io::Error| Failed::Reason(error.to_string());
        if let Some(format) = located.format {
            return Ok(format);
        }
        let opened = located.store.ground.file(&located.name).map_err(wrong)?;
        let file = opened.ok_or(Failed::Unknown)?.file;
        let name = located.name.rsplit('/').next().unwrap_or_default();
        recognise(file, name).map_err(wrong)?.ok_or(Failed::Unknown)
    }
}

/// Tells what is wrong with a source from what is wrong with the home.
fn sorted(error: Error) -> Failed {
    let error = match error {
        Error::Refused(error) => error,
        error => return Failed::Reason(told(&error)),
    };
    match error.downcast::<Again>().map(|again| *again) {
        Ok(Again::Coming) => Failed::Again,
        Ok(Again::Ended) => Failed::Ended,
        Err(error) => match error.downcast::<EngineError>() {
            Ok(error) if concerns_all(&error) => Failed::Home(*error),
            Ok(error) => Failed::Reason(error.to_string()),
            Err(error) => Failed::Reason(error.to_string()),
        },
    }
}

/// Says whether an error of the home would meet every other source too, or is over when the source is read again.
pub(super) fn concerns_all(error: &EngineError) -> bool {
    use ErrorKind::{Busy, Conflict, Degraded, Denied, Full, Io};
    matches!(error.kind(), Busy | Conflict | Degraded | Denied | Full | Io)
}

fn told(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
