//! What holds for every format, whatever is in a session and whatever is in a file.

use proptest::prelude::*;
use ramus_interchange::{Format, Jsonl, Limits, MemorySource};

use crate::carry;
use crate::generate;

/// The formats that are read, and in which a session is one file.
fn one_file() -> impl Iterator<Item = &'static Format> {
    Format::ALL.iter().filter(|format| format.is_read() && **format != Format::Directory)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Import after export after import is what the first import gave.
    #[test]
    fn a25_a_second_trip_changes_nothing(events in generate::events()) {
        let log = generate::log(&events);
        for format in one_file() {
            carry::settles(*format, &log);
        }
    }

    /// Damage anywhere in a file costs at most the records it is in, and breaks none of the laws.
    #[test]
    fn a25_damaged_files_are_read_as_far_as_they_go(
        events in generate::events(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let log = generate::log(&events);
        for format in one_file() {
            let (mut file, _) = carry::write(*format, &log);
            for (at, byte) in &damage {
                if file.is_empty() {
                    break;
                }
                let at = at.index(file.len());
                file[at] = *byte;
            }
            carry::check_damaged(*format, &MemorySource::new("damaged.jsonl", &file));
        }
    }

    /// A file that ends anywhere is read up to there.
    #[test]
    fn a25_a_file_that_ends_anywhere_is_read_up_to_there(events in generate::events(), end in any::<prop::sample::Index>()) {
        let log = generate::log(&events);
        for format in one_file() {
            let (file, _) = carry::write(*format, &log);
            let end = end.index(file.len() + 1);
            carry::check_damaged(*format, &MemorySource::new("torn.jsonl", &file[..end]));
        }
    }
}

/// The records of a file that does not hold what its format wants: nothing panics, nothing is lost, nothing hangs.
#[test]
fn a25_records_of_any_shape_are_kept() {
    let pieces = [
        r#"{}"#,
        r#"[]"#,
        r#"null"#,
        r#"{"type":"user","uuid":"u","parentUuid":"u","message":{"role":"user","content":[[],{},1,null]}}"#,
        r#"{"type":"assistant","uuid":"a","parentUuid":"u","message":{"content":"x"}}"#,
        r#"{"type":"assistant","uuid":"a","message":{}}"#,
        r#"{"type":"response_item","payload":{"type":"reasoning"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","arguments":"{"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"x"}}"#,
        r#"{"type":"compacted","payload":{}}"#,
        r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":99999999999}}"#,
        r#"{"type":"session_meta","payload":{"id":"x","history_base":{"thread_id":"x","end_ordinal_exclusive":9}}}"#,
        r#"{"ordinal":18446744073709551615,"type":"response_item","payload":{"type":"message","role":"assistant"}}"#,
        r#"{"$set":{"messages":[{"id":"m","type":"user","content":"x"},5,{}]}}"#,
        r#"{"$rewindTo":7}"#,
        r#"{"id":"m","type":"gemini","content":[{"functionCall":{}}],"toolCalls":[{"result":5},{}]}"#,
        r#"{"id":"m","type":"user","content":[{"functionResponse":{}},{"functionResponse":{"id":"c"}}]}"#,
        r#"{"sessionId":"s","projectHash":"p"}"#,
        r#"{"type":"message","id":"e","parentId":"e","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user"}}"#,
        r#"{"type":"message","id":"e","parentId":7,"message":[]}"#,
        r#"{"type":"custom","id":"g","parentId":null,"customType":"ramus.grant","data":{}}"#,
        r#"{"type":"session","id":"s","version":1}"#,
        r#"{"type":"label","id":"l","parentId":null,"timestamp":"x"}"#,
        "{\"a\":\"\\ud83d\"}",
        "\u{0}\u{0}",
        "{\"a\":",
    ];
    for format in one_file() {
        for step in 1..pieces.len() {
            let order: Vec<_> = (0..pieces.len() * 2).map(|at| pieces[(at * step + at / 3) % pieces.len()]).collect();
            carry::check_damaged(*format, &MemorySource::new("odd.jsonl", order.join("\n").as_bytes()));
        }
    }
}

#[test]
fn a25_text_that_is_no_unicode_comes_back() {
    let line = b"{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"caf\xe9\"}}";
    let (sessions, _) = carry::check(Format::Claude, &MemorySource::new("s.jsonl", line));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: caf\u{fffd}"]);
    let text = String::from_utf8(sessions.sessions[0].bytes.clone()).unwrap();
    assert!(text.contains("\"bytes\":"), "{text}");
}

/// A line of half a gigabyte takes as long as reading it, and as much memory as the limit.
#[test]
fn a25_a_line_that_is_too_long_is_passed_over() {
    let mut file =
        br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#
            .to_vec();
    file.extend(b"\n{\"type\":\"user\",\"x\":\"");
    file.extend(vec![b'x'; 4 << 20]);
    file.extend(b"\"}\n");
    let limits = Limits { line: 1 << 20, ..Limits::default() };
    let mut sessions = Jsonl::default();
    let report =
        Format::Claude.codec().read_within(&MemorySource::new("s.jsonl", &file), limits, &mut sessions).unwrap();
    assert_eq!((report.records, report.kept, report.lost), (2, 1, 1));
    assert_eq!(report.losses[0].line, Some(2));
}

#[test]
fn a25_more_records_than_allowed_are_an_error() {
    let limits = Limits { records: 10, ..Limits::default() };
    let file = "{}\n".repeat(11);
    let mut sessions = Jsonl::default();
    let error =
        Format::Claude.codec().read_within(&MemorySource::new("s.jsonl", file.as_bytes()), limits, &mut sessions);
    assert!(matches!(error, Err(ramus_interchange::Error::Limit(_))), "{error:?}");
}
