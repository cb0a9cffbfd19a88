//! From one format into every other: what a model would be sent stays the same.

use ramus_interchange::{Format, MemorySource};

use crate::carry;
use crate::generate::{self, Event};

/// Formats that agents resume from.
const AGENTS: [Format; 7] =
    [Format::Claude, Format::Codex, Format::Gemini, Format::Pi, Format::Omp, Format::Opencode, Format::Goose];

/// A conversation that every format has words for.
fn conversation(pictures: bool) -> Vec<u8> {
    let calls = |names: &[&str]| {
        names.iter().map(|name| ((*name).to_owned(), "é \"quoted\" \\ \u{1f41b}".to_owned())).collect()
    };
    generate::log(&[
        Event::User("fix the login\n\nplease".into(), pictures),
        Event::Answer { text: "I will look.".into(), thought: None, calls: calls(&["read", "bash"]), answered: true },
        Event::Answer { text: "Done.".into(), thought: None, calls: Vec::new(), answered: true },
        Event::User("\u{4e2d}\u{6587} <b>& more".into(), false),
        Event::Answer { text: "Yes.".into(), thought: None, calls: calls(&["write"]), answered: true },
        Event::Answer { text: "Written.".into(), thought: None, calls: Vec::new(), answered: true },
    ])
}

/// What is said, without the ids of calls: a provider may refuse those of another.
fn said(log: &[u8], errors: bool) -> Vec<String> {
    let plain = |line: String| {
        let mut words: Vec<&str> = line.split(' ').collect();
        if line.starts_with("assistant: calls") {
            words.remove(3);
        }
        if line.starts_with("toolResult") {
            let failed = words.remove(1).contains('!') && errors;
            words.insert(1, if failed { "failed:" } else { "gave:" });
        }
        words.join(" ")
    };
    carry::told(log).into_iter().map(plain).collect()
}

fn through(format: Format, log: &[u8]) -> Vec<u8> {
    let (file, _) = carry::write(format, log);
    let (sessions, report) = carry::check(format, &MemorySource::new("written", &file));
    assert_eq!((report.sessions, report.bridged), (1, 0), "{format:?}");
    sessions.sessions[0].bytes.clone()
}

#[test]
fn a25_every_agent_is_told_the_same() {
    let log = conversation(true);
    for from in AGENTS {
        let first = through(from, &log);
        for to in AGENTS {
            let second = through(to, &first);
            // Codex does not say that a call failed.
            let errors = from != Format::Codex && to != Format::Codex;
            assert_eq!(said(&second, errors), said(&log, errors), "from {from:?} to {to:?}");
        }
    }
}

#[test]
fn a25_calls_and_results_still_belong_together() {
    for format in AGENTS {
        let log = through(format, &conversation(false));
        let told = carry::told(&log);
        let called = told.iter().filter_map(|line| line.strip_prefix("assistant: calls ")?.split(' ').nth(1));
        let gave = told.iter().filter_map(|line| line.strip_prefix("toolResult ")?.split([':', '!']).next());
        assert_eq!(called.collect::<Vec<_>>(), gave.collect::<Vec<_>>(), "{format:?}");
    }
}

#[test]
fn h7_formats_of_few_words_keep_what_they_can() {
    let log = conversation(false);
    for format in [Format::Opal, Format::Shepherd] {
        let errors = format == Format::Opal;
        assert_eq!(said(&through(format, &log), errors), said(&log, errors), "{format:?}");
    }
    let words: Vec<_> = said(&log, true)
        .into_iter()
        .filter(|line| !line.contains("calls") && !line.starts_with("toolResult"))
        .collect();
    assert_eq!(said(&through(Format::Okcvm, &log), true), words);
}

/// A summary and what it keeps are all that is left, whichever way a format says so.
#[test]
fn a25_a_compaction_leaves_the_same_behind() {
    let log = generate::log(&[
        Event::User("old".into(), false),
        Event::Answer { text: "Old answer.".into(), thought: None, calls: Vec::new(), answered: true },
        Event::User("kept".into(), false),
        Event::Answer { text: "Kept answer.".into(), thought: None, calls: Vec::new(), answered: true },
        Event::Compaction { summary: "what was".into(), back: 1 },
        Event::User("new".into(), false),
    ]);
    let texts = |log: &[u8]| -> Vec<String> {
        carry::told(log).into_iter().filter_map(|line| Some(line.split_once(": ")?.1.to_owned())).collect()
    };
    assert_eq!(texts(&log), ["what was", "kept", "Kept answer.", "new"]);
    for format in AGENTS {
        assert_eq!(texts(&through(format, &log)), texts(&log), "{format:?}");
    }
}
