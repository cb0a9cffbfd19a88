//! Counting tokens: the same as another implementation counts, and never for long.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ramus_model::tokens::Counter as _;
use ramus_provider::Bpe;

fn count(text: &str) -> u64 {
    Bpe::newest().unwrap().count(&[text])
}

fn theirs(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

#[test]
fn what_everybody_knows() {
    assert_eq!(count(""), 0);
    assert_eq!(count("hello world"), 2);
    let source = include_str!("legal.rs");
    assert_eq!(count(source), theirs(source));
}

#[test]
fn hostile_text_takes_no_longer_than_its_length_allows() {
    for text in ["a".repeat(1 << 20), " ".repeat(1 << 20), "\u{1f642}".repeat(1 << 18), "ab1!".repeat(1 << 18)] {
        let start = Instant::now();
        let (ours, theirs) = (count(&text), theirs(&text));
        // In pieces of 4 KiB, one token too many for each.
        assert!(ours.abs_diff(theirs) <= (text.len() / 4_096) as u64 + 1, "{ours} and {theirs}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_same_as_another_implementation(text in "\\PC{0,200}|[ \\t\\r\\na-zA-Z0-9'.,/{}()-]{0,400}|[\\p{Greek}\\p{Han}\\p{Mn} \u{1f642}]{0,80}") {
        prop_assert_eq!(count(&text), theirs(&text));
    }
}
