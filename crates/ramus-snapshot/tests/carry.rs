//! Snapshots go from one vault to another, and nothing that is no snapshot comes along.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use ramus_snapshot::{About, Carried, Carrier, Restore, SnapshotError, SnapshotId, Snapshots, Vault};
use tempfile::TempDir;

struct Origin {
    directory: TempDir,
    taken: Vec<SnapshotId>,
}

/// A directory with two snapshots.
fn origin() -> Origin {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    fs::create_dir_all(tree.join("deep/er")).unwrap();
    for (path, text) in [("one", "1"), ("deep/two", "2"), ("deep/er/three", "3"), ("deep/er/same", "1")] {
        fs::write(tree.join(path), text).unwrap();
    }
    let mut snapshots = Snapshots::open(&directory.path().join("store"), &tree, &[]).unwrap();
    let first = snapshots.take(&About { label: "first".into(), parents: Vec::new() }).unwrap().id;
    fs::write(tree.join("deep/two"), "two").unwrap();
    let second = snapshots.take(&About { label: "second".into(), parents: vec![first] }).unwrap().id;
    Origin { directory, taken: vec![first, second] }
}

impl Origin {
    fn carried(&self) -> Vec<Carried> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        let vault = Vault::open(&self.directory.path().join("store")).unwrap();
        let take = &mut |object| -> Result<(), SnapshotError> {
            all.push(object);
            Ok(())
        };
        vault.carry_out(&self.taken, &mut known, take).unwrap();
        assert_eq!(known.len(), all.len());
        all
    }
}

fn take_all(store: &Path, tree: &Path, objects: &[Carried]) -> Result<usize, SnapshotError> {
    let mut carrier = Carrier::open(store, tree)?;
    objects.iter().try_for_each(|object| carrier.take(object))?;
    carrier.finish()
}

#[test]
fn what_was_carried_is_there_and_can_be_put_back() {
    let origin = origin();
    let objects = origin.carried();
    // Four contents, one of them shared, three directories twice but for what did not change, two snapshots.
    assert_eq!(objects.iter().filter(|object| object.kind == "blob").count(), 4);
    let there = tempfile::tempdir().unwrap();
    let (store, tree) = (there.path().join("store"), there.path().join("tree"));
    assert_eq!(take_all(&store, &tree, &objects).unwrap(), 2, "the directory need not be there");
    fs::create_dir(&tree).unwrap();
    let mut snapshots = Snapshots::open(&store, &tree, &[]).unwrap();
    let empty = snapshots.take(&About::default()).unwrap().id;
    let all: Vec<SnapshotId> = snapshots.vault().snapshots().unwrap().iter().map(|one| one.id).collect();
    assert!(origin.taken.iter().all(|id| all.contains(id)));
    let target = origin.taken[0];
    let plan = snapshots.plan(&Restore { target, baseline: empty, current: empty, only: &[] }).unwrap();
    assert_eq!(snapshots.restore(&plan, false).unwrap().done.len(), 4);
    assert_eq!(fs::read_to_string(tree.join("deep/two")).unwrap(), "2");
    // Once more changes nothing.
    let before = snapshots.usage().unwrap();
    drop(snapshots);
    assert_eq!(take_all(&store, &tree, &objects).unwrap(), 2);
    assert_eq!(Vault::open(&store).unwrap().usage().unwrap().packs, before.packs);
}

/// A directory as git spells it.
fn directory(entries: &[(&str, &str, &Carried)]) -> Carried {
    let mut bytes = Vec::new();
    for (mode, name, object) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        bytes.extend(hex::decode(&object.name).unwrap());
    }
    named("tree", bytes)
}

fn named(kind: &str, bytes: Vec<u8>) -> Carried {
    let kinds = [gix_object::Kind::Blob, gix_object::Kind::Tree, gix_object::Kind::Commit];
    let of = kinds.into_iter().find(|one| one.to_string() == kind).unwrap();
    let name = gix_object::compute_hash(gix_hash::Kind::Sha1, of, &bytes).unwrap().to_string();
    Carried { name, kind: kind.to_owned(), bytes }
}

#[test]
fn what_no_snapshot_could_hold_is_refused() {
    let there = tempfile::tempdir().unwrap();
    let refused = |objects: &[Carried]| {
        let store = there.path().join("store");
        match take_all(&store, &there.path().join("tree"), objects) {
            Err(SnapshotError::Unsound { .. }) => assert_eq!(Vault::open(&store).unwrap().snapshots().unwrap(), []),
            other => panic!("{objects:?}: {other:?}"),
        }
    };
    let blob = named("blob", b"text".to_vec());
    for name in ["..", ".", "", "a/b", ".git", ".GIT", "git~1", ".git. "] {
        refused(&[blob.clone(), directory(&[("100644", name, &blob)])]);
    }
    let inner = directory(&[("100644", "a", &blob)]);
    refused(&[blob.clone(), inner.clone(), directory(&[("100644", "b", &blob), ("100644", "a", &blob)])]);
    refused(&[blob.clone(), inner.clone(), directory(&[("100644", "a", &blob), ("100644", "a", &blob)])]);
    refused(&[blob.clone(), inner.clone(), directory(&[("40000", "a", &blob)])]);
    refused(&[blob.clone(), inner.clone(), directory(&[("100644", "a", &inner)])]);
    refused(&[blob.clone(), directory(&[("160000", "a", &blob)])]);
    refused(std::slice::from_ref(&inner));
    refused(&[named("tree", b"nonsense".to_vec())]);
    refused(&[Carried { kind: "tag".to_owned(), ..blob.clone() }]);
    refused(&[Carried { bytes: b"other".to_vec(), ..blob.clone() }]);
    refused(&[named("commit", format!("tree {}\nauthor a\n\nx\n", inner.name).into_bytes())]);
    refused(&[named("commit", b"parent 0\n\n".to_vec())]);
    let of_content = named("commit", format!("tree {}\n\n", blob.name).into_bytes());
    refused(&[blob, inner, of_content]);
}
