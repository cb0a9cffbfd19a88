//! Gemini CLI writes a message again when it changes. A file may do that as often as it likes, and makes neither a disk nor the
//! memory full.

use ramus_interchange::{Entry, Error, Format, Jsonl, MemorySource, Sink, Start};

use crate::carry;

/// Every later version kept all that the first one did, and a file of some megabytes filled a disk.
#[test]
fn a25_a_long_message_is_not_written_again_for_every_later_version() {
    let said = |text: &str| format!("{{\"id\":\"m1\",\"type\":\"user\",\"content\":\"{text}\"}}\n");
    let mut file = said(&"x".repeat(1 << 20)).into_bytes();
    (0..300).for_each(|at| file.extend(said(&format!("a{at}")).into_bytes()));
    let mut sessions = Jsonl::default();
    let report = Format::Gemini.codec().read(&MemorySource::new("session-1.jsonl", &file), &mut sessions).unwrap();
    let log = &sessions.sessions[0].bytes;
    assert!(log.len() < 24 << 20, "{} bytes became {}", file.len(), log.len());
    assert_eq!((report.records, report.kept, report.lost), (301, 301, 0));
    assert!(report.losses.iter().any(|loss| loss.why.contains("do not count")), "{:?}", report.losses);
    assert_eq!(carry::told(log).len(), 1);
}

/// Counts what the sink was given at a time, and keeps nothing of it.
#[derive(Default)]
struct Longest(usize, usize);

impl Sink for Longest {
    fn session(&mut self, _: &Start) -> Result<(), Error> {
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        (self.0, self.1) = (self.0.max(entry.line.len()), self.1 + entry.line.len());
        Ok(())
    }
}

/// An answer waits for later versions of it, and what comes behind it waits with it.
#[test]
fn a25_versions_of_an_answer_do_not_wait_without_end() {
    let text = "x".repeat(1 << 20);
    let version = |at: usize| format!(r#"{{"id":"m1","type":"gemini","content":"{at} {text}"}}"#);
    let notice = |at: usize| format!(r#"{{"id":"i{at}","type":"info","content":"{text}"}}"#);
    let behind = |count: usize| [version(0)].into_iter().chain((0..count).map(notice)).collect::<Vec<_>>();
    let short = |count: usize| {
        let line = |at: usize| format!(r#"{{"id":"m1","type":"gemini","content":"{at}"}}"#);
        (0..count).map(line).collect::<Vec<_>>()
    };
    for (lines, longest) in
        [((0..64).map(version).collect(), 40 << 20), (behind(60), 40 << 20), (short(20_000), 1 << 16)]
    {
        let file = (lines.join("\n") + "\n").into_bytes();
        let mut seen = Longest::default();
        let report = Format::Gemini.codec().read(&MemorySource::new("session-1.jsonl", &file), &mut seen).unwrap();
        assert_eq!(report.records, report.kept + report.lost);
        assert!(seen.0 <= longest, "{} bytes waited", seen.0);
        assert!(seen.1 <= file.len() * 4 + (24 << 20), "{} became {}", file.len(), seen.1);
    }
}
