//! `export --to AGENT`: a session as another agent stores it, and an honest list of what that agent has no words for.

use std::collections::HashSet;
use std::io::{self, Write};

use ramus_interchange::{Error, Format, MEMBER, Passage, Report, Start, Target};
use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::{Lines as _, Log, Seq, migrate};

use crate::blobs::RestoredLines;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

/// How much of a session is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The path that ends with an entry; none for the leaf.
    Path(Option<Seq>),
    /// Every branch, for formats that have branches.
    Whole,
}

impl Engine {
    /// Writes a session as a session of another agent. Without an entry, one that was read from that agent and not changed since
    /// is written as it was read.
    pub fn convert(
        &self,
        session: &Session,
        format: Format,
        extent: Extent,
        start: Start,
        target: &mut dyn Target,
    ) -> Result<Report, EngineError> {
        if migrate::is_needed(session.log()) {
            let message = "the session has an old version; append to it, or copy it, and it is upgraded";
            return Err(EngineError::Invalid(message.into()));
        }
        let log = session.log();
        let entries = match extent {
            Extent::Whole if !has_branches(format) => {
                let message = format!("{} has no branches; name the entry that the path ends with", format.name());
                return Err(EngineError::Invalid(message));
            }
            Extent::Whole => log.seqs().filter(|seq| log.is_original(*seq)).collect(),
            Extent::Path(None) if is_as_read(session, format)? => {
                log.seqs().filter(|seq| log.is_original(*seq)).collect()
            }
            Extent::Path(leaf) => path(log, leaf.or_else(|| log.leaf())),
        };
        let lines = session.restored_lines(Restore::Everything);
        let passage = SessionPassage { log, lines, entries, start };
        format.codec().write(&passage, target).map_err(EngineError::from)
    }
}

impl Session {
    /// Returns how the session begins, for whoever writes it elsewhere.
    pub fn start(&self) -> Start {
        let header = self.log().header();
        let from = header.and_then(|header| header.ramus.imported_from.as_ref());
        Start {
            id: self.id().to_string(),
            cwd: self.cwd().to_owned(),
            created: header.map(|header| header.timestamp.clone()).unwrap_or_default(),
            title: Some(self.title()).filter(|title| !title.is_empty()),
            format: from.and_then(|from| Format::from_name(&from.agent)),
            ..Start::default()
        }
    }
}

/// Says whether files of a format hold more than one path.
pub fn has_branches(format: Format) -> bool {
    matches!(format, Format::Claude | Format::Pi | Format::Omp | Format::Okcvm)
}

/// Says whether everything that shows in a session was read from this agent, so that the file it was read from can be had again.
fn is_as_read(session: &Session, format: Format) -> Result<bool, EngineError> {
    if session.start().format != Some(format) {
        return Ok(false);
    }
    if has_branches(format) {
        return Ok(true);
    }
    for seq in session.log().visible() {
        let line = session.line(seq)?;
        let kept = Raw::parse(&line).and_then(|raw| raw.field(MEMBER));
        if kept.and_then(|kept| kept.field("agent")?.text()).is_none_or(|agent| agent != format.name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The entries of a path, with what hangs beside it and was kept of the agent it came from.
fn path(log: &Log, leaf: Option<Seq>) -> Vec<Seq> {
    let on_path: HashSet<u32> = log.ancestors(leaf).map(Seq::number).collect();
    let is_on = |seq: Seq| on_path.contains(&seq.number());
    let hangs = |seq: &Seq| {
        let Some(record) = log.record(*seq).filter(|record| !record.is_visible()) else { return false };
        log.is_original(*seq) && record.parent().is_none_or(is_on)
    };
    log.seqs().filter(|seq| is_on(*seq) || hangs(seq)).filter(|seq| log.is_original(*seq)).collect()
}

/// Entries of a session, with everything in its place.
struct SessionPassage<'s> {
    log: &'s Log,
    lines: RestoredLines<'s>,
    entries: Vec<Seq>,
    start: Start,
}

impl Passage for SessionPassage<'_> {
    fn start(&self) -> &Start {
        &self.start
    }

    fn each(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        for seq in &self.entries {
            let Some(place) = self.log.place(*seq) else { continue };
            let line = self.lines.line(place).map_err(|error| Error::Refused(Box::new(error)))?;
            take(line.strip_suffix(b"\n").unwrap_or(&line))?;
        }
        Ok(())
    }
}

/// A target that takes one file, whatever it is called.
pub struct OneFile<'w> {
    out: &'w mut dyn Write,
    is_taken: bool,
}

impl<'w> OneFile<'w> {
    /// Writes the file to this.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self { out, is_taken: false }
    }
}

impl Target for OneFile<'_> {
    fn create(&mut self, _: &str) -> io::Result<Box<dyn Write + '_>> {
        if std::mem::replace(&mut self.is_taken, true) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the format has several files; name a directory"));
        }
        Ok(Box::new(&mut self.out))
    }
}
