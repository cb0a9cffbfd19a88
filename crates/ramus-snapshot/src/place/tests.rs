//! Restores on file systems that cannot exchange names, killed between any two calls, with a person at work.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::moves::seam::{Seam, within};
use crate::store::{About, SnapshotId, Snapshots};
use crate::{Plan, Restore, SnapshotError};

struct World {
    folder: tempfile::TempDir,
    snapshots: Snapshots,
    plan: Plan,
}

/// What a file holds before and after; none where it is not there.
type Change = (Option<&'static str>, Option<&'static str>);

/// Every kind of change that a step makes.
const CHANGES: [Change; 3] = [(Some("old"), Some("new")), (None, Some("new")), (Some("old"), None)];

impl World {
    /// A directory in which one file shall become another, or come, or go.
    fn new((old, new): Change) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        let mut snapshots = Snapshots::open(&folder.path().join("store"), &root, &[]).unwrap();
        let mut take = |text: Option<&str>| -> SnapshotId {
            match text {
                Some(text) => fs::write(root.join("f"), text).unwrap(),
                None => drop(fs::remove_file(root.join("f"))),
            }
            snapshots.take(&About::default()).unwrap().id
        };
        let (target, current) = (take(new), take(old));
        let plan = snapshots.plan(&Restore { target, baseline: current, current, only: &[] }).unwrap();
        Self { folder, snapshots, plan }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn restore(&mut self) -> Result<Vec<PathBuf>, SnapshotError> {
        let plan = self.plan.clone();
        Ok(self.snapshots.restore(&plan, false)?.kept)
    }

    fn files(&self) -> BTreeMap<String, String> {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let all = fs::read_dir(self.root()).unwrap().map(|entry| entry.unwrap().path());
        all.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
    }
}

fn files(text: Option<&str>) -> BTreeMap<String, String> {
    text.map(|text| ("f".to_owned(), text.to_owned())).into_iter().collect()
}

/// A file system that lacks something, and lives so long.
fn seam(has_links: bool, life: usize) -> Seam {
    Seam { has_flags: false, has_links, life, person: Box::new(|_| ()) }
}

#[test]
fn a_file_system_that_cannot_exchange_names_is_restored_to_all_the_same() {
    for (change, has_links) in CHANGES.into_iter().flat_map(|change| [(change, true), (change, false)]) {
        let mut world = World::new(change);
        let (kept, _) = within(seam(has_links, usize::MAX), || world.restore());
        assert_eq!((kept.unwrap(), world.files()), (Vec::new(), files(change.1)), "{change:?}");
        assert!(world.snapshots.recover().unwrap().is_none(), "nothing is left to be ended");
        world.snapshots.take(&About::default()).unwrap();
    }
}

#[test]
fn a_kill_between_any_two_calls_is_made_good_there() {
    for (change, has_links) in CHANGES.into_iter().flat_map(|change| [(change, true), (change, false)]) {
        for life in 0.. {
            let mut world = World::new(change);
            let (done, _) = within(seam(has_links, life), || world.restore());
            let is_killed = done.is_err();
            // Nothing that was there is lost at any moment.
            let is_held = |text: Option<&str>| text.is_none_or(|text| world.files().values().any(|held| held == text));
            assert!(is_held(change.0) || is_held(change.1), "{change:?} {life}: {:?}", world.files());
            let (ended, _) = within(seam(has_links, usize::MAX), || world.snapshots.recover());
            assert_eq!((ended.unwrap().is_some(), world.files()), (is_killed, files(change.1)), "{change:?} {life}");
            if !is_killed {
                break;
            }
        }
    }
}

#[test]
fn what_a_person_wrote_between_the_kill_and_the_end_stays() {
    for change in CHANGES {
        for life in 0.. {
            let mut world = World::new(change);
            let (done, _) = within(seam(true, life), || world.restore());
            if done.is_ok() {
                break;
            }
            fs::write(world.root().join("edited"), "mine").unwrap();
            fs::rename(world.root().join("edited"), world.root().join("f")).unwrap();
            let (ended, _) = within(seam(true, usize::MAX), || world.snapshots.recover());
            ended.unwrap();
            assert_eq!(world.files(), files(Some("mine")), "{change:?} {life}");
        }
    }
}

#[test]
fn what_a_person_writes_between_any_two_calls_is_never_lost() {
    for change in CHANGES {
        for moment in 0.. {
            let mut world = World::new(change);
            let root = world.root();
            let person = Box::new(move |call| {
                if call == moment {
                    fs::write(root.join("edited"), "mine").unwrap();
                    fs::rename(root.join("edited"), root.join("f")).unwrap();
                }
            });
            let (done, calls) = within(Seam { person, ..seam(true, usize::MAX) }, || world.restore());
            done.unwrap();
            if calls <= moment {
                break;
            }
            let found = world.files();
            assert!(found.values().any(|text| text == "mine"), "{change:?} {moment}: {found:?}");
            assert!(found.keys().all(|name| name.starts_with('f')), "{change:?} {moment}: {found:?}");
        }
    }
}

#[test]
fn no_trouble_that_lasts_keeps_a_journal_for_ever() {
    for change in CHANGES {
        let mut world = World::new(change);
        // Nothing can be moved at all.
        let (first, _) = within(seam(true, 0), || world.restore());
        assert!(first.is_err(), "it is told once");
        let (ended, _) = within(seam(true, 0), || world.snapshots.recover());
        assert_eq!(ended.unwrap().unwrap().kept, [PathBuf::from("f")]);
        assert_eq!(world.files(), files(change.0));
        world.snapshots.take(&About::default()).unwrap();
        assert!(world.snapshots.recover().unwrap().is_none());
    }
}
