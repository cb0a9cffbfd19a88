//! `export --to AGENT`: a session as another agent stores it, and an honest list of what that agent has no words for.

mod beside;

use std::collections::HashSet;
use std::io::{self, Write};

use ramus_interchange::{Error, Format, Loss, MEMBER, Passage, Report, Start, Target};
use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::{Lines as _, Log, Marker, Record, Seq, migrate};

use crate::blobs::RestoredLines;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::list::{Filter, WhichDirectory};

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
        mut start: Start,
        target: &mut dyn Target,
    ) -> Result<Report, EngineError> {
        if migrate::is_needed(session.log()) {
            let message = "the session has an old version; append to it, or copy it, and it is upgraded";
            return Err(EngineError::Invalid(message.into()));
        }
        let log = session.log();
        if session.start().format == Some(format) && log.facts().title().is_none() {
            // What is kept of the agent says what it called the session; a title that was made here is none of its business.
            start.title = None;
        }
        let entries = match extent {
            Extent::Whole if !has_branches(format) => {
                let message = format!("{} has no branches; name the entry that the path ends with", format.name());
                return Err(EngineError::Invalid(message));
            }
            Extent::Whole => whole(log),
            // A table is a tree, and one path of it is less than it.
            Extent::Path(None) if format == Format::Opal || is_as_read(session, format)? => whole(log),
            Extent::Path(leaf) => path(log, leaf.or_else(|| log.leaf())),
        };
        let leaf = match extent {
            Extent::Path(Some(leaf)) => Some(leaf),
            _ => log.leaf(),
        };
        let leaf = leaf.map(|leaf| log.id(leaf).to_owned());
        let title = beside::titled(session, format, &entries)?;
        let lines = session.restored_lines(Restore::Everything);
        let passage = SessionPassage { log, lines, entries, title, leaf, start };
        let mut report = format.codec().write(&passage, target)?;
        if report.records == 0 && format == Format::Claude {
            // Lines are all that there is to a file of Claude Code, and one without any is no session.
            let message = "there is nothing in the session that Claude Code could go on with: nothing was said";
            return Err(EngineError::Invalid(message.into()));
        }
        beside::tell(log, format, &passage.entries, &mut report);
        report.losses.extend(spawned_loss(self.spawned(session)?));
        Ok(report)
    }

    /// Counts the sessions that a session spawned.
    fn spawned(&self, session: &Session) -> Result<u64, EngineError> {
        let parent = Some(session.id().clone());
        let filter =
            Filter { directory: WhichDirectory::All, parent, drafts: true, archived: true, ..Filter::default() };
        Ok(self.list(&filter)?.sessions.len() as u64)
    }
}

/// What is told of the sessions that a session spawned: they are written by themselves, if at all.
pub fn spawned_loss(count: u64) -> Option<Loss> {
    let why = || "the sessions that it spawned: each is written by itself".to_owned();
    (count > 0).then(|| Loss { line: None, why: why(), count })
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
            parent: header.and_then(|header| header.ramus.parent.as_ref()).map(ToString::to_string),
            format: from.and_then(|from| Format::from_name(&from.agent)),
            ..Start::default()
        }
    }
}

/// Says whether files of a format hold more than one path.
pub fn has_branches(format: Format) -> bool {
    matches!(format, Format::Claude | Format::Pi | Format::Omp | Format::Opal | Format::Okcvm)
}

/// Says whether everything that shows in a session was read from this agent, and the session stands where the agent left it, so
/// that the file it was read from can be had again.
fn is_as_read(session: &Session, format: Format) -> Result<bool, EngineError> {
    if session.start().format != Some(format) {
        return Ok(false);
    }
    // These say in the file itself where the session stands.
    if matches!(format, Format::Pi | Format::Omp | Format::Okcvm) {
        return Ok(true);
    }
    let log = session.log();
    for seq in log.visible() {
        if !is_of(session, seq, format)? {
            return Ok(false);
        }
    }
    for seq in log.seqs().rev().filter(|seq| log.is_original(*seq)) {
        if is_of(session, seq, format)? {
            let shows = |seq: &Seq| log.record(*seq).is_some_and(Record::is_visible);
            return Ok(log.ancestors(Some(seq)).find(shows) == log.leaf());
        }
    }
    Ok(true)
}

/// Says whether an entry was read from this agent.
fn is_of(session: &Session, seq: Seq, format: Format) -> Result<bool, EngineError> {
    let line = session.line(seq)?;
    let kept = Raw::parse(&line).and_then(|raw| raw.field(MEMBER));
    Ok(kept.and_then(|kept| kept.field("agent")?.text()).is_some_and(|agent| agent == format.name()))
}

/// Every entry of the session's tree, with what hangs beside it. Of the session that it was forked from, the path they share.
fn whole(log: &Log) -> Vec<Seq> {
    let is_whole = |seq: &Seq| {
        let Some(record) = log.record(*seq) else { return false };
        let hangs = || record.parent().is_none_or(|parent| log.belongs(parent));
        log.belongs(*seq) || (!record.is_visible() && record.marker != Marker::Leaf && hangs())
    };
    log.seqs().filter(|seq| log.is_original(*seq)).filter(is_whole).collect()
}

/// The entries of a path, with what hangs beside it and was kept of the agent it came from.
fn path(log: &Log, leaf: Option<Seq>) -> Vec<Seq> {
    let on_path: HashSet<u32> = log.ancestors(leaf).map(Seq::number).collect();
    let is_on = |seq: Seq| on_path.contains(&seq.number());
    let hangs = |seq: &Seq| {
        let Some(record) = log.record(*seq).filter(|record| !record.is_visible()) else { return false };
        // A path ends where it ends: what once moved the leaf elsewhere would move it again.
        if record.marker == Marker::Leaf {
            return false;
        }
        // Records behind the end belong to what else hangs there, and some agents go on from the last one of their file.
        let is_behind = record.marker == Marker::Session && leaf.is_some_and(|leaf| leaf < *seq);
        let hangs = record.parent().is_none_or(|parent| is_on(parent) && (!is_behind || Some(parent) == leaf));
        log.is_original(*seq) && hangs
    };
    log.seqs().filter(|seq| is_on(*seq) || hangs(seq)).filter(|seq| log.is_original(*seq)).collect()
}

/// Entries of a session, with everything in its place.
struct SessionPassage<'s> {
    log: &'s Log,
    lines: RestoredLines<'s>,
    entries: Vec<Seq>,
    /// An entry that gives the title, when none of the others does.
    title: Option<Vec<u8>>,
    leaf: Option<String>,
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
        self.title.as_deref().map_or(Ok(()), take)
    }

    fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
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
