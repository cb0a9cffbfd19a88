//! What an import that was interrupted leaves is finished by whoever comes next, and never stands in anybody's way.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use ramus_model::SessionId;
use ramus_store::{Flush, JsonlStore, Layout, LeftoverKind, Location, LogStore, NewLog, Placement, Staging as _};

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

fn published(id: &str) -> NewLog<'_> {
    let new = NewLog::draft(SessionId::from(id), "/proj/x", "2026-02-16T10:20:30.000Z");
    NewLog { placement: Placement::Published, ..new }
}

fn append(store: &dyn LogStore, at: &Location, bytes: &[u8]) {
    let read = store.read(at, 0, &mut |_| ()).unwrap();
    store.writer(at).unwrap().append(read, bytes, Flush::Now).unwrap();
}

/// A stage whose import was killed right after everything was decided: for each log what is staged, and what it becomes.
fn decided(home: &Path, steps: &[(&Path, &str, &[u8], Option<u64>)]) {
    let stage = home.join("imports/killed");
    fs::create_dir_all(&stage).unwrap();
    let spelled = |path: &Path| hex::encode(path.strip_prefix(home).unwrap().as_os_str().as_bytes());
    let mut journal = String::from("ramus import 1\n");
    for (at, (target, id, bytes, replaces)) in steps.iter().enumerate() {
        let staged = stage.join(format!("{at}.jsonl"));
        fs::write(&staged, bytes).unwrap();
        let replaces = replaces.map_or("-".to_owned(), |len| len.to_string());
        let (staged, target, id) = (spelled(&staged), spelled(target), hex::encode(id));
        journal.push_str(&format!("{staged} {target} {id} published {replaces}\n"));
    }
    journal.push_str(&format!("end {}\n", steps.len()));
    fs::write(stage.join("journal"), journal).unwrap();
}

#[test]
fn what_no_longer_fits_is_set_aside_and_the_rest_appears() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let store = JsonlStore::new(home, Layout::Pi);
    let grown = store.create(&published("grown"), HEADER).unwrap();
    let made = store.create(&published("made"), HEADER).unwrap();
    let still = store.create(&published("still"), HEADER).unwrap();
    let paths = [&grown, &made, &still].map(|at| at.path.clone().unwrap());
    let [gone, fresh] =
        ["gone", "fresh"].map(|id| paths[0].with_file_name(format!("2026-02-16T10-20-30-000Z_{id}.jsonl")));
    let longer = [HEADER, b"theirs\n"].concat();
    let len = Some(HEADER.len() as u64);
    decided(
        home,
        &[
            (&paths[0], "grown", &longer, len),
            (&paths[1], "made", b"other\n", None),
            (&gone, "gone", &longer, len),
            (&paths[2], "still", &longer, len),
            (&fresh, "fresh", HEADER, None),
        ],
    );
    // Somebody went on with one of them before the next command.
    let mine = [HEADER, b"mine\n"].concat();
    fs::write(&paths[0], &mine).unwrap();
    assert_eq!(store.settle_staged().unwrap(), 2, "what fits appears");
    assert_eq!(fs::read(&paths[0]).unwrap(), mine, "what somebody wrote stays");
    assert_eq!(fs::read(&paths[1]).unwrap(), HEADER);
    assert!(!gone.exists(), "what was deleted stays deleted");
    assert_eq!((fs::read(&paths[2]).unwrap(), fs::read(&fresh).unwrap()), (longer.clone(), HEADER.to_vec()));
    let leftovers = store.leftovers(SystemTime::UNIX_EPOCH).unwrap();
    let mut kept: Vec<Vec<u8>> = leftovers
        .iter()
        .filter(|leftover| leftover.kind == LeftoverKind::Import)
        .map(|leftover| fs::read(&leftover.path).unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, [b"other\n".to_vec(), longer.clone(), longer], "nothing is lost, and doctor is told");
    assert_eq!(store.settle_staged().unwrap(), 0);
    assert!(!home.join("imports/killed").exists());
    append(&store, &grown, b"more\n");
    drop(store.stage().unwrap());
    // What was to become a session goes with it.
    let removed = store.delete(&grown, false).unwrap();
    assert!(removed.files.iter().any(|file| file.to_string_lossy().ends_with(".import")), "{removed:?}");
}
