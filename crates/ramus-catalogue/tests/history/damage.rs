//! A damaged history is set aside, told, and goes on with what could be read of it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use ramus_catalogue::{History, HistoryQuery};

use crate::{LONG, connect, found, prompt, record};

/// A history of many pages, wholly in its main file.
fn filled(home: &Path) -> Vec<String> {
    let texts: Vec<String> = (0..1000).map(|number| format!("prompt {number} {}", "x".repeat(200))).collect();
    record(home, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    connect(home).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    texts
}

fn set_aside(home: &Path) -> Vec<String> {
    let names = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(".corrupt-")).collect();
    names.sort();
    names
}

/// Records one more prompt after the damage, and returns what was told.
fn record_after(home: &Path) -> Vec<String> {
    let history = History::at(home);
    history.record(prompt("afterwards"));
    history.close(LONG).unwrap();
    history.take_notices()
}

#[test]
fn whatever_happens_to_the_file_the_bytes_are_kept_and_recording_goes_on() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("zeroed", |path| fs::write(path, vec![0; fs::metadata(path).unwrap().len() as usize]).unwrap()),
        ("garbage", |path| {
            fs::write(path, "this is no database at all, and it is long enough to see it".repeat(50)).unwrap();
        }),
        ("cut", |path| OpenOptions::new().write(true).open(path).unwrap().set_len(40_000).unwrap()),
        ("one byte", |path| fs::write(path, "x").unwrap()),
        ("first page", |path| {
            OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0xff; 4096], 0).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let home = tempfile::tempdir().unwrap();
        filled(home.path());
        let database = home.path().join("history.db");
        damage(&database);
        let damaged = fs::read(&database).unwrap();
        let notices = record_after(home.path());
        assert!(notices.len() == 1 && notices[0].contains("history.db.corrupt-1"), "{name}: {notices:?}");
        assert_eq!(fs::read(home.path().join("history.db.corrupt-1")).unwrap(), damaged, "{name}");
        assert_eq!(found(home.path(), "afterwards"), ["afterwards"], "{name}");
        assert_eq!(record_after(home.path()), Vec::<String>::new(), "{name}: told once");
    }
}

#[test]
fn asking_notices_damage_too() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    fs::write(home.path().join("history.db"), "gone").unwrap();
    let history = History::at(home.path());
    let everything = HistoryQuery { text: String::new(), cwd: None, limit: 10 };
    assert_eq!(history.search(&everything).unwrap(), []);
    assert_eq!(history.take_notices().len(), 1);
    assert!(set_aside(home.path()).contains(&"history.db.corrupt-1".to_owned()));
}

#[test]
fn prompts_before_and_behind_a_damaged_page_are_taken_over() {
    let home = tempfile::tempdir().unwrap();
    let texts = filled(home.path());
    let path = home.path().join("history.db");
    let bytes = fs::read(&path).unwrap();
    // The page with the prompt in the middle.
    let at = bytes.windows(11).position(|window| window == b"prompt 500 ").unwrap() as u64 / 4096 * 4096;
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[0xee; 4096], at).unwrap();
    let history = History::at(home.path());
    let query = HistoryQuery { text: "prompt".into(), cwd: None, limit: usize::MAX };
    let mut left: Vec<String> = history.search(&query).unwrap().into_iter().map(|prompt| prompt.text).collect();
    left.reverse();
    let notices = history.take_notices();
    assert!(notices.len() == 1 && notices[0].contains(&format!("{} prompts", left.len())), "{notices:?}");
    assert!(left.len() > 900 && left.len() < 1000, "{}", left.len());
    let expected: Vec<&String> = texts.iter().filter(|text| left.contains(text)).collect();
    assert_eq!(left.iter().collect::<Vec<_>>(), expected, "in their order");
    assert!(left.contains(&texts[0]) && left.contains(&texts[999]));
}

#[test]
fn a_damaged_index_is_made_again() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["needle in a haystack", "hay"]);
    connect(home.path()).execute_batch("UPDATE history_fts_data SET block = x'ffffffff' WHERE id > 10").unwrap();
    let history = History::at(home.path());
    let query = HistoryQuery { text: "needle".into(), cwd: None, limit: 10 };
    assert_eq!(history.search(&query).unwrap().len(), 1);
    let notices = history.take_notices();
    assert!(notices.len() == 1 && notices[0].contains("made again"), "{notices:?}");
    assert_eq!(set_aside(home.path()), Vec::<String>::new());
}

#[test]
fn an_emptied_file_is_not_taken_for_a_new_one() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["in the write-ahead log"]);
    OpenOptions::new().write(true).open(home.path().join("history.db")).unwrap().set_len(0).unwrap();
    assert_eq!(record_after(home.path()).len(), 1);
    assert!(set_aside(home.path()).contains(&"history.db.corrupt-1-wal".to_owned()));
}

#[test]
fn a_writer_follows_when_the_file_is_set_aside_or_removed() {
    let home = tempfile::tempdir().unwrap();
    let history = History::at(home.path());
    history.record(prompt("one"));
    let path = home.path().join("history.db");
    let deadline = std::time::Instant::now() + LONG;
    while found(home.path(), "one").is_empty() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{suffix}", path.display())).unwrap();
    }
    history.record(prompt("two"));
    history.close(LONG).unwrap();
    assert_eq!(found(home.path(), ""), ["two"]);
}
