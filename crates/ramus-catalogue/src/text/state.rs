//! How far the full text is behind the rows.

use crate::error::CatalogueError;
use crate::open::Held;

/// A file whose text is not indexed as far as its row knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The number of its row.
    pub file: i64,
    /// Its name.
    pub name: String,
    /// The generation of its row.
    pub generation: i64,
    /// Up to where its row knows it.
    pub end: u64,
    /// What its row says about the file.
    pub stamp: Vec<u8>,
    /// What is indexed of it, if anything is.
    pub indexed: Option<TextState>,
}

/// How far the text of a file is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextState {
    /// The generation that was read.
    pub generation: i64,
    /// Up to where it was read.
    pub end: u64,
    /// What the text up to there came to, when that was found out: the same sum is the same text.
    pub sum: Option<i64>,
    /// Whether reading it showed damage.
    pub is_damaged: bool,
}

impl TextState {
    /// Reads generation, end, sum and damage from `column` on; none when the file has no text.
    pub(super) fn read(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<Self>> {
        let Some(generation) = row.get(column)? else { return Ok(None) };
        Ok(Some(Self {
            generation,
            end: row.get::<_, i64>(column + 1)?.cast_unsigned(),
            sum: row.get(column + 2)?,
            is_damaged: row.get(column + 3)?,
        }))
    }
}

impl Held<'_> {
    /// Returns the files whose text is not indexed as far as their rows know them, newest first. Bases and files that
    /// cannot be read are not indexed.
    pub fn text_backlog(&self) -> Result<Vec<Backlog>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT session.file, name, session.generation, known_end, stamp,
                        text.generation, text.read_end, text.sum, text.is_damaged
                     FROM session LEFT JOIN text ON text.file = session.file
                     WHERE residence <> 0 AND unreadable IS NULL
                         AND (text.generation IS NOT session.generation OR text.read_end IS NOT known_end)
                     ORDER BY updated_millis DESC, session.file",
            )?;
            let backlog = statement.query_map((), |row| {
                Ok(Backlog {
                    file: row.get(0)?,
                    name: row.get(1)?,
                    generation: row.get(2)?,
                    end: row.get::<_, i64>(3)?.cast_unsigned(),
                    stamp: row.get(4)?,
                    indexed: TextState::read(row, 5)?,
                })
            })?;
            backlog.collect()
        })
    }

    /// Returns the names of the forks that stand on what a deleted session left.
    pub fn based_forks(&self) -> Result<Vec<String>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT DISTINCT session.name FROM session AS base JOIN rests ON rests.name = base.name
                     JOIN session ON session.file = rests.file
                     WHERE base.residence = 0 AND session.residence <> 0",
            )?;
            statement.query_map((), |row| row.get(0))?.collect()
        })
    }

    /// Says whether nothing was written since the text was found to be current.
    pub fn is_text_current(&self) -> Result<bool, CatalogueError> {
        self.read(|connection| {
            connection
                .query_row("SELECT meta.state IS text_current.state FROM meta, text_current", (), |row| row.get(0))
        })
    }

    /// Writes down that the text was found to be current in `state`, unless something was written since.
    pub fn mark_text_current(&self, state: i64) -> Result<(), CatalogueError> {
        self.note(|connection| {
            connection.execute("UPDATE text_current SET state = ?1 WHERE (SELECT state FROM meta) = ?1", [state])?;
            Ok(())
        })
    }

    /// Removes the text of files that are gone or are not indexed any more, of at most `limit` files. Returns those of
    /// which it is still there.
    pub fn sweep_text(&self, limit: usize) -> Result<Vec<i64>, CatalogueError> {
        let mut gone: Vec<i64> = self.read(|connection| {
            let sql = "SELECT file FROM text WHERE NOT EXISTS (
                           SELECT 1 FROM session
                               WHERE session.file = text.file AND residence <> 0 AND unreadable IS NULL)";
            let mut statement = connection.prepare(sql)?;
            statement.query_map((), |row| row.get(0))?.collect()
        })?;
        let rest = gone.split_off(limit.min(gone.len()));
        if !gone.is_empty() {
            self.forget_text(&gone)?;
        }
        Ok(rest)
    }
}
