//! What is stored, and that recording waits for nothing.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use ramus_catalogue::{CatalogueError, History, HistoryQuery, Prompt};

use crate::{LONG, connect, found, prompt, record};

#[test]
fn prompts_are_kept_as_typed_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let history = History::at(home.path());
    let typed = [
        Prompt { text: "  first\n\tline\0 two 🦀 ".into(), created: -5, cwd: "/a".into() },
        Prompt { text: "second".into(), created: i64::MAX, cwd: "/b".into() },
    ];
    typed.iter().for_each(|prompt| history.record(prompt.clone()));
    history.close(LONG).unwrap();
    let all = HistoryQuery { text: String::new(), cwd: None, limit: 10 };
    let [first, second] = typed;
    assert_eq!(history.search(&all).unwrap(), [second.clone(), first.clone()]);
    assert_eq!(history.search(&HistoryQuery { limit: 1, ..all.clone() }).unwrap(), [second]);
    assert_eq!(history.search(&HistoryQuery { cwd: Some("/a".into()), ..all }).unwrap(), [first]);
    assert_eq!(history.take_notices(), Vec::<String>::new());
}

#[test]
fn blank_prompts_and_consecutive_duplicates_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["a", "a", "", " \n\t", "a", "b", "a"]);
    // A later process knows the newest one too.
    record(home.path(), &["a", "b", "b"]);
    assert_eq!(found(home.path(), ""), ["b", "a", "b", "a"]);
}

#[test]
fn asking_makes_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(found(home.path(), "x"), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_locked_database_delays_nobody_and_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["before"]);
    let other = connect(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let history = History::at(home.path());
    let start = Instant::now();
    (0..500).for_each(|number| history.record(prompt(&format!("meanwhile {number}"))));
    let took = start.elapsed();
    assert!(took < Duration::from_millis(100), "recording waited {took:?}");
    let start = Instant::now();
    let unstored = history.close(Duration::from_millis(300)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(3), "closing waited {:?}", start.elapsed());
    assert_eq!((unstored.count, unstored.refused), (500, 0));
    assert!(matches!(unstored.cause, Some(CatalogueError::Busy { .. })), "{unstored:?}");
    assert_eq!(unstored.to_string(), "500 prompts are not in the history");
    // Whoever waits for the lock gets everything stored.
    let history = History::at(home.path());
    history.record(prompt("patient"));
    let release = std::thread::spawn(move || {
        let (_keep, wait) = std::sync::mpsc::channel::<()>();
        let _ = wait.recv_timeout(Duration::from_millis(300));
        other.execute_batch("ROLLBACK").unwrap();
    });
    history.close(LONG).unwrap();
    release.join().unwrap();
    assert_eq!(found(home.path(), ""), ["patient", "before"]);
}

#[test]
fn questions_wait_for_whoever_writes() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["before"]);
    let other = connect(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = std::thread::spawn(move || {
        let (_keep, wait) = std::sync::mpsc::channel::<()>();
        let _ = wait.recv_timeout(Duration::from_millis(600));
        other.execute_batch("ROLLBACK").unwrap();
    });
    let known = prompt("before");
    assert_eq!(History::at(home.path()).forget(&[(known.text, known.cwd)]).unwrap(), 1);
    release.join().unwrap();
    assert_eq!(found(home.path(), ""), Vec::<String>::new());
}

#[test]
fn what_finds_no_place_in_the_queue_is_told() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["before"]);
    let other = connect(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let history = History::at(home.path());
    (0..5000).for_each(|number| history.record(prompt(&format!("flood {number}"))));
    other.execute_batch("ROLLBACK").unwrap();
    let unstored = history.close(LONG).unwrap_err();
    assert!(unstored.refused > 0 && unstored.count == unstored.refused, "{unstored:?}");
    assert_eq!(found(home.path(), "flood").len(), 5000 - unstored.refused);
}

#[test]
fn a_home_that_is_gone_is_told() {
    let home = tempfile::tempdir().unwrap();
    let history = History::at(&home.path().join("nowhere"));
    history.record(prompt("lost"));
    let unstored = history.close(Duration::from_millis(50)).unwrap_err();
    assert_eq!(unstored.count, 1);
    assert!(matches!(unstored.cause, Some(CatalogueError::Io { .. })), "{unstored:?}");
}

#[test]
fn files_are_private_and_links_are_refused() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["secret"]);
    let mode = |name: &str| home.path().join(name).metadata().unwrap().mode() & 0o777;
    for name in ["history.db", "history.db-wal", "history.lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    let database = home.path().join("history.db");
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(found(home.path(), "secret"), ["secret"]);
    assert_eq!(mode("history.db"), 0o600, "closed again");

    let trap = tempfile::tempdir().unwrap();
    symlink(&database, trap.path().join("history.db")).unwrap();
    let history = History::at(trap.path());
    let everything = HistoryQuery { text: String::new(), cwd: None, limit: 1 };
    assert!(matches!(history.search(&everything), Err(CatalogueError::Unsafe { .. })));
    history.record(prompt("through a link"));
    assert!(history.close(Duration::from_millis(50)).is_err());
    assert_eq!(found(home.path(), ""), ["secret"]);
}

#[test]
fn prompts_are_forgotten_by_text_and_directory_without_a_trace() {
    let home = tempfile::tempdir().unwrap();
    let history = History::at(home.path());
    history.record(prompt("the password is swordfish"));
    history.record(prompt("keep"));
    history.record(Prompt { cwd: "/other".into(), ..prompt("the password is swordfish") });
    history.close(LONG).unwrap();
    let which = [("the password is swordfish".to_owned(), "/work".to_owned())];
    assert_eq!(history.count(&which).unwrap(), 1);
    assert_eq!(history.forget(&which).unwrap(), 1);
    assert_eq!(history.count(&which).unwrap(), 0);
    assert_eq!(found(home.path(), ""), ["the password is swordfish", "keep"]);
    let rest = [("the password is swordfish".to_owned(), "/other".to_owned())];
    assert_eq!(history.forget(&rest).unwrap(), 1);
    assert_eq!(found(home.path(), "swordfish"), Vec::<String>::new());
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"swordfish"), "{}", path.display());
    }
}

#[test]
fn a_database_of_a_later_version_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["old"]);
    connect(home.path()).pragma_update(None, "user_version", 99).unwrap();
    let history = History::at(home.path());
    history.record(prompt("new"));
    let unstored = history.close(Duration::from_millis(50)).unwrap_err();
    assert!(matches!(unstored.cause, Some(CatalogueError::Newer { .. })), "{unstored:?}");
    connect(home.path()).pragma_update(None, "user_version", 1).unwrap();
    assert_eq!(found(home.path(), ""), ["old"]);
}
