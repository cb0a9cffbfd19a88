//! The index finds what a reading of all prompts finds.

use proptest::prelude::*;

use crate::{found, record};

/// Pieces that are hard on an index: quotes, operators, characters that change their length in lower case, zero bytes,
/// scripts without spaces.
const PIECES: [&str; 24] = [
    "a",
    "B",
    "ab",
    "Abc",
    "abcabc",
    " ",
    "\n",
    "\"",
    "'",
    "*",
    "NEAR",
    "AND",
    "-",
    "日本",
    "語",
    "Σ",
    "ς",
    "ß",
    "İ",
    "é",
    "e\u{301}",
    "\0",
    "🦀",
    "src/main.rs",
];

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

/// The definition: every word is somewhere in the prompt, upper and lower case alike, zero bytes being spaces.
fn contains(prompt: &str, query: &str) -> bool {
    let fold = |text: &str| -> String { text.replace('\0', " ").chars().flat_map(char::to_lowercase).collect() };
    query.split_whitespace().all(|word| fold(prompt).contains(&fold(word)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_search_equals_a_scan(prompts in proptest::collection::vec(text(1..8), 1..20), queries in proptest::collection::vec(text(0..4), 8)) {
        let home = tempfile::tempdir().unwrap();
        record(home.path(), &prompts.iter().map(String::as_str).collect::<Vec<_>>());
        let stored = found(home.path(), "");
        let mut expected: Vec<&String> = prompts.iter().filter(|prompt| !prompt.trim().is_empty()).collect();
        expected.dedup();
        expected.reverse();
        prop_assert_eq!(stored.iter().collect::<Vec<_>>(), expected);
        for query in queries {
            let scanned: Vec<String> = stored.iter().filter(|prompt| contains(prompt, &query)).cloned().collect();
            prop_assert_eq!(found(home.path(), &query), scanned, "{:?}", query);
        }
    }
}

#[test]
fn parts_of_words_of_any_script_and_of_code_are_found() {
    let home = tempfile::tempdir().unwrap();
    record(home.path(), &["Fix parse_header in src/main.rs", "数据库连接失败", "x = a[0]", "Füße ÄRGERN"]);
    for (query, expected) in [
        ("HEADER main", "Fix parse_header in src/main.rs"),
        ("rs fi", "Fix parse_header in src/main.rs"),
        ("库连", "数据库连接失败"),
        ("数据库连", "数据库连接失败"),
        ("a[0]", "x = a[0]"),
        ("ärger füße", "Füße ÄRGERN"),
    ] {
        assert_eq!(found(home.path(), query), [expected], "{query}");
    }
    assert_eq!(found(home.path(), "header nothing"), Vec::<String>::new());
}

#[test]
fn long_queries_and_many_words_are_answered() {
    let home = tempfile::tempdir().unwrap();
    let long = (0..3000).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    record(home.path(), &[&long, "other"]);
    assert_eq!(found(home.path(), &long).len(), 1);
    assert_eq!(found(home.path(), &"word1".repeat(2000)).len(), 0);
}

#[test]
fn a_query_costs_little_among_many_prompts() {
    let home = tempfile::tempdir().unwrap();
    let prompts: Vec<String> =
        (0..20_000).map(|n| format!("please look at module_{n} and fix issue {}", n * 7)).collect();
    for part in prompts.chunks(1000) {
        record(home.path(), &part.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let start = std::time::Instant::now();
    assert_eq!(found(home.path(), "module_12345 ISSUE").len(), 1);
    let took = start.elapsed();
    assert!(took.as_millis() < 500, "{took:?}");
    eprintln!("one of 20,000 prompts found in {took:?}");
}
