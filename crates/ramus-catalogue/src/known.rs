//! What the catalogue knows about files: what buckets came to, and the rows of those that differ.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::{COLUMNS, Row};

/// Returns what a file adds to the sum of its bucket: a number that differs when the name or the stamp differs. Should it be
/// made differently one day, all rows are compared once.
pub fn digest(name: &str, stamp: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    stamp.hash(&mut hasher);
    hasher.finish()
}

/// What is known about one file, as far as comparing needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What the home said about it.
    pub stamp: Vec<u8>,
    /// Whether the same stamp must not be taken for the same content.
    pub is_unsettled: bool,
}

impl Held<'_> {
    /// Returns what every bucket came to when all its rows were current.
    pub fn digests(&self) -> Result<Vec<(u16, i64)>, CatalogueError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT number, digest FROM bucket WHERE digest IS NOT NULL ORDER BY number")?;
            statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns which state of the catalogue this is. When it is the same, so is every answer.
    pub fn state(&self) -> Result<i64, CatalogueError> {
        self.read(|connection| connection.query_row("SELECT state FROM meta", (), |row| row.get(0)))
    }

    /// Returns how many files there are rows of.
    pub fn len(&self) -> Result<usize, CatalogueError> {
        self.read(|connection| {
            let count = connection.query_row("SELECT count(*) FROM session", (), |row| row.get::<_, i64>(0))?;
            Ok(usize::try_from(count).unwrap_or_default())
        })
    }

    /// Says whether there is no row.
    pub fn is_empty(&self) -> Result<bool, CatalogueError> {
        Ok(self.len()? == 0)
    }

    /// Returns what is known about the files of a bucket, sorted by name.
    pub fn known(&self, bucket: u16) -> Result<Vec<Known>, CatalogueError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT name, stamp, is_unsettled FROM session WHERE bucket = ?1 ORDER BY name")?;
            let known = statement.query_map([bucket], |row| {
                Ok(Known { name: row.get(0)?, stamp: row.get(1)?, is_unsettled: row.get(2)? })
            })?;
            known.collect()
        })
    }

    /// Returns the row of a file.
    pub fn row(&self, name: &str) -> Result<Option<Row>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM session WHERE name = ?1"))?;
            let mut rows = statement.query_map([name], Row::read)?;
            rows.next().transpose()
        })
    }

    /// Returns the forks of some files, by name, that were read when those were of another generation: they changed
    /// otherwise than by growing, or are gone.
    pub fn shaken_forks(&self, origins: &[String]) -> Result<Vec<String>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT session.name FROM rests JOIN session USING (file)
                     WHERE rests.name = ?1
                         AND rests.generation IS NOT (SELECT generation FROM session WHERE name = ?1)",
            )?;
            let mut forks = Vec::new();
            for origin in origins {
                for fork in statement.query_map([origin], |row| row.get(0))? {
                    forks.push(fork?);
                }
            }
            Ok(forks)
        })
    }

    /// Returns the forks that stand on some sessions, or would if those were there: the fork's name, the session, and the
    /// file it stands on.
    pub fn rests_on(&self, sessions: &[String]) -> Result<Vec<(String, String, Option<String>)>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT session.name, rests.id, rests.name FROM rests JOIN session USING (file) WHERE rests.id = ?1",
            )?;
            let mut forks = Vec::new();
            for session in sessions {
                for fork in statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
                    forks.push(fork?);
                }
            }
            Ok(forks)
        })
    }
}
