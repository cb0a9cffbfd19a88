//! The database of the history, opened: its schema, and the statements that change it.
//!
//! Whether a prompt repeats the newest one is decided inside the statement that stores it, so that it holds among
//! processes too.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, ffi, params};

use super::fold::fold_prompt;
use super::place::{FileId, Place};
use super::{Prompt, salvage};
use crate::error::CatalogueError;

const SCHEMA: &str = include_str!("schema.sql");

/// The version of the schema.
const VERSION: i64 = 1;

/// How long a statement waits for another process. Writers try again, so that they can be told to stop in between.
const PATIENCE: Duration = Duration::from_millis(100);

const INSERT: &str = "INSERT INTO history(prompt, created_at, cwd, folded) SELECT ?1, ?2, ?3, ?4 \
                      WHERE ?1 IS NOT (SELECT prompt FROM history ORDER BY id DESC LIMIT 1)";
const DELETE: &str = "DELETE FROM history WHERE prompt = ?1 AND cwd = ?2";
const COUNT: &str = "SELECT count(*) FROM history WHERE prompt = ?1 AND cwd = ?2";

/// What is done when there is no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Nothing.
    Required,
    /// One is made.
    Made,
}

/// An open database, and which file it is.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    file: Option<FileId>,
}

impl Database {
    /// Opens the database; one that is damaged is mended first, which `notices` then tell.
    pub(super) fn open_sound(
        place: &Place,
        presence: Presence,
        notices: &mut Vec<String>,
    ) -> Result<Option<Self>, CatalogueError> {
        if presence == Presence::Required && place.file()?.is_none() {
            return Ok(None);
        }
        let opened = {
            let _held = place.hold_shared()?;
            Self::open(place, presence)
        };
        match opened {
            Err(CatalogueError::Corrupt { .. }) => {
                notices.extend(salvage::mend(place)?);
                let _held = place.hold_shared()?;
                Self::open(place, presence)
            }
            opened => opened,
        }
    }

    /// Opens the database. Whoever calls holds the lock.
    pub(super) fn open(place: &Place, presence: Presence) -> Result<Option<Self>, CatalogueError> {
        let path = place.database();
        if presence == Presence::Made {
            place.make()?;
        } else if place.file()?.is_none() {
            return Ok(None);
        }
        place.check()?;
        if place.is_cut_off()? {
            return Err(CatalogueError::sqlite(path, damage()));
        }
        let failed = |cause| CatalogueError::sqlite(&path, cause);
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
        let file = place.file()?;
        let mut database = Self { connection, path: path.clone(), file };
        database.prepare()?;
        Ok(Some(database))
    }

    /// Brings a new database into shape; reading the version opens the files, so that later renames do no harm.
    fn prepare(&mut self) -> Result<(), CatalogueError> {
        let version = self.version()?;
        if version > VERSION {
            return Err(CatalogueError::Newer { path: self.path.clone() });
        }
        self.with_connection(|connection| {
            let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            if !mode.eq_ignore_ascii_case("wal") {
                connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            }
            connection.pragma_update(None, "secure_delete", true)
        })?;
        if version == 0 { self.make_schema() } else { Ok(()) }
    }

    fn make_schema(&mut self) -> Result<(), CatalogueError> {
        self.with_connection(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == 0 {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()
        })
    }

    fn version(&mut self) -> Result<i64, CatalogueError> {
        self.with_connection(|connection| connection.pragma_query_value(None, "user_version", |row| row.get(0)))
    }

    /// Says whether the name of the database still means this one.
    pub(super) fn is_current(&self, place: &Place) -> Result<bool, CatalogueError> {
        Ok(place.file()? == self.file)
    }

    /// Adds prompts in order, all or none; those that repeat the newest one are left out.
    pub(super) fn add(&mut self, prompts: &[Prompt]) -> Result<(), CatalogueError> {
        self.with_connection(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut insert = transaction.prepare(INSERT)?;
                for prompt in prompts {
                    insert.execute(params![prompt.text, prompt.created, prompt.cwd, fold_prompt(&prompt.text)])?;
                }
            }
            transaction.commit()
        })
    }

    /// Removes prompts by text and directory, from the files too.
    pub(super) fn forget(&mut self, prompts: &[(String, String)]) -> Result<usize, CatalogueError> {
        self.with_connection(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut removed = 0;
            {
                let mut delete = transaction.prepare(DELETE)?;
                for (text, cwd) in prompts {
                    removed += delete.execute(params![text, cwd])?;
                }
            }
            transaction.commit()?;
            // A reader of another process may keep old pages for a moment; they go with a later checkpoint.
            match connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
                Err(cause) if cause.sqlite_error_code() != Some(ffi::ErrorCode::DatabaseBusy) => Err(cause),
                _ => Ok(removed),
            }
        })
    }

    /// Counts prompts by text and directory, each once.
    pub(super) fn count(&mut self, prompts: &[(String, String)]) -> Result<usize, CatalogueError> {
        let mut known: Vec<&(String, String)> = prompts.iter().collect();
        known.sort_unstable();
        known.dedup();
        self.with_connection(|connection| {
            let mut count = connection.prepare(COUNT)?;
            let counts =
                known.iter().map(|(text, cwd)| count.query_row(params![text, cwd], |row| row.get::<_, u32>(0)));
            counts.sum::<rusqlite::Result<u32>>().map(|sum| sum as usize)
        })
    }

    pub(super) fn with_connection<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogueError> {
        work(&mut self.connection).map_err(|cause| CatalogueError::sqlite(&self.path, cause))
    }
}

/// Opens a file as a database. Links are not followed, and closing leaves the write-ahead log where it is: taking it in
/// would make the last one of many short commands wait for the disk.
pub(super) fn connect(path: &std::path::Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// What SQLite would say about a database that it takes for a new one and is not.
fn damage() -> rusqlite::Error {
    let message = "it is empty, and was not".to_owned();
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message))
}
