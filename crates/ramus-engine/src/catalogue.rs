//! The catalogue as the engine uses it: brought up to date before every question, replaced when it turns out not to be
//! one, and done without when it cannot be used. The invariant: no answer depends on what was in it before.

mod catch_up;
mod examine;
mod origins;
mod record;
mod text;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ramus_catalogue::{Catalogue, CatalogueError, Held};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::list::Answered;

pub(crate) use catch_up::Current;
use catch_up::Sorted;
pub(crate) use record::{infos_of, residence_of, with_runners};
pub(crate) use text::behind;

/// What the rows are made by. Whoever changes what is in a row changes this: rows of another version are made anew.
const ROWS: &str = "1";

/// For how long it is tried to find a moment at which the rows are as the home is, and how often at least.
const PATIENCE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 8;

/// How far bringing the catalogue up to date has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many files were read.
    pub files: usize,
    /// How many must be.
    pub of_files: usize,
    /// How many bytes they had.
    pub bytes: u64,
    /// How many bytes must be read at most.
    pub of_bytes: u64,
}

/// How the catalogue on disk is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueStatus {
    /// Where it is, or would be.
    pub path: Option<PathBuf>,
    /// How long its main file is; none when there is none.
    pub bytes: Option<u64>,
    /// How many files it knows.
    pub rows: usize,
    /// How many there are, bases included.
    pub files: usize,
    /// How many files the next question looks at, or forgets.
    pub stale: usize,
}

/// Who is told how far it has come.
type Watcher = Arc<dyn Fn(Progress) + Send + Sync>;

/// Where the catalogue of an engine is.
#[derive(Clone, Default)]
pub(crate) struct Shelf {
    home: Option<PathBuf>,
    watcher: Option<Watcher>,
    state: Arc<Mutex<State>>,
    /// The list that was asked for last: whoever watches asks again and again.
    last: Arc<Mutex<Option<Answered>>>,
    /// The files of the home as they were sorted last.
    sorted: Arc<Mutex<Option<Sorted>>>,
}

#[derive(Default)]
struct State {
    /// The one on disk, once it was opened.
    kept: Option<Catalogue>,
    /// The one that is used when there is none on disk.
    spare: Option<Catalogue>,
    notices: Vec<String>,
}

/// Why the catalogue gave no answer.
pub(crate) enum Trouble {
    /// The home of the logs says so, and would say the same to anyone.
    Home(EngineError),
    /// The database says so.
    Database(CatalogueError),
    /// The database changed under our hands.
    Disturbed,
    /// Others changed rows so often that there was never a moment at which they were as the home was.
    Overtaken,
}

/// What is done with a catalogue that was brought up to date, before it is asked. Only here may it be written to.
type Prepare<'a> = &'a mut dyn FnMut(&Held<'_>) -> Result<(), Trouble>;

/// A question. Everything it reads is of one moment.
type Ask<'a, T> = &'a mut dyn FnMut(&Held<'_>, &Current) -> Result<T, Trouble>;

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        Self::Home(error)
    }
}

impl From<ramus_store::StoreError> for Trouble {
    fn from(error: ramus_store::StoreError) -> Self {
        Self::Home(error.into())
    }
}

impl From<CatalogueError> for Trouble {
    fn from(error: CatalogueError) -> Self {
        Self::Database(error)
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("home", &self.home).finish_non_exhaustive()
    }
}

impl Shelf {
    /// Tells how far bringing the catalogue up to date has come.
    fn tell(&self, progress: Progress) {
        if let Some(watcher) = &self.watcher {
            watcher(progress);
        }
    }

    pub(crate) fn last(&self) -> MutexGuard<'_, Option<Answered>> {
        // It is replaced as a whole.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sorted(&self) -> MutexGuard<'_, Option<Sorted>> {
        self.sorted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A catalogue is checked before each use, whatever happened to its last user.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Keeps the catalogue in this directory, so that the next process need not read every session again. It is made when
    /// it is needed. Without one, and when it cannot be used, the engine makes one in memory.
    #[must_use]
    pub fn with_catalogue(mut self, home: impl Into<PathBuf>) -> Self {
        self.shelf = Shelf { home: Some(home.into()), ..Shelf::default() };
        self
    }

    /// Tells `watcher` how far bringing the catalogue up to date has come.
    #[must_use]
    pub fn with_progress(mut self, watcher: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.shelf.watcher = Some(Arc::new(watcher));
        self
    }

    /// Returns the file of the catalogue, if it is kept in one.
    pub fn catalogue_path(&self) -> Option<PathBuf> {
        self.shelf.home.as_deref().map(|home| home.join("catalogue.db"))
    }

