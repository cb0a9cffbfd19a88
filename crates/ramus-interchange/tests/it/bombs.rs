//! Sources that ask for more than they should get: each ends with what is in it, or with a clear error, and never with the
//! stack or the memory of whoever reads it.

use std::io::{self, Read};

use ramus_interchange::{Error, Format, Jsonl, Limits, MemorySource, Source};
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

/// A table of Opal that nobody closed, with these terms in it.
fn table(terms: &[Vec<u8>], count: u32) -> Vec<u8> {
    let mut table = vec![0; 1336];
    for (at, value) in [(4, 0x00ab_cdef_u32), (12, 1), (16, 9), (24, 256), (28, 1), (32, count)] {
        table[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    for term in terms {
        let used = u32::try_from(term.len() + 12).unwrap();
        let start = table.len();
        for word in [used, 0x1234_5678, used - 8] {
            table.extend(word.to_be_bytes());
        }
        table.extend(term);
        table.resize(start + used.next_power_of_two() as usize, 0);
    }
    table
}

fn binary(text: &str) -> Vec<u8> {
    [&[109][..], &u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

fn opal_message(id: &str, text: &str, noted: &[u8]) -> Vec<u8> {
    let atom = |name: &str| [&[119, u8::try_from(name.len()).unwrap()][..], name.as_bytes()].concat();
    let members = [
        (atom("__struct__"), atom("Elixir.Opal.Message")),
        (atom("role"), atom("user")),
        (atom("content"), binary(text)),
        (atom("metadata"), noted.to_vec()),
    ];
    let count = u32::try_from(members.len()).unwrap().to_be_bytes();
    let members: Vec<u8> = members.into_iter().flat_map(|(name, value)| [name, value].concat()).collect();
    [&[131, 104, 2][..], &binary(id), &[116], &count, &members].concat()
}

#[test]
fn a25_terms_that_take_much_more_memory_than_bytes_are_refused() {
    let limits = Limits { line: 1 << 20, ..Limits::default() };
    let nils = [&[108][..], &100_000_u32.to_be_bytes(), &[106; 100_001]].concat();
    let bytes = table(&[opal_message("m1", "hi", &nils)], 1);
    let source = MemorySource::new("s.dets", &bytes);
    let error = Format::Opal.codec().read_within(&source, limits, &mut Jsonl::default());
    assert!(matches!(error, Err(Error::Limit(_))), "{error:?}");
}

/// A control character is six bytes of JSON: what is short in a table is long in a log.
#[test]
fn a25_what_swells_when_it_is_spelled_is_not_held() {
    let limits = Limits { line: 1 << 20, ..Limits::default() };
    let read = |text: &str| {
        let bytes = table(&[opal_message("m1", text, &[106])], 1);
        Format::Opal.codec().read_within(&MemorySource::new("s.dets", &bytes), limits, &mut Jsonl::default())
    };
    let swells = read(&"\u{1}".repeat(500_000));
    assert!(matches!(swells, Err(Error::Limit(_))), "{swells:?}");
    assert!(read(&"x".repeat(500_000)).is_ok());
    let rows = |name: &str| {
        format!(
            "CREATE TABLE sessions(id TEXT PRIMARY KEY, working_dir TEXT, name TEXT);
             INSERT INTO sessions VALUES ('g1', '/tmp', {name});"
        )
    };
    let swells = goose_within(limits, &rows("replace(hex(zeroblob(450000)), '0', char(1))")).unwrap();
    assert!(swells.losses.iter().any(|loss| loss.why.contains("too long")), "{swells:?}");
    let fits = goose_within(limits, &rows("hex(zeroblob(450000))")).unwrap();
    assert!(fits.losses.is_empty(), "{fits:?}");
}

#[test]
fn a25_blocks_within_blocks_are_not_looked_at_again_and_again() {
    // Each says that it reaches to the end, and is small objects up to there, of which the last is none.
    let mut bytes = table(&[], 1);
    let total = 4 << 20;
    for at in (0..total - 16).step_by(16) {
        let used = u32::try_from(total - at).unwrap();
        bytes.extend([used.to_be_bytes(), 0x1234_5678_u32.to_be_bytes()].concat());
        bytes.extend([0, 0, 0, 16, 131, 104, 2, 106]);
    }
    bytes.extend([0; 16]);
    let started = std::time::Instant::now();
    let error = Format::Opal.codec().read(&MemorySource::new("s.dets", &bytes), &mut Jsonl::default());
    assert!(matches!(error, Err(Error::Limit(_))), "{error:?}");
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn what_is_not_understood_in_a_table_is_kept_and_reported() {
    let atom = [119, 1, b'n'];
    let pid = [&[88][..], &atom, &[0; 12]].concat();
    let terms =
        [opal_message("m1", "one", &pid), opal_message("m2", "two", &[200, 1]), opal_message("m3", "three", &[106])];
    let bytes = table(&terms, 5);
    let (sessions, report) = carry::check(Format::Opal, &MemorySource::new("s.dets", &bytes));
    let said = String::from_utf8(sessions.sessions[0].bytes.clone()).unwrap();
    assert_eq!(said.matches("\"role\":\"user\"").count(), 2, "{said}");
    let losses: Vec<&str> = report.losses.iter().map(|loss| &*loss.why).collect();
    assert!(losses.iter().any(|why| why.contains("kind 200")), "{losses:?}");
    let missing = report.losses.iter().filter(|loss| loss.why.contains("was not found")).map(|loss| loss.count);
    assert_eq!(missing.sum::<u64>(), 2, "{:?}", report.losses);
    let empty = Format::Opal.codec().read(&MemorySource::new("s.dets", &table(&[], 3)), &mut Jsonl::default());
    assert!(matches!(empty, Err(Error::NotThisFormat { .. })), "{empty:?}");
}

#[test]
fn a_table_without_a_time_is_as_old_as_its_file() {
    let bytes = table(&[opal_message("m1", "one", &[106])], 1);
    let mut sessions = Jsonl::default();
    let source = MemorySource::new("s.dets", &bytes).modified(1_793_527_200_000);
    Format::Opal.codec().read(&source, &mut sessions).unwrap();
    let log = String::from_utf8(sessions.sessions[0].bytes.clone()).unwrap();
    assert!(log.contains("2026-11-01T") && !log.contains("1970"), "{log}");
}

/// A database of goose, made of these statements.
fn goose(statements: &str) -> Result<ramus_interchange::Report, Error> {
    goose_within(Limits::default(), statements)
}

fn goose_within(limits: Limits, statements: &str) -> Result<ramus_interchange::Report, Error> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.db");
    let columns = "id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, \
                   created_timestamp INTEGER, metadata_json TEXT";
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(&format!("CREATE TABLE messages({columns});{statements}")).unwrap();
    drop(database);
    Format::Goose.codec().read_within(&Stored(path), limits, &mut Jsonl::default())
}

struct Stored(std::path::PathBuf);

impl Source for Stored {
    fn name(&self) -> &'static str {
        "sessions.db"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }

    fn database(&self) -> io::Result<Option<std::path::PathBuf>> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn a25_columns_that_are_computed_are_not_read() {
    let error = goose(
        "CREATE TABLE sessions(id TEXT PRIMARY KEY, working_dir TEXT, x TEXT GENERATED ALWAYS AS
            (replace(hex(zeroblob(25000000)), '0', 'aaaaaaaaaaaaaaaaa')) VIRTUAL);
         INSERT INTO sessions(id, working_dir) VALUES ('g1', '/tmp');",
    );
    assert!(matches!(error, Err(Error::Limit(_))), "{error:?}");
}

#[test]
fn a25_a_database_without_its_indexes_is_given_up() {
    let error = goose(
        "CREATE TABLE sessions(id TEXT PRIMARY KEY, working_dir TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO sessions SELECT 's' || i, '/tmp' FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            INSERT INTO messages SELECT i, 'm' || i, 'none', 'user', '[]', 1, NULL FROM n;",
    );
    assert!(matches!(error, Err(Error::Limit(_))), "{error:?}");
}

/// A line with so many results of tools, each of them next to nothing.
fn results(count: usize, prefix: &str, result: &str, suffix: &str) -> Vec<u8> {
    format!("{prefix}{}{suffix}\n", vec![result; count].join(",")).into_bytes()
}

/// Every result kept the whole line once, and a line of some megabytes took hours.
#[test]
fn a25_a_line_of_many_results_is_not_copied_for_each() {
    let claude = |count| {
        let front = r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":["#;
        results(count, front, r#"{"type":"tool_result","tool_use_id":"t"}"#, "]}}")
    };
    let goose = |count| {
        let front = r#"{"working_dir":"/","conversation":[{"role":"user","created":1,"content":["#;
        results(count, front, r#"{"type":"toolResponse","id":"t"}"#, "]}]}")
    };
    let gemini = |count: usize| {
        let each = |part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<Vec<_>>().join(",");
        let calls = each(&|at| format!(r#"{{"id":"c{at}","result":1}}"#));
        // What they gave is told in reverse, and not of all: the rest is known from the answer alone.
        let told = each(&|at| format!(r#"{{"functionResponse":{{"id":"c{}"}}}}"#, count - at / 2));
        let answer = format!(r#"{{"id":"m1","type":"gemini","content":"","toolCalls":[{calls}]}}"#);
        format!("{answer}\n{{\"id\":\"m2\",\"type\":\"user\",\"content\":[{told}]}}\n").into_bytes()
    };
    let nameless = |count| {
        results(count, r#"{"id":"m1","type":"gemini","content":"","toolCalls":["#, r#"{"id":"","result":1}"#, "]}")
    };
    let files: [(_, &dyn Fn(usize) -> Vec<u8>); 4] =
        [(Format::Claude, &claude), (Format::Goose, &goose), (Format::Gemini, &gemini), (Format::Gemini, &nameless)];
    for (format, file) in files {
        let took = |count| {
            let file = file(count);
            let started = std::time::Instant::now();
            let mut sessions = Jsonl::default();
            format.codec().read(&MemorySource::new("s.jsonl", &file), &mut sessions).unwrap();
            let elapsed = started.elapsed();
            assert!(sessions.sessions[0].bytes.len() > count * 50, "{format:?}: the results are there");
            elapsed
        };
        // Whatever else the machine does only makes it slower.
        let least = |count| (0..3).map(|_| took(count)).min().unwrap();
        let (few, many) = (least(5_000), least(80_000));
        assert!(many < few * 80, "{format:?}: sixteen times as many took {many:?} instead of {few:?}");
    }
}

#[test]
fn a25_what_holds_too_much_is_passed_over_or_refused() {
    let front = r#"{"type":"assistant","uuid":"a1","sessionId":"s","message":{"role":"assistant","content":["#;
    let mut file = results(500_000, front, "{}", "]}}");
    file.extend(br#"{"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":"still here"}}"#);
    let mut sessions = Jsonl::default();
    let report = Format::Claude.codec().read(&MemorySource::new("s.jsonl", &file), &mut sessions).unwrap();
    assert_eq!((report.records, report.kept, report.lost), (2, 1, 1));
    assert!(report.losses[0].why.contains("objects and arrays"), "{:?}", report.losses);
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: still here"]);
    let documents = [
        (Format::Opencode, r#"{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m","role":"user"},"parts":["#, "]}]}"),
        (Format::Goose, r#"{"working_dir":"/","conversation":[{"role":"user","content":["#, "]}]}"),
        (Format::Shepherd, r#"{"version":1,"provider":"x","messages":["#, "]}"),
    ];
    for (format, front, end) in documents {
        let file = results(500_000, front, "{}", end);
        let error = format.codec().read(&MemorySource::new("s.json", &file), &mut Jsonl::default());
        assert!(matches!(error, Err(Error::Limit(_))), "{format:?}: {error:?}");
    }
}
