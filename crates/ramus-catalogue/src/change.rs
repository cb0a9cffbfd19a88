//! Writing rows. Whoever writes says what it saw before: when another process was faster, its row stays, and the bucket
//! counts as not current, so that the next one looks again.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use crate::error::CatalogueError;
use crate::known::digest;
use crate::open::Held;
use crate::row::{COLUMNS, DERIVED, Row, saturated};

/// An answer of a model, in the log that it was written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Which entry it is.
    pub seq: u64,
    /// When it was given, in milliseconds since 1970.
    pub millis: Option<i64>,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Millionths of a US dollar as reported; none when nothing was reported.
    pub cost_micros: Option<u64>,
    /// What copies of the same entry have in common.
    pub identity: i64,
    /// What messages of the same response have in common, if the provider named it.
    pub response: Option<i64>,
}

/// Which answers a change brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// All of the log.
    All(Vec<Answer>),
    /// Those that came since the log was read last.
    More(Vec<Answer>),
}

/// A log that a fork stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The session it belongs to.
    pub id: String,
    /// The file; none when it is gone.
    pub name: Option<String>,
}

/// One row that changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A file is there.
    Put {
        /// What is known about it.
        row: Box<Row>,
        /// The stamp of the row that this one takes the place of; none when there was none.
        before: Option<Vec<u8>>,
        /// Its answers.
        answers: Answers,
        /// What it stands on, when it is a fork.
        rests: Vec<Rest>,
        /// Whether what was known of the file is still so, and more was added.
        has_grown: bool,
    },
    /// A file is gone.
    Remove {
        /// Its name.
        name: String,
        /// The bucket of its row.
        bucket: u16,
        /// The stamp of its row.
        before: Vec<u8>,
    },
}

impl Change {
    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Put { row, .. } => &row.name,
            Self::Remove { name, .. } => name,
        }
    }

    /// Puts a row where there is none.
    pub fn put(row: Row) -> Self {
        let answers = Answers::All(Vec::new());
        Self::Put { row: Box::new(row), before: None, answers, rests: Vec::new(), has_grown: false }
    }
}

impl Held<'_> {
    /// Writes changes and what buckets of files came to, all or nothing.
    ///
    /// A sum is written only if the rows of the bucket come to it now. Between looking at rows and writing the sum,
    /// another process that saw the files at another moment may have written rows, or been faster with ours: with such a
    /// sum nobody would ever look at them again. For the same reason a bucket whose rows change has no sum.
    pub fn apply(&self, changes: &[Change], digests: &[(u16, Option<i64>)]) -> Result<(), CatalogueError> {
        if changes.is_empty() && digests.is_empty() {
            return Ok(());
        }
        self.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let mut touched = BTreeSet::new();
            for change in changes {
                touched.insert(match change {
                    Change::Remove { name, bucket, before } => {
                        writer.remove(name, before)?;
                        *bucket
                    }
                    Change::Put { row, .. } => {
                        writer.put(change)?;
                        row.bucket
                    }
                });
            }
            // Only now are the generations of everything that a fork may stand on known.
            for change in changes {
                writer.rest(change)?;
            }
            let mut digest = connection.prepare("INSERT OR REPLACE INTO bucket VALUES (?1, ?2)")?;
            for number in touched {
                digest.execute(params![number, None::<i64>])?;
            }
            let mut rows = connection.prepare("SELECT name, stamp, is_unsettled FROM session WHERE bucket = ?1")?;
            for (number, value) in digests {
                let sum = rows_come_to(&mut rows, *number)?;
                digest.execute(params![number, value.filter(|value| sum == Some(*value))])?;
            }
            Ok(())
        })
    }
}

/// Adds up what the rows of a bucket come to; none when one of them is not settled.
fn rows_come_to(rows: &mut Statement<'_>, bucket: u16) -> rusqlite::Result<Option<i64>> {
    let mut rows = rows.query([bucket])?;
    let mut sum = 0_u64;
    while let Some(row) = rows.next()? {
        if row.get(2)? {
            return Ok(None);
        }
        let (name, stamp) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_blob()?);
        sum = sum.wrapping_add(digest(name, stamp));
    }
    Ok(Some(sum.cast_signed()))
}

/// The statements of one transaction.
struct Writer<'c> {
    stand: Statement<'c>,
    put: Statement<'c>,
    generation: Statement<'c>,
    forget: [Statement<'c>; 3],
    drop_answers: Statement<'c>,
    answer: Statement<'c>,
    drop_rests: Statement<'c>,
    rest: Statement<'c>,
}