    /// Takes what a person should be told about the catalogue.
    pub fn take_catalogue_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.shelf.state().notices)
    }

    /// Makes the catalogue anew from the sessions. Returns how many files it is about.
    pub fn rebuild_catalogue(&self) -> Result<usize, EngineError> {
        {
            let mut state = self.shelf.state();
            state.spare = None;
            if let Some(home) = &self.shelf.home {
                state.kept = None;
                let mut fresh = Catalogue::open(home, &version())?;
                fresh.reset()?;
                state.kept = Some(fresh);
            }
        }
        let files = self.consult(&mut |_, current| Ok(current.len()))?;
        self.index_all_text()?;
        Ok(files)
    }

    /// Says how the catalogue on disk is, without bringing it up to date.
    pub fn catalogue_status(&self) -> Result<CatalogueStatus, EngineError> {
        let path = self.catalogue_path();
        let files = self.store.stamps()?;
        let Some((home, bytes)) = self.shelf.home.as_deref().zip(path.as_deref().and_then(file_len)) else {
            return Ok(CatalogueStatus { path, files: files.len(), stale: files.len(), ..CatalogueStatus::default() });
        };
        let mut state = self.shelf.state();
        let catalogue = match state.kept.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::open(home, &version())?,
        };
        let catalogue = state.kept.insert(catalogue);
        let held = catalogue.enter()?;
        let rows = held.len()?;
        let current = Current::of(files, &mut self.shelf.sorted());
        let stale = current.stale(&held).map_err(|trouble| match trouble {
            Trouble::Home(error) => error,
            Trouble::Database(error) => error.into(),
            Trouble::Disturbed | Trouble::Overtaken => {
                EngineError::Conflict("the catalogue was replaced while it was looked at".into())
            }
        })?;
        Ok(CatalogueStatus { path, bytes: Some(bytes), rows, files: current.len(), stale })
    }

    /// Does for the catalogue what makes its next use quick, when nobody waits for an answer.
    pub fn tidy_catalogue(&self) {
        if let Some(kept) = &mut self.shelf.state().kept {
            // What could not be done now is done another time.
            let _ = kept.tidy();
        }
    }

    /// Asks the catalogue, brought up to date. Whatever is wrong with the one on disk, there is an answer.
    pub(crate) fn consult<T>(&self, ask: Ask<'_, T>) -> Result<T, EngineError> {
        self.consult_prepared(&mut |_| Ok(()), ask)
    }

    /// Asks the catalogue, brought up to date and prepared.
    pub(crate) fn consult_prepared<T>(&self, prepare: Prepare<'_>, ask: Ask<'_, T>) -> Result<T, EngineError> {
        let mut state = self.shelf.state();
        let State { kept, spare, notices } = &mut *state;
        if let Some(home) = self.shelf.home.as_deref().filter(|home| home.is_dir()) {
            match self.consult_kept(kept, home, prepare, ask) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Home(error)) => return Err(error),
                Err(Trouble::Disturbed) => *kept = None,
                Err(Trouble::Overtaken) => {}
                Err(Trouble::Database(error)) => {
                    *kept = None;
                    if !error.is_busy() {
                        notices.push(format!("the catalogue was done without: {}", told(&error)));
                    }
                }
            }
        }
        let catalogue = match spare.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::in_memory()?,
        };
        match self.ask_current(spare.insert(catalogue), prepare, ask) {
            Ok(answer) => Ok(answer),
            Err(Trouble::Home(error)) => Err(error),
            Err(Trouble::Database(error)) => {
                *spare = None;
                Err(error.into())
            }
            Err(Trouble::Disturbed | Trouble::Overtaken) => {
                Err(EngineError::Conflict("sessions change faster than they can be looked at".into()))
            }
        }
    }

    /// Asks the catalogue on disk; when it turns out not to be one, a fresh one takes its place.
    fn consult_kept<T>(
        &self,
        kept: &mut Option<Catalogue>,
        home: &Path,
        prepare: Prepare<'_>,
        ask: Ask<'_, T>,
    ) -> Result<T, Trouble> {
        let catalogue = match kept.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::open(home, &version())?,
        };
        let catalogue = kept.insert(catalogue);
        match self.ask_current(catalogue, prepare, ask) {
            Err(Trouble::Database(CatalogueError::Corrupt { .. }) | Trouble::Disturbed) => {
                catalogue.reset()?;
                self.ask_current(catalogue, prepare, ask)
            }
            result => result,
        }
    }

    /// Asks at a moment when every row is as the home was, after the question came. Other processes write rows too, and
    /// theirs may be of an earlier look at the home than ours: then it is looked at again.
    fn ask_current<T>(&self, catalogue: &mut Catalogue, prepare: Prepare<'_>, ask: Ask<'_, T>) -> Result<T, Trouble> {
        let held = catalogue.enter()?;
        let start = Instant::now();
        let mut attempts = 0;
        while attempts < ATTEMPTS || start.elapsed() < PATIENCE {
            attempts += 1;
            let current = self.bring_up_to_date(&held)?;
            prepare(&held)?;
            let answer = held.at_one_moment(|| match current.is_in(&held)? {
                true => ask(&held, &current).map(Some),
                false => Ok::<_, Trouble>(None),
            })?;
            if let Some(answer) = answer {
                return if held.leave()? { Ok(answer) } else { Err(Trouble::Disturbed) };
            }
        }
        Err(Trouble::Overtaken)
    }
}

fn version() -> String {
    format!("{}/{ROWS}", env!("CARGO_PKG_VERSION"))
}

fn file_len(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// An error and its causes.
fn told(error: &CatalogueError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
