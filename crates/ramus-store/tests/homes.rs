//! One suite for every home: whatever keeps logs must keep these promises.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::sync::Arc;
use std::thread;

use ramus_model::SessionId;
use ramus_store::{
    Flush, JsonlStore, Layout, Location, LogStore, MemoryStore, NewLog, Placement, Position, StoreError,
};

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

/// A home and whatever must outlive it.
struct Home {
    name: &'static str,
    store: Arc<dyn LogStore>,
    _directory: Option<tempfile::TempDir>,
}

fn homes() -> Vec<Home> {
    let directory = tempfile::tempdir().unwrap();
    let jsonl = JsonlStore::new(directory.path().join("home"), Layout::Pi);
    vec![
        Home { name: "memory", store: Arc::new(MemoryStore::default()), _directory: None },
        Home { name: "jsonl", store: Arc::new(jsonl), _directory: Some(directory) },
    ]
}

fn append(store: &dyn LogStore, at: &Location, end: u64, bytes: &[u8]) -> Result<u64, StoreError> {
    let read = store.read(at, 0, &mut |_| ())?;
    Ok(store.writer(at)?.append(Position { end, ..read }, bytes, Flush::Now)?.end)
}

fn rewrite(
    store: &dyn LogStore,
    at: &Location,
    end: u64,
    bytes: &[u8],
    backup: Option<&str>,
) -> Result<(), StoreError> {
    let read = store.read(at, 0, &mut |_| ())?;
    store.rewrite(at, Position { end, ..read }, bytes, backup)
}

fn new(id: &str) -> NewLog<'_> {
    NewLog::draft(SessionId::from(id), "/proj", "2026-02-16T10:20:30.000Z")
}

fn content(store: &dyn LogStore, at: &Location) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = store.read(at, 0, &mut |chunk| bytes.extend_from_slice(chunk)).unwrap();
    assert_eq!(read.end, bytes.len() as u64);
    bytes
}

#[test]
fn what_is_appended_is_read() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        let end = append(store.as_ref(), &at, HEADER.len() as u64, b"one\n").unwrap();
        let end = append(store.as_ref(), &at, end, b"two\nthree\n").unwrap();
        assert_eq!(content(store.as_ref(), &at), [HEADER, b"one\ntwo\nthree\n"].concat(), "{name}");
        let mut tail = Vec::new();
        assert_eq!(store.read(&at, end - 6, &mut |chunk| tail.extend_from_slice(chunk)).unwrap().end, end);
        assert_eq!(tail, b"three\n");
        assert_eq!(store.read_at(&at, HEADER.len() as u64, 3).unwrap(), b"one");
        assert_eq!(store.read_at(&at, end - 2, 100).unwrap(), b"e\n");
        assert_eq!(store.read_at(&at, end + 5, 10).unwrap(), b"");
    }
}

#[test]
fn an_append_at_another_position_is_refused_and_changes_nothing() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        for expected in [0, HEADER.len() as u64 - 1, HEADER.len() as u64 + 1] {
            match append(store.as_ref(), &at, expected, b"x\n") {
                Err(StoreError::Moved { expected: asked, actual }) => {
                    assert_eq!((asked, actual), (expected, HEADER.len() as u64), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(content(store.as_ref(), &at), HEADER);
    }
}

#[test]
fn a_name_can_be_taken_once() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        assert!(matches!(store.create(&new("s1"), b"other\n"), Err(StoreError::Exists { .. })), "{name}");
        assert_eq!(content(store.as_ref(), &at), HEADER);
    }
}

#[test]
fn rewriting_replaces_everything_or_nothing() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        assert!(
            matches!(rewrite(store.as_ref(), &at, 3, b"no\n", Some(".bak")), Err(StoreError::Moved { .. })),
            "{name}"
        );
        assert_eq!(content(store.as_ref(), &at), HEADER);
        rewrite(store.as_ref(), &at, HEADER.len() as u64, b"new\n", Some(".bak")).unwrap();
        assert_eq!(content(store.as_ref(), &at), b"new\n", "{name}");
        let end = append(store.as_ref(), &at, 4, b"more\n").unwrap();
        rewrite(store.as_ref(), &at, end, b"newer\n", None).unwrap();
        assert_eq!(content(store.as_ref(), &at), b"newer\n", "{name}");
    }
}

