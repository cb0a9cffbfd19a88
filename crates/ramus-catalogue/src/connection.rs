//! Connections to the database, and the one way in which its main file is written.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::CatalogueError;
use crate::files::{Files, wait};
use crate::schema;
use crate::seal::{Look, Seal};

/// How long a writer of another process may keep us waiting.
const BUSY: Duration = Duration::from_secs(2);

/// Longer than the clock of any file system that tells nanoseconds takes to tick.
const TICK: Duration = Duration::from_millis(12);

/// Returns the seal when the main file is as it says.
pub(crate) fn files_match(files: &Files) -> Result<Option<Seal>, CatalogueError> {
    let Some(look) = Look::at(&files.database)? else { return Ok(None) };
    Ok(Seal::read(&files.seal).filter(|seal| seal.look == look))
}

/// Opens a main file that was found to be as it was left; none when the write-ahead log is another one's, or the rows
/// were made by another version.
pub(crate) fn open_sealed(files: &Files, seal: &Seal, version: &str) -> Result<Option<Connection>, CatalogueError> {
    let connection = connect_to(&files.database)?;
    let meta = connection.query_row("SELECT version, mark FROM meta", (), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let (found, mark) = meta.map_err(|cause| CatalogueError::sqlite(&files.database, cause))?;
    Ok((found == version && mark == seal.mark).then_some(connection))
}

pub(crate) fn connect_to(path: &Path) -> Result<Connection, CatalogueError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connect = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute_batch(
            "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
             PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA cache_size = -16000;",
        )?;
        Ok(connection)
    };
    connect().map_err(|cause| CatalogueError::sqlite(path, cause))
}

pub(crate) fn fill(connection: &Connection, version: &str, mark: &str) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute_batch(schema::TABLES)?;
    transaction.execute_batch(crate::text::TABLES)?;
    transaction.execute("INSERT INTO meta VALUES (1, ?1, ?2, 0, random())", (version, mark))?;
    transaction.commit()
}

/// Folds the write-ahead log into the main file and seals it. Whoever calls holds the lock alone. None when someone
/// wrote to the main file meanwhile: then there is no seal, and the next use starts afresh.
pub(crate) fn fold(files: &Files, connection: &Connection) -> Result<Option<Seal>, CatalogueError> {
    let checkpoint = || {
        let mark: String = connection.query_row("SELECT lower(hex(randomblob(12)))", (), |row| row.get(0))?;
        connection.execute("UPDATE meta SET mark = ?1", (&mark,))?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
        Ok(mark)
    };
    let mark = checkpoint().map_err(|cause| CatalogueError::sqlite(&files.database, cause))?;
    let before = Look::at(&files.database)?;
    // Whatever writes to it from now on is seen by the time it shows.
    wait(TICK);
    let Some(look) = Look::at(&files.database)?.filter(|look| before.as_ref() == Some(look)) else { return Ok(None) };
    let seal = Seal { look, mark };
    seal.write(&files.seal)?;
    Ok(Some(seal))
}
