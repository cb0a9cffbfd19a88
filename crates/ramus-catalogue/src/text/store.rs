//! Writing the full text, file by file.

use std::collections::HashMap;

use ramus_model::search::Streams;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::state::{Backlog, TextState};
use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::saturated;

/// What is known of one document besides its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Whether it goes when the file grows, and is made anew: labels and titles do.
    pub is_passing: bool,
    /// Where its line starts.
    pub offset: u64,
    /// How long the line is; 0 for a title, which no line holds alone.
    pub length: u32,
    /// When it was written, in milliseconds since 1970.
    pub millis: Option<i64>,
    /// What it has in common with others, as text.
    pub facets: String,
    /// The entry a hit opens at.
    pub entry: String,
}

/// One step of writing text. A file is started, its documents are added, and it is finished.
#[derive(Clone, Debug)]
pub enum Step {
    /// Starts with a file. With `goes_on`, what is indexed of it stays, but for what passes; otherwise all of it goes.
    Start {
        /// The file, and what is indexed of it.
        backlog: Backlog,
        /// Whether what is indexed stays.
        goes_on: bool,
    },
    /// Adds a document of the file and its words.
    Add(Entry, Streams),
    /// Ends with the file.
    Finish {
        /// Up to where its text is indexed now.
        end: u64,
        /// What the text up to there comes to, when that is known.
        sum: Option<i64>,
        /// Whether reading it showed damage.
        is_damaged: bool,
    },
}

impl Held<'_> {
    /// Writes text, all or nothing. A file that another process was faster with is passed over.
    pub fn write_text(&self, steps: &mut dyn Iterator<Item = Step>) -> Result<(), CatalogueError> {
        self.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let mut current = None;
            for step in steps {
                match (step, &current) {
                    (Step::Start { backlog, goes_on }, _) => {
                        current = if writer.start(&backlog, goes_on)? { Some(backlog) } else { None };
                    }
                    (Step::Add(entry, streams), Some(backlog)) => writer.add(backlog, &entry, &streams)?,
                    (Step::Finish { end, sum, is_damaged }, Some(backlog)) => {
                        let generation = backlog.generation;
                        writer.finish(backlog.file, TextState { generation, end, sum, is_damaged })?;
                    }
                    (Step::Add(..) | Step::Finish { .. }, None) => {}
                }
            }
            Ok(())
        })
    }

    /// Removes all text of files: it is made again when it is needed.
    pub fn forget_text(&self, files: &[i64]) -> Result<(), CatalogueError> {
        self.write(|connection| {
            let mut writer = Writer::new(connection)?;
            files.iter().try_for_each(|file| writer.forget(*file))
        })
    }
}

/// The statements of one transaction.
struct Writer<'c> {
    state: Statement<'c>,
    add: Statement<'c>,
    index: Statement<'c>,
    find_facet: Statement<'c>,
    add_facet: Statement<'c>,
    of_file: Statement<'c>,
    drop_document: Statement<'c>,
    unindex: Statement<'c>,
    put_state: Statement<'c>,
    drop_state: Statement<'c>,
    facets: HashMap<String, i64>,
}

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            state: connection.prepare(
                "SELECT session.generation, text.generation, text.read_end, text.sum, text.is_damaged
                     FROM session LEFT JOIN text ON text.file = session.file WHERE session.file = ?1 AND name = ?2",
            )?,
            add: connection.prepare(
                "INSERT INTO document (file, is_passing, offset, length, millis, facet, entry)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            index: connection.prepare("INSERT INTO word (rowid, words, parts, paths) VALUES (?1, ?2, ?3, ?4)")?,
            find_facet: connection.prepare("SELECT facet FROM facet WHERE text = ?1")?,
            add_facet: connection.prepare("INSERT INTO facet (text) VALUES (?1) RETURNING facet")?,
            of_file: connection.prepare("SELECT document FROM document WHERE file = ?1 AND is_passing >= ?2")?,
            drop_document: connection.prepare("DELETE FROM document WHERE document = ?1")?,
            unindex: connection.prepare("DELETE FROM word WHERE rowid = ?1")?,
            put_state: connection.prepare("INSERT OR REPLACE INTO text VALUES (?1, ?2, ?3, ?4, ?5)")?,
            drop_state: connection.prepare("DELETE FROM text WHERE file = ?1")?,
            facets: HashMap::new(),
        })
    }

    /// Starts with a file. Says whether it may be written: another process may have been faster.
    fn start(&mut self, backlog: &Backlog, goes_on: bool) -> rusqlite::Result<bool> {
        let known = self.state.query_row(params![backlog.file, backlog.name], |row| {
            Ok((row.get::<_, i64>(0)?, TextState::read(row, 1)?))
        });
        if known.optional()? != Some((backlog.generation, backlog.indexed)) {
            return Ok(false);
        }
        self.drop_documents(backlog.file, goes_on)?;
        Ok(true)
    }

    fn add(&mut self, backlog: &Backlog, entry: &Entry, streams: &Streams) -> rusqlite::Result<()> {
        let facet = self.facet(&entry.facets)?;
        let document = self.add.insert(params![
            backlog.file,
            entry.is_passing,
            saturated(entry.offset),
            entry.length,
            entry.millis,
            facet,
            entry.entry,
        ])?;
        self.index.execute(params![document, streams.words, streams.parts, streams.paths])?;
        Ok(())
    }

    fn finish(&mut self, file: i64, state: TextState) -> rusqlite::Result<()> {
        self.put_state.execute(params![file, state.generation, saturated(state.end), state.sum, state.is_damaged])?;
        Ok(())
    }

    fn forget(&mut self, file: i64) -> rusqlite::Result<()> {
        self.drop_documents(file, false)?;
        self.drop_state.execute([file])?;
        Ok(())
    }

    fn drop_documents(&mut self, file: i64, only_passing: bool) -> rusqlite::Result<()> {
        let documents: Vec<i64> =
            self.of_file.query_map(params![file, only_passing], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for document in documents {
            self.unindex.execute([document])?;
            self.drop_document.execute([document])?;
        }
        Ok(())
    }

    fn facet(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(facet) = self.facets.get(text) {
            return Ok(*facet);
        }
        let known = self.find_facet.query_row([text], |row| row.get(0)).optional()?;
        let facet = match known {
            Some(facet) => facet,
            None => self.add_facet.query_row([text], |row| row.get(0))?,
        };
        self.facets.insert(text.to_owned(), facet);
        Ok(facet)
    }
}
