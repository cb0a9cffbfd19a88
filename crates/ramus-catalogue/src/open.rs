//! Opening a catalogue, and never believing a main file that is not as we left it.
//!
//! Every use holds the lock shared and compares the seal when it starts; checkpoints and starting afresh hold it alone. So
//! nobody meets a main file between two states, and one that was deleted, cut, overwritten or swapped is noticed before
//! SQLite sees it. What of the write-ahead log is damaged SQLite drops by itself; one that belongs to another main file
//! bears another mark. Losing rows is harmless: they are made again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection::{connect_to, files_match, fill, fold, open_sealed};
use crate::error::CatalogueError;
use crate::files::{Files, Hold, failed};
use crate::schema;
use crate::seal::{Look, Seal};

/// How long another process may keep us from using the catalogue.
const PATIENCE: Duration = Duration::from_secs(2);

/// A write-ahead log of this length is worth a checkpoint when nobody waits for an answer: the first process that opens
/// the catalogue reads all of it.
const TIDY_AT: u64 = 1 << 19;

/// A write-ahead log of this length is folded in even when someone waits.
const TIDY_NOW_AT: u64 = 64 << 20;

/// How often a catalogue that is being replaced by others is tried again.
const ATTEMPTS: usize = 4;

/// A derived database about the sessions of a home: on disk, or in memory for as long as it lives.
#[derive(Debug)]
pub struct Catalogue {
    /// Where it is; none in memory.
    files: Option<Files>,
    /// The version of everything that decides what is in the rows.
    version: String,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    /// How the main file looked when it was opened; none in memory.
    seal: Option<Seal>,
}

/// A catalogue that is being used: nobody replaces it meanwhile.
#[derive(Debug)]
pub struct Held<'c> {
    catalogue: &'c Catalogue,
    open: &'c Open,
}

impl Catalogue {
    /// Names the catalogue of a home. `version` says what its rows were made by: rows of another version are made anew.
    pub fn open(home: &Path, version: &str) -> Result<Self, CatalogueError> {
        let files = Files::in_home(home)?;
        Ok(Self { files: Some(files), version: full_version(version), open: None })
    }

    /// Makes an empty catalogue that lives as long as this value.
    pub fn in_memory() -> Result<Self, CatalogueError> {
        let failed = |cause| CatalogueError::sqlite("memory", cause);
        let connection = Connection::open_in_memory().map_err(failed)?;
        fill(&connection, "", "").map_err(failed)?;
        Ok(Self { files: None, version: String::new(), open: Some(Open { connection, seal: None }) })
    }

    /// Returns the database file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.files.as_ref().map(|files| files.database.as_path())
    }

    /// Starts a use. What is there and not ours to believe is replaced by an empty catalogue.
    pub fn enter(&mut self) -> Result<Held<'_>, CatalogueError> {
        if self.files.as_ref().is_some_and(|files| files.wal_len() > TIDY_NOW_AT) {
            self.tidy()?;
        }
        self.connect()?;
        match &self.open {
            Some(open) => Ok(Held { open, catalogue: self }),
            None => Err(self.busy()),
        }
    }

    /// Throws everything away: it turned out not to be a database.
    pub fn reset(&mut self) -> Result<(), CatalogueError> {
        let seen = self.open.take().and_then(|open| open.seal).map(|seal| seal.look);
        match &self.files {
            Some(files) => self.start_afresh(files, |look| match (look, &seen) {
                // Someone else was faster.
                (Some(look), Some(seen)) => look.is_same_file(seen),
                _ => true,
            }),
            None => {
                *self = Self::in_memory()?;
                Ok(())
            }
        }
    }

    /// Folds the write-ahead log into the main file when it has become long and nobody uses the catalogue.
    pub fn tidy(&mut self) -> Result<(), CatalogueError> {
        let Some(files) = self.files.as_ref().filter(|files| files.wal_len() > TIDY_AT) else { return Ok(()) };
        let Some(open) = &self.open else { return Ok(()) };
        if !files.hold(Hold::Alone, Duration::from_millis(20))? {
            return Ok(());
        }
        let result = match files_match(files) {
            Err(error) => Err(error),
            Ok(Some(seal)) if open.seal.as_ref().is_some_and(|known| known.look.is_same_file(&seal.look)) => {
                fold(files, &open.connection).map(Some)
            }
            // The next use sees to it.
            Ok(_) => Ok(None),
        };
        files.release();
        let sealed = result?;
        if let (Some(open), Some(sealed)) = (&mut self.open, sealed) {
            open.seal = sealed;
        }
        Ok(())
    }

    /// Gets the shared lock and a connection that belongs to the seal.
    fn connect(&mut self) -> Result<(), CatalogueError> {
        for _ in 0..ATTEMPTS {
            let Some(files) = &self.files else { return Ok(()) };
            if !files.hold(Hold::Shared, PATIENCE)? {
                break;
            }
            let open = match connection_of(files, self.open.take(), &self.version) {
                Ok(open) => open,
                Err(error) => {
                    files.release();
                    return Err(error);
                }
            };
            match open {
                Usable::Yes(open) => {
                    self.open = Some(open);
                    return Ok(());
                }
                Usable::Unsealed => {
                    files.release();
                    self.start_afresh(files, |_| files_match(files).ok().flatten().is_none())?;
                }
                Usable::Strange(seen) => {
                    files.release();
                    self.start_afresh(files, |look| look.is_none_or(|look| look.is_same_file(&seen)))?;
                }
            }
        }
        Err(self.busy())
    }

    /// Makes an empty catalogue, alone, if that is still what must be done.
    fn start_afresh(&self, files: &Files, still: impl Fn(Option<&Look>) -> bool) -> Result<(), CatalogueError> {
        if !files.hold(Hold::Alone, PATIENCE)? {
            return Err(self.busy());
        }
        let made = (|| {
            if !still(Look::at(&files.database).unwrap_or_default().as_ref()) {
                return Ok(());
            }
            files.remove()?;
            files.make()?;
            let connection = connect_to(&files.database)?;
            let filled = fill(&connection, &self.version, "new");
            filled.map_err(|cause| CatalogueError::sqlite(&files.database, cause))?;
            fold(files, &connection).map(drop)
        })();
        files.release();
        made
    }

    fn busy(&self) -> CatalogueError {
        let cause = std::io::Error::from(std::io::ErrorKind::ResourceBusy);
        failed("use", self.path().unwrap_or(Path::new("memory")), cause)
    }
}