/// The row that is there: which, its stamp, its generation.
type Stand = (i64, Vec<u8>, i64);

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            stand: connection.prepare("SELECT file, stamp, generation FROM session WHERE name = ?1")?,
            put: connection.prepare(&upsert())?,
            generation: connection.prepare("UPDATE meta SET generations = generations + 1 RETURNING generations")?,
            forget: [
                connection.prepare("DELETE FROM answer WHERE file = ?1")?,
                connection.prepare("DELETE FROM rests WHERE file = ?1")?,
                connection.prepare("DELETE FROM session WHERE file = ?1")?,
            ],
            drop_answers: connection.prepare("DELETE FROM answer WHERE file = ?1")?,
            answer: connection
                .prepare("INSERT OR REPLACE INTO answer VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?,
            drop_rests: connection.prepare("DELETE FROM rests WHERE file = ?1")?,
            rest: connection.prepare(
                "INSERT INTO rests VALUES (?1, ?2, ?3, ?4,
                     coalesce((SELECT generation FROM session WHERE name = ?4), 0))",
            )?,
        })
    }

    fn stand(&mut self, name: &str) -> rusqlite::Result<Option<Stand>> {
        self.stand.query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
    }

    /// Removes a row, unless another process was faster.
    fn remove(&mut self, name: &str, before: &[u8]) -> rusqlite::Result<()> {
        let Some((file, stamp, _)) = self.stand(name)? else { return Ok(()) };
        if stamp != before {
            return Ok(());
        }
        for statement in &mut self.forget {
            statement.execute([file])?;
        }
        Ok(())
    }

    /// Writes a row, unless another process was faster.
    fn put(&mut self, change: &Change) -> rusqlite::Result<()> {
        let Change::Put { row, before, answers, has_grown, .. } = change else { return Ok(()) };
        let stand = self.stand(&row.name)?;
        if stand.as_ref().map(|(_, stamp, _)| stamp) != before.as_ref() {
            return Ok(());
        }
        let generation = match &stand {
            Some((_, _, generation)) if *has_grown => *generation,
            _ => self.generation.query_row((), |row| row.get(0))?,
        };
        row.insert(&mut self.put, generation)?;
        let file = match stand {
            Some((file, ..)) => file,
            None => self.stand(&row.name)?.map(|(file, ..)| file).unwrap_or_default(),
        };
        let answers = match answers {
            Answers::More(answers) => answers,
            Answers::All(answers) => {
                self.drop_answers.execute([file])?;
                answers
            }
        };
        answers.iter().try_for_each(|answer| self.answer(file, answer))
    }

    fn answer(&mut self, file: i64, answer: &Answer) -> rusqlite::Result<()> {
        self.answer.execute(params![
            file,
            saturated(answer.seq),
            answer.millis,
            answer.provider,
            answer.model,
            saturated(answer.input),
            saturated(answer.output),
            saturated(answer.cache_read),
            saturated(answer.cache_write),
            answer.cost_micros.map(saturated),
            answer.identity,
            answer.response,
        ])?;
        Ok(())
    }

    /// Writes down what a fork stands on, if it was this change that was written.
    fn rest(&mut self, change: &Change) -> rusqlite::Result<()> {
        let Change::Put { row, rests, .. } = change else { return Ok(()) };
        let Some((file, stamp, _)) = self.stand(&row.name)? else { return Ok(()) };
        if stamp != row.stamp {
            return Ok(());
        }
        self.drop_rests.execute([file])?;
        for (level, Rest { id, name }) in rests.iter().enumerate() {
            self.rest.execute(params![file, saturated(level as u64), id, name])?;
        }
        Ok(())
    }
}

/// Puts a row, in the place of the one with its name.
fn upsert() -> String {
    let columns = || COLUMNS.split(", ").chain(DERIVED.split(", "));
    let parameters: Vec<String> = (1..=columns().count()).map(|number| format!("?{number}")).collect();
    let updates: Vec<String> =
        columns().filter(|name| *name != "name").map(|name| format!("{name} = excluded.{name}")).collect();
    format!(
        "INSERT INTO session ({COLUMNS}, {DERIVED}) VALUES ({})
         ON CONFLICT (name) DO UPDATE SET {}",
        parameters.join(", "),
        updates.join(", ")
    )
}
