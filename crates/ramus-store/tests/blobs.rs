//! Blobs, in every home; and what only files can go through.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use ramus_model::{Blob, BlobHash, SessionId};
use ramus_store::{
    BlobStore, Collected, Collection, Flush, JsonlStore, Layout, Location, LogStore, MemoryStore, NewLog, StoreError,
    Tally,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn jsonl() -> (tempfile::TempDir, JsonlStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path().join("home"), Layout::Pi);
    (directory, store)
}

fn blob(text: &str) -> Blob {
    Blob::new(text.as_bytes().to_vec())
}

fn blob_path(store: &JsonlStore, hash: BlobHash) -> PathBuf {
    store.root().join("blobs").join(hash.to_string())
}

fn log(store: &dyn LogStore, id: &str, line: &str) -> Location {
    let new = NewLog::draft(SessionId::from(id), "/proj", "2026-02-16T10:20:30.000Z");
    store.create(&new, format!("{{\"type\":\"session\",\"id\":\"{id}\"}}\n{line}\n").as_bytes()).unwrap()
}

fn reference(hash: BlobHash) -> String {
    format!("{{\"data\":\"blob:sha256:{hash}\"}}")
}

fn collect(store: &dyn BlobStore, later: Duration) -> Collected {
    store.collect(Collection { now: SystemTime::now() + later, dry_run: false }).unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_put_is_fetched_and_what_is_not_is_missing() {
    let (_directory, files) = jsonl();
    for store in [&files as &dyn BlobStore, &MemoryStore::default()] {
        for text in ["", "a", "\0\n", &"x".repeat(1 << 20)] {
            let blob = blob(text);
            assert_eq!(store.fetch(blob.hash()).unwrap(), None);
            for _ in 0..3 {
                store.put(&blob).unwrap();
                assert_eq!(store.fetch(blob.hash()).unwrap().as_deref(), Some(text.as_bytes()));
            }
        }
    }
}

#[test]
fn what_nothing_refers_to_is_collected() {
    let (_directory, files) = jsonl();
    let memory = MemoryStore::default();
    for (logs, blobs) in [(&files as &dyn LogStore, &files as &dyn BlobStore), (&memory, &memory)] {
        let (kept, dropped) = (blob("kept"), blob("dropped"));
        blobs.put(&kept).unwrap();
        blobs.put(&dropped).unwrap();
        log(logs, "s1", &reference(kept.hash()));
        let dry = blobs.collect(Collection { now: SystemTime::now() + 2 * DAY, dry_run: true }).unwrap();
        assert!(blobs.fetch(dropped.hash()).unwrap().is_some());
        assert_eq!(collect(blobs, 2 * DAY), dry);
        assert_eq!(dry.kept, Tally { count: 1, bytes: 4 });
        assert_eq!(dry.removed.count + dry.trashed.count, 1);
        assert!(blobs.fetch(kept.hash()).unwrap().is_some());
        assert_eq!(blobs.fetch(dropped.hash()).unwrap(), None);
    }
}

#[test]
fn nothing_is_collected_while_a_line_is_on_its_way() {
    let (_directory, files) = jsonl();
    let memory = MemoryStore::default();
    let held = memory.hold().unwrap();
    let busy = memory.collect(Collection { now: SystemTime::now(), dry_run: false });
    assert!(matches!(busy, Err(StoreError::Collecting { .. })));
    drop(held);
    collect(&memory, DAY);

    let hold = files.hold().unwrap();
    let also = files.hold().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let collector = thread::spawn({
        let (files, is_over) = (files.clone(), Arc::clone(&is_over));
        move || {
            collect(&files, DAY);
            assert!(is_over.load(Ordering::SeqCst), "collected under a hold");
        }
    });
    files.put(&blob("late")).unwrap();
    is_over.store(true, Ordering::SeqCst);
    drop((hold, also));
    collector.join().unwrap();
}

#[test]
fn every_file_that_may_hold_a_line_counts() {
    let (_directory, store) = jsonl();
    let home = store.root().to_owned();
    let places = [
        "drafts/a.jsonl.v1.bak",
        "sessions/--p--/a.jsonl",
        "sessions/--p--/a.jsonl.corrupt-0123456789abcdef",
        "sessions/loose.jsonl",
        "quarantine/s-00-1.bin",
        "bases/b.jsonl",
    ];
    let mut blobs = vec![blob("draft")];
    log(&store, "s1", &reference(blobs[0].hash()));
    for place in places {
        blobs.push(blob(place));
        let path = home.join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Damage does not make a reference less of one.
        std::fs::write(&path, format!("\0{{{}", reference(blob(place).hash()))).unwrap();
    }
    blobs.iter().for_each(|blob| store.put(blob).unwrap());
    let collected = collect(&store, 2 * DAY);
    assert_eq!((collected.kept.count, collected.trashed.count), (7, 0));
}

#[test]
fn a_file_that_cannot_be_read_stops_everything() {
    let (_directory, store) = jsonl();
    let orphan = blob("orphan");
    store.put(&orphan).unwrap();
    log(&store, "s1", "");
    std::os::unix::fs::symlink("/nowhere", store.root().join("drafts/link.jsonl")).unwrap();
    let refused = store.collect(Collection { now: SystemTime::now() + 2 * DAY, dry_run: false });
    match refused {
        Err(StoreError::Unmarked { path, .. }) => assert!(path.ends_with("drafts/link.jsonl")),
        other => panic!("{other:?}"),
    }
    assert!(store.fetch(orphan.hash()).unwrap().is_some());
}

#[test]
fn the_trash_gives_back_and_is_emptied() {
    let (_directory, store) = jsonl();
    let (back, gone) = (blob("back"), blob("gone"));
    store.put(&back).unwrap();
    store.put(&gone).unwrap();
    assert_eq!(collect(&store, DAY / 2), Collected { kept: Tally { count: 2, bytes: 8 }, ..Collected::default() });
    let two = Tally { count: 2, bytes: 8 };
    assert_eq!(collect(&store, 2 * DAY), Collected { trashed: two, ..Collected::default() });
    assert_eq!(files(&store.root().join("blobs")), [".trash"]);
    // Two weeks count from the end of the day.
    assert_eq!(collect(&store, 15 * DAY), Collected::default());
    log(&store, "s1", &reference(back.hash()));
    let last = collect(&store, 18 * DAY);
    let one = Tally { count: 1, bytes: 4 };
    assert_eq!(last, Collected { removed: one, restored: one, kept: one, ..Collected::default() });
    assert_eq!(store.fetch(back.hash()).unwrap().as_deref(), Some(b"back".as_slice()));
    assert_eq!(files(&store.root().join("blobs/.trash")), Vec::<String>::new());
}

#[test]
fn putting_a_blob_again_keeps_it() {
    let (_directory, store) = jsonl();
    let blob = blob("again");
    store.put(&blob).unwrap();
    let path = blob_path(&store, blob.hash());
    let long_ago = SystemTime::now() - 3 * DAY;
    std::fs::File::open(&path).unwrap().set_modified(long_ago).unwrap();
    store.put(&blob).unwrap();
    assert!(std::fs::metadata(&path).unwrap().modified().unwrap() > long_ago + 2 * DAY);
    assert_eq!(collect(&store, DAY / 2).kept.count, 1);
}

#[test]
fn leftovers_go_when_they_are_old_and_nothing_else_does() {
    let (_directory, store) = jsonl();
    let at = log(&store, "s1", "");
    store.put(&blob("x")).unwrap();
    let unfinished = ".new-0123456789abcdef0123456789abcdef";
    let home = store.root().to_owned();
    let beside = format!("{}{unfinished}", at.path.unwrap().display());
    for path in [home.join("drafts").join(unfinished), home.join("blobs").join(unfinished), beside.into()] {
        std::fs::write(path, "half").unwrap();
    }
    std::fs::write(home.join("drafts/.new-mine"), "mine").unwrap();
    assert_eq!(collect(&store, DAY / 2).leftovers.count, 0);
    assert_eq!(collect(&store, 2 * DAY).leftovers, Tally { count: 3, bytes: 12 });
    assert_eq!(files(&home.join("drafts")).len(), 2);
}

#[test]
fn a_blob_that_is_not_what_its_name_says_is_set_aside_and_can_be_put_again() {
    for wrong in ["wrong", "wrong size", ""] {
        let (_directory, store) = jsonl();
        let blob = blob("right");
        store.put(&blob).unwrap();
        let path = blob_path(&store, blob.hash());
        std::fs::write(&path, wrong).unwrap();
        assert_eq!(store.fetch(blob.hash()).unwrap(), None, "{wrong}");
        assert!(!path.exists());
        let aside = files(&store.root().join("quarantine"));
        assert!(aside.len() == 1 && aside[0].contains(&blob.hash().to_string()), "{aside:?}");
        let kept = store.root().join("quarantine").join(&aside[0]);
        assert_eq!(std::fs::read_to_string(kept).unwrap(), wrong);
        assert_eq!(store.fetch(blob.hash()).unwrap(), None);
        store.put(&blob).unwrap();
        assert_eq!(store.fetch(blob.hash()).unwrap().as_deref(), Some(b"right".as_slice()));
        // Another process does not know that it was right once.
        std::fs::write(&path, wrong).unwrap();
        JsonlStore::new(store.root(), Layout::Pi).put(&blob).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"right");
    }
}