#[test]
fn a_settled_log_keeps_its_content_and_its_id() {
    for Home { name, store, .. } in homes() {
        let draft = store.create(&new("s1"), HEADER).unwrap();
        let settled = store.settle(&draft, "/proj").unwrap();
        assert_eq!(settled.id, draft.id, "{name}");
        let end = append(store.as_ref(), &settled, HEADER.len() as u64, b"one\n").unwrap();
        let again = store.settle(&settled, "/elsewhere").unwrap();
        assert_eq!(content(store.as_ref(), &again).len() as u64, end);
        let listed = store.list().unwrap();
        assert_eq!(listed, std::slice::from_ref(&again), "{name}");
    }
}

#[test]
fn a_deleted_log_is_gone_and_a_dry_run_is_not() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        let would = store.delete(&at, true).unwrap();
        assert_eq!(content(store.as_ref(), &at), HEADER, "{name}");
        assert_eq!(store.delete(&at, false).unwrap(), would);
        assert_eq!(would.bytes, HEADER.len() as u64);
        assert!(matches!(store.delete(&at, false), Err(StoreError::NotFound { .. })), "{name}");
        assert!(matches!(append(store.as_ref(), &at, 0, b"x\n"), Err(StoreError::NotFound { .. })), "{name}");
        assert!(matches!(store.read(&at, 0, &mut |_| ()), Err(StoreError::NotFound { .. })), "{name}");
        assert_eq!(store.list().unwrap(), []);
    }
}

#[test]
fn a_log_is_found_by_its_id_wherever_it_went() {
    for Home { name, store, .. } in homes() {
        let id = SessionId::from("s1");
        assert_eq!(store.find(&id).unwrap(), None, "{name}");
        let draft = store.create(&new("s1"), HEADER).unwrap();
        store.create(&new("s10"), HEADER).unwrap();
        assert_eq!(store.find(&id).unwrap().as_ref(), Some(&draft), "{name}");
        let settled = store.settle(&draft, "/proj").unwrap();
        assert_eq!(store.find(&id).unwrap().as_ref(), Some(&settled), "{name}");
        let moved = store.settle(&settled, "/elsewhere").unwrap();
        for _ in 0..2 {
            assert_eq!(store.find(&id).unwrap().as_ref(), Some(&moved), "{name}");
        }
        store.delete(&moved, false).unwrap();
        assert_eq!(store.find(&id).unwrap(), None, "{name}");
        let again = store.create(&new("s1"), HEADER).unwrap();
        assert_eq!(store.find(&id).unwrap().as_ref(), Some(&again), "{name}");
        assert_eq!(store.find(&SessionId::from("../s1")).unwrap(), None, "{name}");
    }
}

#[test]
fn all_logs_are_listed() {
    for Home { name, store, .. } in homes() {
        assert_eq!(store.list().unwrap(), [], "{name}: an untouched home is empty");
        for id in ["s1", "s2", "s3"] {
            let placement = if id == "s2" { Placement::Published } else { Placement::Draft };
            store.create(&NewLog { placement, ..new(id) }, HEADER).unwrap();
        }
        let mut ids: Vec<String> = store.list().unwrap().iter().map(|at| at.id.to_string()).collect();
        ids.sort();
        assert_eq!(ids, ["s1", "s2", "s3"], "{name}");
    }
}

#[test]
fn writers_who_read_on_when_refused_lose_nothing() {
    const WRITERS: usize = 8;
    const EACH: usize = 50;
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (store, at) = (&store, &at);
                scope.spawn(move || {
                    for n in 0..EACH {
                        let line = format!("{writer}:{n}\n");
                        let mut end = HEADER.len() as u64;
                        while let Err(error) = append(store.as_ref(), at, end, line.as_bytes()) {
                            let StoreError::Moved { actual, .. } = error else { panic!("{error}") };
                            end = actual;
                        }
                    }
                });
            }
        });
        let text = String::from_utf8(content(store.as_ref(), &at)).unwrap();
        for writer in 0..WRITERS {
            let own: Vec<usize> =
                text.lines().filter_map(|line| line.strip_prefix(&format!("{writer}:"))?.parse().ok()).collect();
            assert_eq!(own, (0..EACH).collect::<Vec<_>>(), "{name}: writer {writer}");
        }
    }
}

#[test]
fn a_writer_that_read_another_incarnation_is_refused() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        let read = store.read(&at, 0, &mut |_| ()).unwrap();
        let mut writer = store.writer(&at).unwrap();
        store.rewrite(&at, read, &HEADER.to_ascii_uppercase(), None).unwrap();
        let refused = writer.append(read, b"x\n", Flush::Now);
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{name}: {refused:?}");
        let again = store.read(&at, 0, &mut |_| ()).unwrap();
        assert_eq!(again.end, read.end);
        writer.append(again, b"x\n", Flush::Now).unwrap();
        assert_eq!(content(store.as_ref(), &at), [&HEADER.to_ascii_uppercase()[..], b"x\n"].concat(), "{name}");
    }
}

