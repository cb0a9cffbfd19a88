//! Sources that ask for more than they should get: each ends with what is in it, or with a clear error, and never with the
//! stack or the memory of whoever reads it.

use std::io::{self, Read};

use ramus_interchange::{Error, Format, Jsonl, MemorySource, Source};
use serde_json::json;

use crate::carry;

/// A file that is not there until it is read: a front, one byte again and again, and an end.
struct Endless {
    front: &'static [u8],
    filling: u64,
    end: &'static [u8],
}

impl Source for Endless {
    fn name(&self) -> &'static str {
        "endless.jsonl"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.front.chain(io::repeat(b'x').take(self.filling)).chain(self.end)))
    }
}

#[test]
fn a25_a_line_of_four_gibibytes_is_passed_over() {
    let front =
        br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}
{"type":"user","x":""#;
    let end = br#""}
{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"user","content":"still here"}}
"#;
    let mut sessions = Jsonl::default();
    let source = Endless { front, filling: 4 << 30, end };
    let report = Format::Claude.codec().read(&source, &mut sessions).unwrap();
    assert_eq!((report.records, report.kept, report.lost), (3, 2, 1));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi", "user: still here"]);
}

#[test]
fn a25_a_document_without_end_is_refused() {
    for format in [Format::Opencode, Format::Goose, Format::Shepherd, Format::Okcvm, Format::Opal] {
        let source = Endless { front: b"{\"info\":\"", filling: 1 << 40, end: b"" };
        let error = format.codec().read(&source, &mut Jsonl::default());
        assert!(matches!(error, Err(Error::Limit(_) | Error::NotThisFormat { .. })), "{format:?}: {error:?}");
    }
}

#[test]
fn a25_nesting_without_end_overflows_nothing() {
    let lists = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(20_000), "}".repeat(20_000));
    for value in [lists, objects] {
        let user = format!(r#"{{"role":"user","content":{value}}}"#);
        let files = [
            (Format::Claude, format!(r#"{{"type":"user","uuid":"u","sessionId":"s","message":{user}}}"#)),
            (
                Format::Codex,
                format!(r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":{value}}}}}"#),
            ),
            (Format::Gemini, format!(r#"{{"id":"m","type":"gemini","content":{value},"toolCalls":{value}}}"#)),
            (Format::Pi, format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{user}}}"#)),
            (Format::Omp, value.clone()),
            (
                Format::Opencode,
                format!(r#"{{"info":{{"id":"ses_1"}},"messages":[{{"info":{user},"parts":{value}}}]}}"#),
            ),
            (Format::Goose, format!(r#"{{"working_dir":"/","conversation":[{user}]}}"#)),
            (Format::Shepherd, format!(r#"{{"version":1,"provider":"x","messages":[{user}]}}"#)),
            (Format::Okcvm, format!(r#"{{"id":"c","messages":[{user}],"branches":{value}}}"#)),
        ];
        for (format, file) in files {
            carry::check_damaged(format, &MemorySource::new("deep.jsonl", file.as_bytes()));
        }
    }
}

#[test]
fn a25_parents_in_a_circle_are_a_tree() {
    let claude = |id: &str, parent: &str| {
        json!({"type": "user", "uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-11-01T10:00:00.000Z",
            "message": {"role": "user", "content": id}})
    };
    let pi = |id: &str, parent: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z",
            "message": {"role": "user", "content": id}})
    };
    let header =
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/"});
    let circles = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("a", "d")];
    let lines: Vec<_> = circles.iter().map(|(id, parent)| claude(id, parent)).collect();
    // What is checked is that every parent comes first, so no circle is left.
    carry::check(Format::Claude, &MemorySource::new("circle.jsonl", &carry::file(&lines)));
    let lines: Vec<_> = [header].into_iter().chain(circles.iter().map(|(id, parent)| pi(id, parent))).collect();
    for format in [Format::Pi, Format::Omp] {
        carry::check(format, &MemorySource::new("circle.jsonl", &carry::file(&lines)));
    }
}
