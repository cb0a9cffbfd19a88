//! The prompt history: what people asked, newest last, findable by any part of it. It is its own truth: sessions may be
//! deleted, prompts stay.
//!
//! Recording never waits for the disk, and no prompt is lost without somebody being told: what could not be stored is
//! named by [`History::close`], and a damaged database is set aside, never thrown away.

mod database;
mod fold;
mod place;
mod salvage;
mod search;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::CatalogueError;
use database::{Database, Presence};
use place::Place;
use writer::Writer;

/// How long dropping a history waits for what was recorded.
const DROP_PATIENCE: Duration = Duration::from_secs(1);

/// How long a question waits for other processes that hold the database, one after the other.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits before it tries again, beyond what the statement waited.
const PAUSE: Duration = Duration::from_millis(5);

/// One thing that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The text, as it was typed.
    pub text: String,
    /// When, in milliseconds since 1970.
    pub created: i64,
    /// The working directory it was asked in.
    pub cwd: String,
}

/// Which prompts are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Words that must all be in the prompt, each anywhere, in upper or lower case. Empty: every prompt.
    pub text: String,
    /// Only prompts of this directory.
    pub cwd: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// Prompts that are not in the history though they were recorded.
#[derive(Debug, thiserror::Error)]
#[error("{}", told(*.count, *.refused))]
pub struct Unstored {
    /// How many.
    pub count: usize,
    /// How many of them because too many were waiting already.
    pub refused: usize,
    /// What kept them from being stored.
    #[source]
    pub cause: Option<CatalogueError>,
}

fn told(count: usize, refused: usize) -> String {
    let what = if count == 1 { "a prompt is".to_owned() } else { format!("{count} prompts are") };
    match refused {
        0 => format!("{what} not in the history"),
        _ => format!("{what} not in the history, {refused} of them because too many were waiting"),
    }
}

/// The prompt history of a home: `history.db`.
///
/// ```
/// use std::time::Duration;
/// use ramus_catalogue::{History, HistoryQuery, Prompt};
///
/// let home = tempfile::tempdir()?;
/// let history = History::at(home.path());
/// history.record(Prompt { text: "Why is the sky blue?".into(), created: 1, cwd: "/tmp".into() });
/// history.close(Duration::from_secs(5))?;
/// let found = history.search(&HistoryQuery { text: "SKY".into(), cwd: None, limit: 10 })?;
/// assert_eq!(found.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct History {
    place: Place,
    /// Runs from the first prompt on.
    writer: Mutex<Option<Writer>>,
    notices: Mutex<Vec<String>>,
}

impl History {
    /// Names the history in a directory. Nothing is opened or made.
    pub fn at(directory: &Path) -> Self {
        Self { place: Place::new(directory), writer: Mutex::default(), notices: Mutex::default() }
    }

    /// Returns the database.
    pub fn path(&self) -> PathBuf {
        self.place.database()
    }

    /// Adds a prompt, unless it is blank or the same as the newest one. It is stored by a thread of its own: whoever
    /// records waits for nothing, not even for a database that somebody else has locked.
    pub fn record(&self, prompt: Prompt) {
        if !prompt.text.trim().is_empty() {
            lock(&self.writer).get_or_insert_with(|| Writer::start(self.place.clone())).record(prompt);
        }
    }

    /// Waits until everything that was recorded is stored, for as long as `patience` lasts.
    pub fn close(&self, patience: Duration) -> Result<(), Unstored> {
        let Some(writer) = lock(&self.writer).take() else { return Ok(()) };
        let (notices, result) = writer.close(patience);
        lock(&self.notices).extend(notices);
        result
    }

    /// Returns what happened to the database meanwhile that somebody should know, once.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.notices))
    }

    /// Finds prompts, newest first. Without a history there are none, and none is made.
    pub fn search(&self, query: &HistoryQuery) -> Result<Vec<Prompt>, CatalogueError> {
        self.with_database(|database| database.search(query)).map(Option::unwrap_or_default)
    }

    /// Removes prompts by their text and directory, for good, and returns how many there were.
    pub fn forget(&self, prompts: &[(String, String)]) -> Result<usize, CatalogueError> {
        self.with_database(|database| database.forget(prompts)).map(Option::unwrap_or_default)
    }

    /// Counts the prompts that [`History::forget`] would remove.
    pub fn count(&self, prompts: &[(String, String)]) -> Result<usize, CatalogueError> {
        self.with_database(|database| database.count(prompts)).map(Option::unwrap_or_default)
    }

    /// Does something with the database, if there is one; again while others hold it, and once more if it turns out to
    /// be damaged and could be mended.
    fn with_database<T>(
        &self,
        work: impl Fn(&mut Database) -> Result<T, CatalogueError>,
    ) -> Result<Option<T>, CatalogueError> {
        let end = Instant::now() + PATIENCE;
        let mut notices = Vec::new();
        let result = loop {
            match self.try_with_database(&work, &mut notices) {
                Err(CatalogueError::Busy { .. }) if Instant::now() < end => crate::files::wait(PAUSE),
                result => break result,
            }
        };
        lock(&self.notices).extend(notices);
        result
    }

    fn try_with_database<T>(
        &self,
        work: &impl Fn(&mut Database) -> Result<T, CatalogueError>,
        notices: &mut Vec<String>,
    ) -> Result<Option<T>, CatalogueError> {
        let Some(mut database) = Database::open_sound(&self.place, Presence::Required, notices)? else {
            return Ok(None);
        };
        match work(&mut database) {
            Err(CatalogueError::Corrupt { .. }) => {
                drop(database);
                notices.extend(salvage::mend(&self.place)?);
                let database = Database::open_sound(&self.place, Presence::Required, notices)?;
                database.map(|mut database| work(&mut database)).transpose()
            }
            result => result.map(Some),
        }
    }
}

impl Drop for History {
    fn drop(&mut self) {
        // Whoever wants to know what was not stored closes it first.
        let _ = self.close(DROP_PATIENCE);
    }
}

/// What a thread that panicked left behind is as good as before: every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