#[test]
fn a_tail_can_be_cut() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        let end = append(store.as_ref(), &at, HEADER.len() as u64, b"{\"torn").unwrap();
        let read = store.read(&at, 0, &mut |_| ()).unwrap();
        let aside = store.writer(&at).unwrap().cut(read, HEADER.len() as u64).unwrap();
        assert_eq!((aside.offset, aside.len), (HEADER.len() as u64, end - HEADER.len() as u64), "{name}");
        assert_eq!(content(store.as_ref(), &at), HEADER, "{name}");
        if let Some(path) = aside.path {
            assert_eq!(std::fs::read(path).unwrap(), b"{\"torn");
        }
    }
}

#[test]
fn one_runner_at_a_time() {
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        assert_eq!(store.runner(&at).unwrap(), None, "{name}");
        let lease = store.lease(&at, 1234).unwrap();
        let Err(StoreError::Running { runner, .. }) = store.lease(&at, 5678) else { panic!("{name}") };
        assert_eq!((runner.pid, runner.since), (std::process::id(), 1234), "{name}");
        assert_eq!(store.runner(&at).unwrap(), Some(runner), "{name}");
        // Writing does not need the lease.
        append(store.as_ref(), &at, HEADER.len() as u64, b"x\n").unwrap();
        drop(lease);
        assert_eq!(store.runner(&at).unwrap(), None, "{name}");
        store.lease(&at, 1).unwrap();
    }
}

#[test]
fn bases_are_read_and_deleted_like_logs_and_never_listed() {
    for Home { name, store, .. } in homes() {
        let log = store.create(&new("s1"), HEADER).unwrap();
        assert_eq!(store.find_base(&log.id).unwrap(), None, "{name}");
        store.put_base(&log.id, b"old\n").unwrap();
        let base = store.put_base(&log.id, b"base\n").unwrap();
        assert_eq!((content(&*store, &base), content(&*store, &log)), (b"base\n".to_vec(), HEADER.to_vec()), "{name}");
        assert_eq!(store.read_at(&base, 2, 10).unwrap(), b"se\n");
        assert_eq!((store.list().unwrap(), store.bases().unwrap()), (vec![log.clone()], vec![base.clone()]));
        store.delete(&log, false).unwrap();
        assert_eq!(store.find_base(&log.id).unwrap(), Some(base.clone()), "{name}: the base stays");
        assert_eq!(store.delete(&base, false).unwrap().bytes, 5);
        assert_eq!((store.find_base(&log.id).unwrap(), store.bases().unwrap()), (None, Vec::new()), "{name}");
    }
}

#[test]
fn forks_are_made_together_and_origins_deleted_alone() {
    use ramus_store::Hold;
    for Home { name, store, .. } in homes() {
        let two = [Hold::Shared, Hold::Shared].map(|hold| store.hold_forks(hold).unwrap());
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let waiting = Arc::clone(&store);
            scope.spawn(move || sender.send(waiting.hold_forks(Hold::Exclusive).map(drop)));
            assert!(receiver.recv_timeout(std::time::Duration::from_millis(50)).is_err(), "{name}: it waits");
            drop(two);
            receiver.recv().unwrap().unwrap();
        });
    }
}

#[test]
fn breadcrumbs_are_found_and_swept() {
    use ramus_store::{Breadcrumb, Terminal};
    for Home { name, store, .. } in homes() {
        let at = store.create(&new("s1"), HEADER).unwrap();
        let other = store.create(&new("s2"), HEADER).unwrap();
        let [one, two] = ["pts/1", "../../two"].map(|name| Terminal::new(name).unwrap());
        let crumb = |at: &Location| Breadcrumb { cwd: "/proj".into(), session: at.id.clone(), path: at.path.clone() };
        assert_eq!(store.breadcrumb(&one).unwrap(), None, "{name}");
        store.leave_breadcrumb(&one, &crumb(&other)).unwrap();
        store.leave_breadcrumb(&one, &crumb(&at)).unwrap();
        store.leave_breadcrumb(&two, &crumb(&other)).unwrap();
        assert_eq!(store.breadcrumb(&one).unwrap(), Some(crumb(&at)), "{name}");
        store.sweep_breadcrumbs(&at, true).unwrap();
        assert!(store.breadcrumb(&one).unwrap().is_some(), "{name}: a dry run sweeps nothing");
        store.sweep_breadcrumbs(&at, false).unwrap();
        assert_eq!((store.breadcrumb(&one).unwrap(), store.breadcrumb(&two).unwrap()), (None, Some(crumb(&other))));
    }
}
