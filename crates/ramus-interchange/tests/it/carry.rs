//! What the tests of all formats share: reading from memory, writing to memory, and the laws that hold for every file.

use ramus_interchange::{Error, Format, Jsonl, LogPassage, MemorySource, MemoryTarget, Report, Source};
use ramus_model::json::Raw;
use ramus_model::{Depth, Draft, Log};

/// Reads a source.
pub(crate) fn read(format: Format, source: &dyn Source) -> (Jsonl, Report) {
    let mut sessions = Jsonl::default();
    let report = format.codec().read(source, &mut sessions).unwrap();
    (sessions, report)
}

/// Writes a log as a file of another format.
pub(crate) fn write(format: Format, log: &[u8]) -> (Vec<u8>, Report) {
    let mut target = MemoryTarget::default();
    let report = format.codec().write(&LogPassage::new(log), &mut target).unwrap();
    (target.only().unwrap().to_vec(), report)
}

/// Checks what holds for everything that is read: it is the same twice, every record is accounted for, every entry can be
/// appended and hangs from one before it, and no entry grants anything.
pub(crate) fn check(format: Format, source: &dyn Source) -> (Jsonl, Report) {
    let (sessions, report) = read(format, source);
    let (again, _) = read(format, source);
    assert_eq!(sessions.sessions, again.sessions, "reading twice gives two results");
    assert_eq!(report.records, report.kept + report.lost, "records are unaccounted for: {report:?}");
    assert_eq!(report.sessions as usize, sessions.sessions.len());
    for session in &sessions.sessions {
        let log = Log::from_bytes(&session.bytes, Depth::Whole);
        let findings: Vec<_> = log.findings().iter().map(|finding| format!("{finding:?}")).collect();
        assert!(findings.is_empty(), "{findings:?}");
        let mut seen = std::collections::HashSet::new();
        for line in session.bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
            let draft = Draft::parse(line).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(line)));
            let raw = Raw::parse(line).unwrap();
            if let Some(parent) = raw.field("parentId").and_then(Raw::text) {
                assert!(seen.contains(&*parent), "{parent} was not there yet");
            }
            seen.insert(draft.id.unwrap().to_string());
            let custom = raw.field("customType").and_then(Raw::text).unwrap_or_default();
            for forbidden in ["ramus.grant", "ramus.approval", "ramus.share", "ramus.snapshot", "ramus.files"] {
                assert_ne!(custom, forbidden);
            }
        }
    }
    (sessions, report)
}

/// Checks a file that may be damaged: a document that is none any more is refused, everything else is read.
pub(crate) fn check_damaged(format: Format, source: &dyn Source) {
    match format.codec().read(source, &mut Jsonl::default()) {
        Err(Error::NotThisFormat { .. }) => {}
        _ => drop(check(format, source)),
    }
}

/// Checks that a session written for the agent it came from is the file it was read from.
pub(crate) fn comes_back(format: Format, source: &dyn Source, file: &[u8]) {
    let (sessions, _) = check(format, source);
    let (written, report) = write(format, &sessions.sessions[0].bytes);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    let lines = |bytes: &[u8]| -> Vec<String> {
        let lines = bytes.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
        let lines = lines.map(|line| line.trim_start_matches('\u{feff}').trim_end_matches('\r').to_owned());
        lines.filter(|line| !line.trim().is_empty()).collect()
    };
    for (at, (written, read)) in lines(&written).iter().zip(lines(file)).enumerate() {
        assert_eq!(*written, read, "line {}", at + 1);
    }
    assert_eq!(lines(&written).len(), lines(file).len());
}

/// Checks that what was written and read is written the same again: one trip loses what the format cannot say, a second one
/// nothing.
pub(crate) fn settles(format: Format, log: &[u8]) -> Vec<u8> {
    let (first, _) = write(format, log);
    let source = MemorySource::new("made-up.jsonl", &first);
    let (once, _) = check(format, &source);
    if first.is_empty() {
        // Nothing in the session can be said in this format.
        return Vec::new();
    }
    let (second, _) = write(format, &once.sessions[0].bytes);
    let texts = (String::from_utf8_lossy(&first).into_owned(), String::from_utf8_lossy(&second).into_owned());
    // A table has no order.
    if format != Format::Opal {
        assert_eq!(texts.0, texts.1);
    }
    let (twice, _) = check(format, &MemorySource::new("made-up.jsonl", &second));
    assert_eq!(once.sessions, twice.sessions);
    once.sessions[0].bytes.clone()
}

/// The messages of a log on the path to its leaf, as role and text, calls and results included.
pub(crate) fn told(log: &[u8]) -> Vec<String> {
    use ramus_model::message::{Message, Part};
    let read = Log::from_bytes(log, Depth::Envelope);
    let context = ramus_model::context::build(&read, read.leaf(), log).unwrap();
    let mut told = Vec::new();
    for item in &context.items {
        let place = read.place(item.seq()).unwrap();
        let bytes = &log[place.offset as usize..place.offset as usize + place.len as usize];
        let message = Message::of_entry(Raw::parse(bytes).unwrap()).unwrap();
        for part in &message.parts {
            let text = match part {
                Part::Text(text) => text.clone(),
                Part::Thinking(text) => format!("thinks {text}"),
                Part::Image { mime, data } => format!("shows {mime} {data}"),
                Part::ToolCall { id, name, arguments } => format!("calls {name} {id} {arguments}"),
                Part::Unknown(kind, _) => format!("unknown {kind}"),
            };
            let result = message
                .result
                .as_ref()
                .map(|result| format!(" {}{}", result.call, if result.is_error { "!" } else { "" }));
            told.push(format!("{}{}: {text}", message.role_name, result.unwrap_or_default()));
        }
    }
    told
}

/// The lines of a file as JSON.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = serde_json::Value> {
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap())
}

/// A file of JSON lines.
pub(crate) fn file(lines: &[serde_json::Value]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}
