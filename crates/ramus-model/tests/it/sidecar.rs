//! Logs from rows and checkpoints: the same as logs that were read.

use ramus_model::{Checkpoint, Depth, EntryId, Log, ROW, WindowStart, context};
use ramus_testkit::trees;

use crate::generate::HEADER;

fn read(bytes: &[u8]) -> Log {
    let mut log = Log::new(Depth::Envelope);
    log.keep_sums();
    log.feed(bytes);
    log.finish();
    log
}

/// Everything a log shows.
fn shown(log: &Log, bytes: &[u8]) -> String {
    let records = log.seqs().map(|seq| {
        let record = log.record(seq).unwrap();
        format!("{seq} {} {:?} {:?} {:?}\n", log.id(seq), record.parent(), record.is_visible(), log.place(seq))
    });
    let records: String = records.collect();
    let Ok(context) = context::build(log, log.leaf(), bytes);
    let facts = log.facts();
    let labels: Vec<_> = log.seqs().map(|seq| facts.label(log.id(seq))).collect();
    format!(
        "{records}{:?} {context:?} {labels:?} {:?} {:?} {:?} {:?}",
        log.leaf(),
        facts.title(),
        facts.meta(),
        facts.segments(),
        log.findings()
    )
}

fn header(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap()
}

/// A checkpoint of a log with rows, written and read again.
fn saved(log: &Log, bytes: &[u8]) -> Option<(Checkpoint, Vec<u8>)> {
    if !log.is_orderly() {
        return None;
    }
    let rows = log.rows(0)?;
    let Ok(start) = context::window_start(log, bytes);
    let window = start.map(|context::Start { first, tip, state }| {
        let first = first.number() as usize - 1;
        WindowStart::new(first as u64, crc32fast::hash(&rows[first * ROW..]), tip, state)
    });
    let checkpoint = log.checkpoint("one".into(), crc32fast::hash(&rows), true, window);
    let again = Checkpoint::read(&checkpoint.to_bytes()).unwrap();
    assert_eq!(again, checkpoint);
    Some((again, rows))
}

fn line_ends(bytes: &[u8]) -> Vec<usize> {
    (1..=bytes.len()).filter(|end| bytes[end - 1] == b'\n').collect()
}

#[test]
fn a_restored_log_is_the_log_wherever_the_checkpoint_is() {
    let (mut orderly, mut windows) = (0, 0);
    for seed in 0..150 {
        let bytes = trees::tree(seed);
        let whole = read(&bytes);
        for end in line_ends(&bytes) {
            let prefix = read(&bytes[..end]);
            let Some((checkpoint, rows)) = saved(&prefix, &bytes[..end]) else { continue };
            orderly += 1;
            let mut restored = Log::new(Depth::Envelope).restored(&checkpoint, &rows).unwrap();
            restored.feed(&bytes[end..]);
            restored.finish();
            assert_eq!(shown(&restored, &bytes), shown(&whole, &bytes), "tree {seed} at {end}");
            assert_eq!(restored.is_orderly(), whole.is_orderly(), "tree {seed} at {end}");
            assert_eq!(restored.rows(prefix.len()), whole.rows(prefix.len()), "tree {seed} at {end}");
            windows += usize::from(window_agrees(&checkpoint, &rows, &bytes, &whole, seed));
        }
    }
    assert!(orderly > 3_000 && windows > 100, "{orderly} {windows}");
}

/// Whenever a window gives a context, it is the context.
fn window_agrees(checkpoint: &Checkpoint, rows: &[u8], bytes: &[u8], whole: &Log, seed: u64) -> bool {
    let Some(start) = &checkpoint.window else { return false };
    let mut window = Log::window(checkpoint, &rows[start.first as usize * ROW..]).unwrap();
    window.feed(&bytes[checkpoint.end as usize..]);
    window.finish();
    let Ok(Some((leaf, context))) = context::in_window(&window, start, bytes) else { return false };
    let Ok(expected) = context::build(whole, whole.leaf(), bytes);
    assert_eq!((leaf, &context), (whole.leaf(), &expected), "tree {seed} at {}", checkpoint.end);
    assert_eq!(window.len(), whole.len());
    let rendered = |log: &Log| {
        let mut out = Vec::new();
        let Ok(()) = context::render::messages(log, &context, bytes, &mut out);
        out
    };
    assert_eq!(rendered(&window), rendered(whole), "tree {seed} at {}", checkpoint.end);
    start.first > 0
}

