//! Legal histories of every shape are let through, and no single step away from one is.

mod generate;
mod mutate;
mod render;

use ramus_testkit::model_server::{Format, judge};
use ramus_testkit::random::Random;

const MODEL: &str = "gemini-3-pro";

/// How many histories of each format, unless `RAMUS_HISTORIES` says otherwise.
const HISTORIES: usize = 150;

fn hold(format: Format) {
    let histories = std::env::var("RAMUS_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(HISTORIES);
    let (mut mutants, mut names) = (0, std::collections::BTreeMap::<&str, usize>::new());
    for seed in 0..histories {
        let history = generate::history(&mut Random::new(seed as u64));
        let body = render::body(format, MODEL, &history);
        if let Err(error) = judge::body(format, MODEL, &body) {
            panic!("seed {seed}: {error}\n{body:#}");
        }
        for (name, mutant) in mutate::mutants(format, &body) {
            assert_ne!(mutant, body, "{name} changes nothing");
            let verdict = judge::body(format, MODEL, &mutant);
            assert!(verdict.is_err(), "seed {seed}: {name} survives\n{mutant:#}");
            mutants += 1;
            *names.entry(name).or_default() += 1;
        }
    }
    assert!(mutants > histories * 20, "{mutants} mutants are too few");
    assert!(names.values().all(|count| *count > 20), "a mutation is almost never tried: {names:?}");
}

#[test]
fn of_chat_completions() {
    hold(Format::Chat);
}

#[test]
fn of_responses() {
    hold(Format::Responses);
}

#[test]
fn of_anthropic() {
    hold(Format::Anthropic);
}

#[test]
fn of_gemini() {
    hold(Format::Gemini);
}
