//! Snapshots around calls. A ledger belongs to a directory and is shared by all turns that work there in this process, a
//! session and its children among them: as long as any call runs, what changes is taken for theirs; what changes while
//! none does was changed by somebody else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ramus_snapshot::{About, FileDiff, SnapshotError, SnapshotId, Snapshots};
use ramus_tools::Reach;

use super::note::Summary;

/// The ledgers of directories where turns run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledgers(Arc<Mutex<HashMap<PathBuf, Weak<Ledger>>>>);

/// What calls changed in a directory.
#[derive(Debug)]
pub(crate) struct Ledger {
    taking: Mutex<Taking>,
    steps: Mutex<Vec<Step>>,
}

/// The newest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) id: SnapshotId,
    /// How many files it holds.
    pub(crate) files: u64,
    /// How much is in the directory and not in it.
    pub(crate) uncovered: u64,
}

/// What changed while calls ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) before: SnapshotId,
    pub(crate) after: SnapshotId,
    pub(crate) summary: Summary,
    pub(crate) paths: Vec<PathBuf>,
    /// What changed meanwhile and was none of theirs.
    pub(crate) theirs: Vec<PathBuf>,
    /// The calls that ran: of which turn, and which.
    pub(crate) by: Vec<(String, String)>,
}

struct Taking {
    store: PathBuf,
    root: PathBuf,
    apart: Vec<PathBuf>,
    /// What is known to be there at the start, if something is.
    known: Option<SnapshotId>,
    open: Option<Snapshots>,
    last: Option<Newest>,
    /// Calls that run: of which turn, and which.
    underway: Vec<(String, String)>,
    /// Those, and the ones that ended since the first of them began.
    together: Vec<(String, String)>,
    /// The files before the first of them began.
    before: Option<SnapshotId>,
    /// What those that ended can have changed; none when nobody knows.
    reach: Option<Reach>,
    /// Why no more snapshots are taken.
    trouble: Option<String>,
    notices: Vec<String>,
}

impl std::fmt::Debug for Taking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taking").field("root", &self.root).field("last", &self.last).finish_non_exhaustive()
    }
}

impl Ledgers {
    /// Returns the ledger of a directory, which is made if nobody has one.
    pub(crate) fn of(&self, store: &Path, root: &Path, apart: &[PathBuf], known: Option<SnapshotId>) -> Arc<Ledger> {
        let mut ledgers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledgers.retain(|_, ledger| ledger.strong_count() > 0);
        if let Some(ledger) = ledgers.get(root).and_then(Weak::upgrade) {
            return ledger;
        }
        let taking = Taking {
            store: store.to_owned(),
            root: root.to_owned(),
            apart: apart.to_vec(),
            known,
            open: None,
            last: None,
            underway: Vec::new(),
            together: Vec::new(),
            before: None,
            reach: None,
            trouble: None,
            notices: Vec::new(),
        };
        let ledger = Arc::new(Ledger { taking: Mutex::new(taking), steps: Mutex::default() });
        ledgers.insert(root.to_owned(), Arc::downgrade(&ledger));
        ledger
    }
}

impl Ledger {
    /// Notes that a call is about to run. What was there before is kept, and returned.
    pub(crate) fn begin(&self, turn: &str, call: &str, label: &str) -> Option<SnapshotId> {
        let mut taking = self.taking();
        if taking.underway.is_empty() {
            taking.before = taking.take(label);
            taking.together.clear();
            taking.reach = Some(Reach::default());
        }
        let who = (turn.to_owned(), call.to_owned());
        taking.underway.push(who.clone());
        taking.together.push(who);
        taking.before
    }

    /// Returns what was there before the calls that run now; none when none does.
    pub(crate) fn before(&self) -> Option<SnapshotId> {
        self.taking().before
    }