#[test]
fn later_versions_and_uuids_survive() {
    let line = |id: &str, parent: &str, more: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",{more}\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-02-16T10:21:01.000Z\",\
             \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let uuid = "0190b5e0-7d3c-7cc0-8e5a-3d1f0a9b8c7d";
    let lines = [
        line(uuid, "null", "", "one"),
        line("b", &format!("\"{uuid}\""), "", "two"),
        line("c", "\"b\"", "", "three"),
        line("b", "null", "\"ramusSupersedes\":true,", "second"),
        line("b", "null", "\"ramusSupersedes\":true,", "third"),
        line("d", "\"c\"", "", "four"),
    ];
    let bytes = format!("{HEADER}\n{}", lines.concat()).into_bytes();
    let whole = read(&bytes);
    assert!(whole.is_orderly(), "{:?}", whole.findings());
    for end in line_ends(&bytes) {
        let (checkpoint, rows) = saved(&read(&bytes[..end]), &bytes[..end]).unwrap();
        let mut restored = Log::new(Depth::Envelope).restored(&checkpoint, &rows).unwrap();
        restored.feed(&bytes[end..]);
        restored.finish();
        assert_eq!(shown(&restored, &bytes), shown(&whole, &bytes), "at {end}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let bytes = trees::tree(7);
    let (checkpoint, rows) = saved(&read(&bytes), &bytes).unwrap();
    for at in 0..rows.len() {
        let mut bent = rows.clone();
        bent[at] ^= 1;
        assert!(Log::new(Depth::Envelope).restored(&checkpoint, &bent).is_none(), "byte {at}");
    }
    assert!(Log::new(Depth::Envelope).restored(&checkpoint, &rows[..rows.len() - ROW]).is_none());
    assert!(Log::new(Depth::Envelope).restored(&checkpoint, &[]).is_none());
    let text = String::from_utf8(checkpoint.to_bytes()).unwrap();
    assert!(Checkpoint::read(text.replacen("\"format\":2", "\"format\":0", 1).as_bytes()).is_none());
}

#[test]
fn a_log_that_is_not_in_good_order_has_no_rows() {
    let sound = String::from_utf8(trees::tree(7)).unwrap();
    assert!(read(sound.as_bytes()).is_orderly());
    for (reason, text) in [
        ("a blank line", sound.replacen('\n', "\n\n", 1)),
        ("no final newline", sound.trim_end().to_owned()),
        ("damage", format!("{sound}garbage\n")),
        ("a torn tail", format!("{sound}{{\"type\"")),
        ("carriage returns", sound.replace('\n', "\r\n")),
        ("an old version", sound.replacen("\"version\":3", "\"version\":2", 1)),
        ("no header", sound.split_once('\n').unwrap().1.to_owned()),
        ("a byte order mark", format!("\u{feff}{sound}")),
    ] {
        assert!(!read(text.as_bytes()).is_orderly(), "{reason}");
    }
}

#[test]
fn a_changed_byte_shows_against_the_rows() {
    let bytes = trees::tree(11);
    let rows = read(&bytes).rows(0).unwrap();
    assert_eq!(read(&bytes).first_difference(&rows), None);
    let start = header(&bytes).len() + 1;
    for at in start..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 1;
        let log = read(&bent);
        // Without its newline a line is glued to the next: both are still read, and that is reported.
        assert!(log.first_difference(&rows).is_some() || log.is_damaged(), "byte {at}");
    }
}

fn entry(id: &str, parent: Option<&str>, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",{more}\
         \"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
    )
}

/// A fork of a session of four entries that hang as told; its first own entry takes the third below itself.
fn fork_of(parents: [Option<&str>; 4]) -> Log {
    let mut origin = Log::new(Depth::Envelope);
    origin.feed(format!("{HEADER}\n").as_bytes());
    for (id, parent) in ["a", "b", "c", "d"].iter().zip(parents) {
        origin.feed(entry(id, parent, "").as_bytes());
    }
    origin.finish();
    Log::forked(origin, &EntryId::from("d"), Depth::Envelope)
}

/// Somebody puts another file in the place of a fork's origin, with as many entries. What the sidecar of the fork says about
/// parents then leads in a circle, and whoever followed it filled the memory.
#[test]
fn a_sidecar_that_would_close_a_circle_is_not_believed() {
    let own = [format!("{HEADER}\n"), entry("r", Some("a"), ""), entry("c", Some("r"), "\"ramusSupersedes\":true,")];
    let read = |mut fork: Log| {
        fork.keep_sums();
        own.iter().for_each(|line| fork.feed(line.as_bytes()));
        fork.finish();
        fork
    };
    let usual = [None, Some("a"), Some("b"), Some("c")];
    let described = read(fork_of(usual));
    assert!(described.is_orderly());
    let rows = described.rows(0).unwrap();
    let checkpoint = described.checkpoint("one".into(), crc32fast::hash(&rows), true, None);
    assert!(fork_of(usual).restored(&checkpoint, &rows).is_some());

    let swapped = [Some("c"), None, None, Some("c")];
    assert!(fork_of(swapped).restored(&checkpoint, &rows).is_none());
    let read = read(fork_of(swapped));
    assert_eq!(read.ancestors(read.seq_of("d")).take(100).count(), 4);
}
