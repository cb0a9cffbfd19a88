//! The laws that the fuzzer checks, on files with one change after another.

use ramus_interchange::{Format, fuzz};

use crate::carry;
use crate::generate::{self, Event};

#[test]
fn a25_changed_files_break_no_law() {
    let call = ("read".to_owned(), "a.rs".to_owned());
    let log = generate::log(&[
        Event::User("hi".into(), true),
        Event::Answer { text: "I look.".into(), thought: Some("hm".into()), calls: vec![call], answered: true },
        Event::Compaction { summary: "sum".into(), back: 1 },
        Event::User("two".into(), false),
    ]);
    for format in Format::ALL.iter().filter(|format| format.is_read() && **format != Format::Directory) {
        let (file, _) = carry::write(*format, &log);
        for at in (0..file.len()).step_by(file.len() / 24 + 1) {
            for byte in [b'{', 0xff] {
                let mut changed = file.clone();
                changed[at] = byte;
                fuzz::read(*format, &changed);
            }
            let mut cut = file.clone();
            cut.remove(at);
            fuzz::read(*format, &cut);
        }
    }
}

/// What fuzzing begins with is read, and breaks no law: a database and files beside one another, too.
#[test]
fn a25_every_seed_breaks_no_law() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for format in Format::ALL.iter().filter(|format| format.is_read()) {
        for seed in std::fs::read_dir(seeds.join(format.name())).unwrap() {
            fuzz::read(*format, &std::fs::read(seed.unwrap().path()).unwrap());
        }
    }
}
