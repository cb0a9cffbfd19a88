//! A catalogue on disk: what was written is there again, and a main file that is not as it was left is not believed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::path::Path;

use ramus_catalogue::{Catalogue, Change, Filter, Row, digest};

fn row(number: usize) -> Row {
    let name = format!("sessions/{number}.jsonl");
    Row { name, id: format!("s{number}"), updated_millis: number as i64, usage: "{}".into(), ..Row::default() }
}

fn titles(catalogue: &mut Catalogue) -> Vec<String> {
    let held = catalogue.enter().unwrap();
    let found = held.list(&Filter::default()).unwrap();
    assert!(held.leave().unwrap());
    found.rows.into_iter().map(|row| row.id).collect()
}

/// What these rows come to.
fn sum(numbers: impl Iterator<Item = usize>) -> i64 {
    numbers.map(row).map(|row| digest(&row.name, &row.stamp)).fold(0, u64::wrapping_add).cast_signed()
}

/// A catalogue of two rows, one of them only in the write-ahead log.
fn filled(home: &Path) -> Catalogue {
    let mut catalogue = Catalogue::open(home, "1").unwrap();
    for number in [1, 2] {
        catalogue.enter().unwrap().apply(&[Change::put(row(number))], &[(0, Some(sum(1..=number)))]).unwrap();
    }
    assert_eq!(titles(&mut catalogue), ["s2", "s1"]);
    catalogue
}

#[test]
fn what_was_written_is_there_again() {
    let home = tempfile::tempdir().unwrap();
    drop(filled(home.path()));
    let mut again = Catalogue::open(home.path(), "1").unwrap();
    assert_eq!(titles(&mut again), ["s2", "s1"]);
    assert_eq!(again.enter().unwrap().digests().unwrap(), [(0, sum(1..=2))]);
    let mut other = Catalogue::open(home.path(), "2").unwrap();
    assert!(titles(&mut other).is_empty(), "rows of another version are not believed");
    use std::os::unix::fs::PermissionsExt as _;
    for entry in home.path().read_dir().unwrap().map(Result::unwrap) {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
    }
}

#[test]
fn a_main_file_that_was_touched_is_not_believed() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 6] = [
        ("removed", |path| std::fs::remove_file(path).unwrap()),
        ("cut", |path| std::fs::File::options().write(true).open(path).unwrap().set_len(4096).unwrap()),
        ("zeroed", |path| std::fs::write(path, vec![0; path.metadata().unwrap().len() as usize]).unwrap()),
        ("written in place", |path| {
            use std::os::unix::fs::FileExt as _;
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.write_all_at(b"x", path.metadata().unwrap().len() - 10).unwrap();
        }),
        ("copied", |path| {
            let copy = path.with_extension("copy");
            std::fs::copy(path, &copy).unwrap();
            std::fs::rename(copy, path).unwrap();
        }),
        ("without a seal", |path| std::fs::remove_file(path.with_extension("seal")).unwrap()),
    ];
    for (name, harm) in harms {
        for is_open in [false, true] {
            let home = tempfile::tempdir().unwrap();
            let mut catalogue = filled(home.path());
            harm(&home.path().join("catalogue.db"));
            if !is_open {
                catalogue = Catalogue::open(home.path(), "1").unwrap();
            }
            assert!(titles(&mut catalogue).is_empty(), "{name}");
            let held = catalogue.enter().unwrap();
            held.apply(&[Change::put(row(3))], &[]).unwrap();
            drop(held);
            assert_eq!(titles(&mut Catalogue::open(home.path(), "1").unwrap()), ["s3"], "{name}");
        }
    }
}

#[test]
fn a_write_ahead_log_of_another_main_file_is_not_believed() {
    let home = tempfile::tempdir().unwrap();
    let wal = home.path().join("catalogue.db-wal");
    drop(filled(home.path()));
    let old = std::fs::read(&wal).unwrap();
    assert!(!old.is_empty());
    std::fs::remove_file(home.path().join("catalogue.db")).unwrap();
    assert!(titles(&mut Catalogue::open(home.path(), "1").unwrap()).is_empty());
    std::fs::write(&wal, old).unwrap();
    assert!(titles(&mut Catalogue::open(home.path(), "1").unwrap()).is_empty());
}

#[test]
fn a_damaged_write_ahead_log_only_loses_rows() {
    let home = tempfile::tempdir().unwrap();
    drop(filled(home.path()));
    let wal = home.path().join("catalogue.db-wal");
    let bytes = std::fs::read(&wal).unwrap();
    for cut in (0..bytes.len()).step_by(997) {
        for zeroed in [false, true] {
            let mut damaged = bytes[..cut].to_vec();
            if zeroed {
                damaged.resize(bytes.len(), 0);
            }
            std::fs::write(&wal, damaged).unwrap();
            let found = titles(&mut Catalogue::open(home.path(), "1").unwrap());
            assert!(["s2", "s1"].ends_with(&found.iter().map(String::as_str).collect::<Vec<_>>()), "{cut}: {found:?}");
        }
    }
}

#[test]
fn links_are_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::fs::write(&elsewhere, "precious").unwrap();
    for name in ["catalogue.lock", "catalogue.db"] {
        std::os::unix::fs::symlink(&elsewhere, home.path().join(name)).unwrap();
        let refused = Catalogue::open(home.path(), "1").and_then(|mut catalogue| catalogue.enter().map(drop));
        assert!(refused.is_err(), "{name}");
        std::fs::remove_file(home.path().join(name)).unwrap();
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"precious");
    }
}

#[test]
fn a_long_write_ahead_log_is_folded_in() {
    let home = tempfile::tempdir().unwrap();
    let mut catalogue = filled(home.path());
    let wal = home.path().join("catalogue.db-wal");
    let long = |number| Row { title: "x".repeat(10_000), ..row(number) };
    let rows: Vec<Change> = (3..500).map(|number| Change::put(long(number))).collect();
    catalogue.enter().unwrap().apply(&rows, &[]).unwrap();
    assert!(wal.metadata().unwrap().len() > 1 << 20);
    catalogue.tidy().unwrap();
    assert_eq!(wal.metadata().unwrap().len(), 0);
    assert_eq!(titles(&mut catalogue).len(), 499);
    assert_eq!(titles(&mut Catalogue::open(home.path(), "1").unwrap()).len(), 499);
}

#[test]
fn a_sum_that_the_rows_do_not_come_to_is_not_kept() {
    let mut catalogue = Catalogue::in_memory().unwrap();
    let held = catalogue.enter().unwrap();
    held.apply(&[Change::put(row(1))], &[(0, Some(sum(1..=1)))]).unwrap();
    assert_eq!(held.digests().unwrap(), [(0, sum(1..=1))]);
    // One process saw a file that another, which looked later, saw gone before the row was there.
    held.apply(&[Change::put(row(2))], &[]).unwrap();
    assert_eq!(held.digests().unwrap(), []);
    held.apply(&[], &[(0, Some(sum(1..=1)))]).unwrap();
    assert_eq!(held.digests().unwrap(), []);
    // A row of another moment than the one that was added up.
    let newer = Row { stamp: vec![9], ..row(2) };
    held.apply(&[Change::put(newer)], &[(0, Some(sum(1..=1)))]).unwrap();
    assert_eq!(held.digests().unwrap(), []);
    held.apply(&[Change::put(Row { is_unsettled: true, ..row(3) })], &[(0, Some(sum(1..=3)))]).unwrap();
    assert_eq!(held.digests().unwrap(), []);
}
