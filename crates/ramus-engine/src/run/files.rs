//! What a turn changes in files: snapshots before and after each call that may change some, and what comes of them as
//! entries.
//!
//! The invariant: nothing here stops a turn. Where no snapshot can be taken, the turn goes on without, and that is said once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_model::Body;
use ramus_snapshot::{FileDiff, SnapshotId, Snapshots};
use ramus_tools::Effect;
use serde_json::{Value, json};

use super::Running;
use super::watch::Watched;
use crate::error::EngineError;
use crate::project::{self, GitStanding};
use crate::verb::info::GitState;
use crate::verb::snapshot::key;
use crate::workspace::{Account, FILES, Ledger, Newest, Pulse, Step, Summary, paths_to_json, short};

/// How much of the prompt is in a label, in characters.
const LABEL: usize = 60;

/// How many files the entry of a turn tells of.
const NAMED: usize = 200;

/// What a turn knows about the files it changes.
#[derive(Default)]
pub(super) struct Changes {
    ledger: Option<Arc<Ledger>>,
    /// How many steps of the ledger are noted.
    noted: usize,
    /// The files before the first change of this turn.
    first: Option<SnapshotId>,
    last: Option<SnapshotId>,
    paths: BTreeSet<PathBuf>,
    /// Why there are no snapshots.
    without: Option<String>,
    /// What snapshots of this turn are called.
    label: Option<String>,
    /// Calls that are watched and not started.
    waiting: HashMap<String, Watched>,
    /// Calls whose changes are not noted yet.
    open: HashSet<String>,
    /// What says that there are such.
    pulse: Option<Pulse>,
}

/// What the end of a turn says about files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFiles {
    /// The short name of the snapshot at its end; none when no call may have changed anything.
    pub snapshot: Option<String>,
    /// What the turn changed.
    pub summary: Summary,
    /// The user's repository.
    pub git: GitState,
    /// Why no snapshots could be taken.
    pub without: Option<String>,
}

