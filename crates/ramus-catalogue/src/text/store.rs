//! Writing the full text, file by file.

use std::collections::HashMap;

use ramus_model::search::Streams;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::saturated;

/// A file whose text is not indexed as far as its row knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The number of its row.
    pub file: i64,
    /// Its name.
    pub name: String,
    /// What counts as the same file.
    pub generation: i64,
    /// Up to where its text is indexed.
    pub from: u64,
    /// Up to where its row knows it.
    pub to: u64,
}

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

impl Held<'_> {
    /// Returns the files whose text is not indexed as far as their rows know them, newest first. Bases and files that
    /// cannot be read are not indexed.
    pub fn text_backlog(&self) -> Result<Vec<Backlog>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT file, name, generation, text_end, known_end FROM session
                     WHERE text_end <> known_end AND residence <> 0 AND unreadable IS NULL
                     ORDER BY updated_millis DESC, file",
            )?;
            let backlog = statement.query_map((), |row| {
                Ok(Backlog {
                    file: row.get(0)?,
                    name: row.get(1)?,
                    generation: row.get(2)?,
                    from: row.get::<_, i64>(3)?.cast_unsigned(),
                    to: row.get::<_, i64>(4)?.cast_unsigned(),
                })
            })?;
            backlog.collect()
        })
    }

    /// Returns how many sessions there are and how many of them are indexed as far as their rows know them.
    pub fn text_state(&self) -> Result<(usize, usize), CatalogueError> {
        self.read(|connection| {
            connection.query_row(
                "SELECT count(*), coalesce(sum(text_end = known_end), 0) FROM session
                     WHERE residence <> 0 AND unreadable IS NULL",
                (),
                |row| Ok((count(row, 0)?, count(row, 1)?)),
            )
        })
    }

    /// Writes text, all or nothing.
    pub fn write_text(
        &self,
        work: impl FnOnce(&mut TextWriter<'_>) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        let mut refused = None;
        let written = self.write(|connection| {
            let mut writer = TextWriter::new(connection)?;
            match work(&mut writer) {
                Ok(()) => Ok(()),
                Err(error) => {
                    refused = Some(error);
                    Err(rusqlite::Error::QueryReturnedNoRows)
                }
            }
        });
        match refused {
            Some(error) => Err(error),
            None => written,
        }
    }

    /// Removes documents of files that are gone or were replaced, at most `limit` of them. Says how many.
    pub fn sweep_text(&self, limit: usize) -> Result<usize, CatalogueError> {
        let stale: Vec<i64> = self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT document FROM document LEFT JOIN session USING (file)
                     WHERE session.generation IS NOT document.generation LIMIT ?1",
            )?;
            statement.query_map([saturated(limit as u64)], |row| row.get(0))?.collect()
        })?;
        if !stale.is_empty() {
            self.write(|connection| {
                let mut writer = TextWriter::new(connection)?;
                stale.iter().try_for_each(|document| writer.drop_document(*document))
            })?;
        }
        Ok(stale.len())
    }
}

fn count(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<usize> {
    row.get::<_, i64>(column).map(|count| usize::try_from(count).unwrap_or_default())
}

/// The statements of one transaction.
pub struct TextWriter<'c> {
    add: Statement<'c>,
    index: Statement<'c>,
    find_facet: Statement<'c>,
    add_facet: Statement<'c>,
    of_file: Statement<'c>,
    drop_one: Statement<'c>,
    unindex: Statement<'c>,
    finish: Statement<'c>,
    facets: HashMap<String, i64>,
}

impl<'c> TextWriter<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            add: connection.prepare(
                "INSERT INTO document (file, generation, kind, offset, length, millis, facet, entry)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING document",
            )?,
            index: connection.prepare("INSERT INTO word (rowid, words, parts, paths) VALUES (?1, ?2, ?3, ?4)")?,
            find_facet: connection.prepare("SELECT facet FROM facet WHERE text = ?1")?,
            add_facet: connection.prepare("INSERT INTO facet (text) VALUES (?1) RETURNING facet")?,
            of_file: connection.prepare("SELECT document FROM document WHERE file = ?1 AND kind >= ?2")?,
            drop_one: connection.prepare("DELETE FROM document WHERE document = ?1")?,
            unindex: connection.prepare("DELETE FROM word WHERE rowid = ?1")?,
            finish: connection.prepare("UPDATE session SET text_end = ?3 WHERE file = ?1 AND generation = ?2")?,
            facets: HashMap::new(),
        })
    }

    /// Starts with a file: what was indexed of it goes, if it is read from its beginning, else only what passes.
    pub fn start(&mut self, backlog: &Backlog, from_beginning: bool) -> rusqlite::Result<()> {
        let kind = i64::from(!from_beginning);
        let stale: Vec<i64> =
            self.of_file.query_map(params![backlog.file, kind], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        stale.into_iter().try_for_each(|document| self.drop_document(document))
    }

    /// Adds a document and its words.
    pub fn add(&mut self, backlog: &Backlog, entry: &Entry, streams: &Streams) -> rusqlite::Result<()> {
        let facet = self.facet(&entry.facets)?;
        let document: i64 = self.add.query_row(
            params![
                backlog.file,
                backlog.generation,
                i64::from(entry.is_passing),
                saturated(entry.offset),
                entry.length,
                entry.millis,
                facet,
                entry.entry,
            ],
            |row| row.get(0),
        )?;
        self.index.execute(params![document, streams.words, streams.parts, streams.paths])?;
        Ok(())
    }

    /// Ends with a file: its text is indexed up to `end`.
    pub fn finish(&mut self, backlog: &Backlog, end: u64) -> rusqlite::Result<()> {
        self.finish.execute(params![backlog.file, backlog.generation, saturated(end)])?;
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

    fn drop_document(&mut self, document: i64) -> rusqlite::Result<()> {
        self.unindex.execute([document])?;
        self.drop_one.execute([document])?;
        Ok(())
    }
}