impl Held<'_> {
    /// Says whether it is on disk: what is put into one in memory is gone with the process.
    pub fn is_kept(&self) -> bool {
        self.catalogue.files.is_some()
    }

    /// Ends the use and says whether the main file stayed as it was all the time: whatever was read counts only then.
    pub fn leave(self) -> Result<bool, CatalogueError> {
        let (Some(files), Some(seal)) = (&self.catalogue.files, &self.open.seal) else { return Ok(true) };
        Ok(Look::at(&files.database)?.as_ref() == Some(&seal.look))
    }

    /// Lets everything that `work` reads be of one moment, whatever others write meanwhile. It must not write.
    pub fn at_one_moment<T, E: From<CatalogueError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let moment = Transaction::new_unchecked(&self.open.connection, TransactionBehavior::Deferred);
        let moment = moment.map_err(|cause| self.failed(cause))?;
        let result = work();
        drop(moment);
        result
    }

    /// Reads.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogueError> {
        work(&self.open.connection).map_err(|cause| self.failed(cause))
    }

    /// Writes, all or nothing. Answers that were given before may no longer hold.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogueError> {
        self.commit(work, "UPDATE meta SET state = random()")
    }

    /// Writes something that changes no answer, all or nothing.
    pub(crate) fn note<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogueError> {
        self.commit(work, "UPDATE meta SET state = state")
    }

    /// Every transaction writes the row that bears the mark.
    fn commit<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
        mark: &str,
    ) -> Result<T, CatalogueError> {
        let write = || {
            let transaction = Transaction::new_unchecked(&self.open.connection, TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.execute(mark, ())?;
            transaction.commit()?;
            Ok(result)
        };
        write().map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: rusqlite::Error) -> CatalogueError {
        CatalogueError::sqlite(self.catalogue.path().map_or_else(|| PathBuf::from("memory"), Path::to_owned), cause)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(files) = &self.catalogue.files {
            files.release();
        }
    }
}

fn full_version(version: &str) -> String {
    format!("{:016x}/{version}", schema::version())
}

/// What can be done with the files that are there.
enum Usable {
    /// They can be used.
    Yes(Open),
    /// The main file is not as it was left.
    Unsealed,
    /// This main file is as it was left, and still not one to use.
    Strange(Look),
}

/// Finds out whether the catalogue can be used, and keeps the connection that is open if it is to the same file.
fn connection_of(files: &Files, open: Option<Open>, version: &str) -> Result<Usable, CatalogueError> {
    let Some(seal) = files_match(files)? else { return Ok(Usable::Unsealed) };
    let is_same = |open: &Open| open.seal.as_ref().is_some_and(|known| known.look.is_same_file(&seal.look));
    if let Some(open) = open.filter(is_same) {
        return Ok(Usable::Yes(Open { seal: Some(seal), ..open }));
    }
    match open_sealed(files, &seal, version) {
        Ok(Some(connection)) => Ok(Usable::Yes(Open { connection, seal: Some(seal) })),
        Ok(None) | Err(CatalogueError::Corrupt { .. }) => Ok(Usable::Strange(seal.look)),
        // Tables that are not there are no fault of the disk.
        Err(CatalogueError::Failed { cause, .. })
            if matches!(cause.sqlite_error_code(), None | Some(rusqlite::ErrorCode::Unknown)) =>
        {
            Ok(Usable::Strange(seal.look))
        }
        Err(error) => Err(error),
    }
}