/// Members of an entry.
type Members = Vec<(&'static str, Value)>;

impl Running<'_> {
    /// Begins to watch a call that is about to start, and returns the files before it; none when it changes nothing or is
    /// not watched. Whoever finds the call killed goes on from there.
    pub(super) fn expect_changes(&mut self, call: &str) -> Option<SnapshotId> {
        let effect = self.calls.effect_of(call)?;
        let watched = self.watch(effect, call)?;
        let before = watched.expect();
        self.changes.waiting.insert(call.to_owned(), watched);
        self.changes.open.insert(call.to_owned());
        before
    }

    /// A call that was stopped before it ran is watched no more.
    pub(super) fn expect_no_more(&mut self, call: &str) {
        self.changes.waiting.remove(call);
    }

    /// Returns how the changes of a call are watched that starts now.
    pub(super) fn watched(&mut self, effect: Effect, call: &str) -> Option<Watched> {
        self.changes.waiting.remove(call).or_else(|| self.watch(effect, call))
    }

    /// Returns how the changes of a call are watched; none when it changes nothing or they are not.
    fn watch(&mut self, effect: Effect, call: &str) -> Option<Watched> {
        // Who only has others do the work looks at what they did when they are done.
        if effect == Effect::Looks || !self.open_ledger() || effect == Effect::Delegates {
            return None;
        }
        let ledger = Arc::clone(self.changes.ledger.as_ref()?);
        let pulse = self.changes.pulse.clone()?;
        let label = self.label();
        Some(Watched::new(ledger, pulse, (&self.name, call), label))
    }

    /// Finds the ledger of the session's directory; says whether there is one.
    fn open_ledger(&mut self) -> bool {
        if self.changes.ledger.is_some() || self.changes.without.is_some() || !self.run.snapshots {
            return self.changes.ledger.is_some();
        }
        let Some(home) = &self.engine.snapshots else { return false };
        let root = match Snapshots::root_of(Path::new(self.session.cwd())) {
            Ok(root) => root,
            Err(error) => {
                self.changes.without = Some(error.to_string());
                return false;
            }
        };
        let vault = home.join(key(&root));
        if let Err(error) = self.session.note_outside(&vault) {
            self.changes.without = Some(error.to_string());
            return false;
        }
        let latest = self.session.account().ok().and_then(|account| account.latest);
        let ledger = self.engine.ledgers.of(&vault, &root, &self.engine.apart, latest);
        self.changes.pulse = Some(Pulse::of(&vault, self.session.id()));
        self.changes.noted = ledger.len();
        self.changes.ledger = Some(ledger);
        true
    }

    /// Notes what a call changed, once its result is stored.
    pub(super) fn note_changes(&mut self, call: Option<&str>) -> Result<(), EngineError> {
        let Some(ledger) = &self.changes.ledger else { return Ok(()) };
        let steps = ledger.steps_from(self.changes.noted);
        // What other calls of this turn changed is noted with their results.
        let concerns =
            |step: &&Step| call.is_none_or(|call| step.by.iter().any(|(turn, by)| *turn != self.name || by == call));
        let steps: Vec<Step> = steps.iter().take_while(concerns).cloned().collect();
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Ok(()) };
        let changes = &mut self.changes;
        changes.noted += steps.len();
        changes.first.get_or_insert(first.before);
        changes.last = Some(last.after);
        let said = self.last.clone();
        // What one step left to somebody else, another may have changed.
        let size = if steps.iter().all(|step| step.theirs.is_empty()) { steps.len() } else { 1 };
        for together in steps.chunks(size) {
            let data = describe(call, together);
            self.changes.paths.extend(together.iter().flat_map(|step| step.paths.iter().cloned()));
            self.append(Body::ramus(FILES, data))?;
        }
        // The result is what the turn said last, not the note beside it.
        self.last = said;
        Ok(())
    }

    /// What a call changed is noted. Without any that is not, nothing is left to be found by whoever comes after a kill.
    pub(super) fn close_changes(&mut self, call: &str) {
        if self.changes.open.remove(call)
            && self.changes.open.is_empty()
            && let Some(pulse) = &self.changes.pulse
        {
            pulse.stop();
        }
    }

    /// Sums up what the turn changed, and returns what its end says about it: for whoever runs it, and as members of the
    /// entry.
    pub(super) fn sum_up_files(&mut self) -> Result<(TurnFiles, Members), EngineError> {
        self.note_changes(None)?;
        let before = self.session.account()?;
        let diffs = self.net();
        let summary = Summary::of(&diffs);
        self.tell_trouble(&before);
        let ledger = self.changes.ledger.as_ref().filter(|_| self.changes.without.is_none());
        let taken = ledger.and_then(|ledger| ledger.last());
        let named: Vec<String> = diffs.iter().take(NAMED).map(|diff| diff.path.display().to_string()).collect();
        let session = self.in_all(&before, summary, &named)?;
        let GitStanding { git, unclear } = project::state(self.session.cwd());
        let mut members = vec![
            ("summary", json!(summary)),
            ("session", json!(session)),
            ("latest", json!(taken.map(|taken| taken.id).or(before.latest).map(|id| id.to_string()))),
            ("git", json!({"commit": git.commit, "dirty": git.dirty, "unclear": unclear})),
        ];
        if let Some(Newest { id, files, uncovered }) = taken {
            let kept = json!({"commit": id.to_string(), "label": self.label(), "files": files, "uncovered": uncovered});
            members.extend([("snapshot", kept), ("changed", json!(named))]);
        }
        if !diffs.is_empty() {
            members.push(("diff", diffs.iter().take(NAMED).map(to_json).collect()));
        }
        let without = self.changes.without.clone();
        // A turn that had nothing to keep says what the last one said that had.
        let has_tried = without.is_some() || self.changes.ledger.is_some();
        let noted = if has_tried { without.clone() } else { before.without };
        members.extend(noted.map(|reason| ("without_snapshots", Value::from(reason))));
        Ok((TurnFiles { snapshot: taken.map(|taken| short(taken.id)), summary, git, without }, members))
    }

    /// What the turn changed from its beginning to its end, in the files that it changed.
    fn net(&self) -> Vec<FileDiff> {
        let Changes { ledger, first, last, paths, .. } = &self.changes;
        let (Some(ledger), Some(first), Some(last)) = (ledger, first, last) else { return Vec::new() };
        let only: Vec<PathBuf> = paths.iter().cloned().collect();
        ledger.diff(*first, *last, &only).unwrap_or_default()
    }

    /// What all turns of the path changed: lines are added up, files counted once.
    fn in_all(&self, before: &Account, turn: Summary, named: &[String]) -> Result<Summary, EngineError> {
        let mut all = before.summary;
        if turn == Summary::default() {
            return Ok(all);
        }
        all.additions += turn.additions;
        all.deletions += turn.deletions;
        let mut new: BTreeSet<&str> = named.iter().map(String::as_str).collect();
        let unnamed = turn.files.saturating_sub(named.len() as u64);
        for note in self.session.path_notes(self.session.log().leaf()) {
            let (_, note) = note?;
            new.retain(|path| !note.changed.iter().any(|known| known == path));
        }
        all.files += new.len() as u64 + unnamed;
        Ok(all)
    }

    /// Says that there are no snapshots, unless the last turn said so too.
    fn tell_trouble(&mut self, before: &Account) {
        if let Some(ledger) = &self.changes.ledger {
            let (trouble, notices) = ledger.trouble();
            self.session.notices.extend(notices);
            self.changes.without = trouble;
        }
        if let Some(reason) = self.changes.without.as_ref().filter(|reason| before.without.as_ref() != Some(reason)) {
            self.session.notices.push(format!("this turn's changes of files cannot be taken back: {reason}"));
        }
    }

    /// What snapshots of this turn are called.
    fn label(&mut self) -> String {
        if let Some(label) = &self.changes.label {
            return label.clone();
        }
        let said = self.session.last_user_message().ok().flatten().map(|view| view.message.text()).unwrap_or_default();
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let label = format!("After: {}", words.chars().take(LABEL).collect::<String>());
        self.changes.label.insert(label).clone()
    }
}

/// What an entry says that calls changed.
fn describe(call: Option<&str>, steps: &[Step]) -> Value {
    let mut summary = Summary::default();
    let mut paths = BTreeSet::new();
    for step in steps {
        summary.additions += step.summary.additions;
        summary.deletions += step.summary.deletions;
        paths.extend(&step.paths);
    }
    summary.files = if let [one] = steps { one.summary.files } else { paths.len() as u64 };
    let pairs: Vec<Value> = steps.iter().map(|step| json!([step.before.to_string(), step.after.to_string()])).collect();
    let mut data = json!({"call": call, "steps": pairs, "summary": summary});
    let theirs = paths_to_json(steps.iter().flat_map(|step| step.theirs.iter().map(PathBuf::as_path)));
    if let Some(object) = data.as_object_mut().filter(|_| theirs.as_array().is_some_and(|theirs| !theirs.is_empty())) {
        object.insert("theirs".into(), theirs);
    }
    data
}

/// A file that differs, as programs are told.
fn to_json(diff: &FileDiff) -> Value {
    json!({
        "path": diff.path.to_string_lossy(), "status": diff.status.as_str(),
        "additions": diff.additions, "deletions": diff.deletions,
    })
}