#[test]
fn flipped_bits_are_never_served() {
    let (_directory, store) = jsonl();
    for at in 0..1000_usize {
        let content: Vec<u8> = (0..64).map(|byte| (at + byte * 7) as u8).chain(at.to_le_bytes()).collect();
        let blob = Blob::new(content);
        let path = blob_path(&store, blob.hash());
        if at == 0 {
            store.put(&blob).unwrap();
        }
        let mut damaged = blob.bytes().to_vec();
        damaged[at % 72] ^= 1 << (at % 8);
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(store.fetch(blob.hash()).unwrap(), None);
    }
}

#[test]
fn a_blob_is_private_and_never_written_to_again() {
    use std::os::unix::fs::MetadataExt as _;
    let (_directory, store) = jsonl();
    let blob = blob("once");
    store.put(&blob).unwrap();
    let first = std::fs::metadata(blob_path(&store, blob.hash())).unwrap();
    store.put(&blob).unwrap();
    let again = std::fs::metadata(blob_path(&store, blob.hash())).unwrap();
    assert_eq!((first.ino(), first.mode() & 0o777), (again.ino(), 0o600));
}

#[test]
fn writers_of_the_same_blobs_never_show_half_of_one() {
    let (_directory, store) = jsonl();
    let blobs: Vec<Blob> = (0..1000).map(|at| Blob::new(format!("{at} ").repeat(200).into_bytes())).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                // A store of its own is what another process has.
                let store = JsonlStore::new(store.root(), Layout::Pi);
                let blobs = &blobs;
                scope.spawn(move || {
                    for at in 0..blobs.len() {
                        let at = if writer == 0 { at } else { (at * 7) % blobs.len() };
                        store.put(&blobs[at]).unwrap();
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::SeqCst) {
                for blob in &blobs {
                    // Whatever is under the name is whole: nothing is ever set aside.
                    match std::fs::read(blob_path(&store, blob.hash())) {
                        Ok(bytes) => {
                            assert_eq!(BlobHash::of(&bytes), blob.hash());
                            seen += 1;
                        }
                        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
                    }
                }
            }
            seen
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::SeqCst);
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(files(&store.root().join("blobs")).len(), blobs.len());
    assert!(!store.root().join("quarantine").exists());
}

#[test]
fn collecting_beside_writers_loses_nothing() {
    let (_directory, store) = jsonl();
    let (progress, appended) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        for writer in 0..3 {
            let store = JsonlStore::new(store.root(), Layout::Pi);
            let progress = progress.clone();
            scope.spawn(move || {
                let at = log(&store, &format!("s{writer}"), "");
                let mut position = store.read(&at, 0, &mut |_| ()).unwrap();
                let mut file = store.writer(&at).unwrap();
                for number in 0..60 {
                    // The same blobs are put in every session, so that many are referred to again and again.
                    let blob = blob(&format!("blob {}", number % 20));
                    let _hold = store.hold().unwrap();
                    store.put(&blob).unwrap();
                    let line = format!("{}\n", reference(blob.hash()));
                    position = file.append(position, line.as_bytes(), Flush::Later).unwrap();
                    progress.send(()).unwrap();
                }
            });
        }
        drop(progress);
        let mut runs = 0;
        // One collection for every step that writers made meanwhile, until they are done.
        while appended.recv().is_ok() {
            while appended.try_recv().is_ok() {}
            // A clock that is days ahead takes every blob for old.
            collect(&store, 3 * DAY);
            runs += 1;
        }
        assert!(runs > 1);
    });
    assert_eq!(collect(&store, 3 * DAY).kept.count, 20);
    for number in 0..20 {
        assert!(store.fetch(blob(&format!("blob {number}")).hash()).unwrap().is_some(), "{number}");
    }
}

#[cfg(feature = "planted")]
#[test]
fn a_collection_that_ignores_drafts_is_noticed() {
    use ramus_store::planted::{Bug, plant};
    let (_directory, store) = jsonl();
    let blob = blob("draft");
    store.put(&blob).unwrap();
    log(&store, "s1", &reference(blob.hash()));
    plant(Some(Bug::CollectIgnoresDrafts));
    assert_eq!(collect(&store, 2 * DAY).trashed.count, 1);
    plant(None);
    assert_eq!(collect(&store, 2 * DAY).restored.count, 1);
}