    /// Notes that a call has run, and what it can have changed, if that is known. When no other one runs, what all of them
    /// changed is kept.
    pub(crate) fn end(&self, turn: &str, call: &str, label: &str, reach: Option<Reach>) {
        let mut taking = self.taking();
        if let Some(at) = taking.underway.iter().position(|who| who.0 == turn && who.1 == call) {
            taking.underway.remove(at);
            taking.reach = taking.reach.take().zip(reach).map(|(all, reach)| all.with(reach));
        }
        if !taking.underway.is_empty() {
            return;
        }
        let Some(before) = taking.before.take() else { return };
        let Some(after) = taking.take(label).filter(|after| *after != before) else { return };
        let step = taking.compare(before, after);
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).extend(step);
    }

    /// Returns the steps from a number on.
    pub(crate) fn steps_from(&self, number: usize) -> Vec<Step> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.get(number..).unwrap_or_default().to_vec()
    }

    /// Returns how many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the newest snapshot.
    pub(crate) fn last(&self) -> Option<Newest> {
        self.taking().last
    }

    /// Returns why there are no snapshots, if there are none, and what else should be told.
    pub(crate) fn trouble(&self) -> (Option<String>, Vec<String>) {
        let mut taking = self.taking();
        (taking.trouble.clone(), std::mem::take(&mut taking.notices))
    }

    /// Compares two snapshots in some paths; none when that cannot be done, which is then the trouble.
    pub(crate) fn diff(&self, old: SnapshotId, new: SnapshotId, only: &[PathBuf]) -> Option<Vec<FileDiff>> {
        let mut taking = self.taking();
        match taking.open.as_ref()?.diff(old, new, only) {
            Ok(diffs) => Some(diffs),
            Err(error) => {
                taking.trouble = Some(told(&error));
                None
            }
        }
    }

    fn taking(&self) -> MutexGuard<'_, Taking> {
        self.taking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taking {
    /// Takes a snapshot, unless nothing changed. One that cannot be taken is the last one that is tried.
    fn take(&mut self, label: &str) -> Option<SnapshotId> {
        if self.trouble.is_some() {
            return None;
        }
        match self.try_take(label) {
            Ok(id) => Some(id),
            Err(error) => {
                self.trouble = Some(told(&error));
                None
            }
        }
    }

    fn try_take(&mut self, label: &str) -> Result<SnapshotId, SnapshotError> {
        let store = match &mut self.open {
            Some(store) => store,
            None => {
                let mut store = Snapshots::open(&self.store, &self.root, &self.apart)?;
                if let Some(restored) = store.recover()? {
                    let files = restored.done.len();
                    self.notices.push(format!("a restore that was interrupted was finished: {files} files"));
                }
                self.open.insert(store)
            }
        };
        let earlier = self.last.map(|last| last.id).or(self.known.filter(|id| store.has(*id)));
        let about = About { label: label.to_owned(), parents: earlier.into_iter().collect() };
        let taken = match earlier {
            Some(earlier) => store.take_since(earlier, &about)?,
            None => store.take(&about)?,
        };
        self.last = Some(Newest { id: taken.id, files: taken.files as u64, uncovered: taken.uncovered.len() as u64 });
        Ok(taken.id)
    }

    /// What differs between two looks and may have been changed by the calls between them.
    fn compare(&mut self, before: SnapshotId, after: SnapshotId) -> Option<Step> {
        let store = self.open.as_ref()?;
        let is_ours = |path: &PathBuf| self.reach.as_ref().is_none_or(|reach| reach.covers(&self.root.join(path)));
        let compared = store.changed(before, after).and_then(|changed| {
            let (paths, theirs): (Vec<PathBuf>, Vec<PathBuf>) = changed.into_iter().partition(is_ours);
            // What is not covered may differ, which nobody can take back.
            if paths.is_empty() {
                return Ok(None);
            }
            let only = if theirs.is_empty() { &[] } else { paths.as_slice() };
            let summary = Summary::of(&store.diff(before, after, only)?);
            Ok(Some((summary, paths, theirs)))
        });
        match compared {
            Ok(None) => None,
            Ok(Some((summary, paths, theirs))) => {
                let by = std::mem::take(&mut self.together);
                Some(Step { before, after, summary, paths, theirs, by })
            }
            Err(error) => {
                self.trouble = Some(told(&error));
                None
            }
        }
    }
}

/// An error with everything that led to it, in one line.
fn told(error: &SnapshotError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_changes_while_any_call_runs_is_theirs_and_the_rest_is_not() {
        let Ok(folder) = tempfile::tempdir() else { panic!("no directory") };
        let (store, root) = (folder.path().join("store"), folder.path().join("project"));
        let put = |name: &str| fs::create_dir_all(&root).and_then(|()| fs::write(root.join(name), name)).is_ok();
        assert!(put("before"));
        let ledgers = Ledgers::default();
        let ledger = ledgers.of(&store, &root, &[], None);
        let other = ledgers.of(&store, &root, &[], None);
        assert!(Arc::ptr_eq(&ledger, &other), "all turns of a directory share one");
        ledger.begin("parent", "one", "x");
        assert!(put("one"));
        other.begin("child", "two", "x");
        ledger.end("parent", "one", "x", None);
        assert!(put("two"));
        assert_eq!(ledger.len(), 0, "a call still runs");
        other.end("child", "two", "x", None);
        assert!(put("person"));
        ledger.begin("parent", "three", "x");
        ledger.end("parent", "three", "x", None);
        ledger.begin("parent", "four", "x");
        assert!(put("four"));
        ledger.end("parent", "four", "x", None);
        let steps = ledger.steps_from(0);
        let paths = |step: &Step| step.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(steps.iter().map(paths).collect::<Vec<_>>(), [vec!["one", "two"], vec!["four"]]);
        let calls = |step: &Step| step.by.iter().map(|(_, call)| call.clone()).collect::<Vec<_>>();
        assert_eq!(steps.iter().map(calls).collect::<Vec<_>>(), [vec!["one", "two"], vec!["four"]]);
        assert_eq!(ledger.last().map(|last| last.files), Some(5));
        // What a call cannot have changed was changed by somebody else.
        let reach = |name: &str| Some(Reach::of([root.join(name)]));
        ledger.begin("parent", "five", "x");
        assert!(put("five") && put("person"));
        ledger.begin("child", "six", "x");
        assert!(put("six") && fs::write(root.join("person"), "again").is_ok());
        ledger.end("parent", "five", "x", reach("five"));
        ledger.end("child", "six", "x", reach("six"));
        let step = ledger.steps_from(2).pop();
        let told = step.map(|step| (paths(&step), step.theirs, step.summary.files));
        assert_eq!(told, Some((vec!["five".to_owned(), "six".to_owned()], vec![PathBuf::from("person")], 2)));
        ledger.begin("parent", "seven", "x");
        assert!(fs::write(root.join("person"), "only").is_ok());
        ledger.end("parent", "seven", "x", reach("seven"));
        assert_eq!(ledger.len(), 3, "nothing of it was theirs");
        drop((ledger, other));
        assert_eq!(ledgers.of(&store, &root, &[], None).len(), 0, "nobody had it any more");
    }
}
