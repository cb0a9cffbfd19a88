//! Searching, against definitions written without looking at how it is done.

use proptest::prelude::*;
use ramus_model::search::{BREAK, Document, Matcher, Prefilter, Query, Reading, Snippet, Splitter, Streams};
use serde_json::json;

/// An entry with these texts, as a line of a log.
fn line(texts: &[String]) -> Vec<u8> {
    let parts: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    json!({"type": "message", "id": "a1", "parentId": null, "message": {"role": "user", "content": parts}})
        .to_string()
        .into_bytes()
}

fn document(texts: &[String]) -> Document {
    let mut document = Document::default();
    document.read(&line(texts));
    document
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Whether an entry is found, by everything that must agree on it.
fn finds(texts: &[String], query: &str) -> bool {
    let Ok(query) = Query::parse(query, Reading::default()) else { return false };
    let holds = Matcher::new(&query).judge(&document(texts)).0;
    if holds {
        assert!(Prefilter::new(&query).may_match(&line(texts)), "{query} is filtered out of {texts:?}");
    }
    if query.phrases().count() == query.terms().len() {
        assert_eq!(holds, in_streams(texts, &query), "{query} in {texts:?}: the index says otherwise");
    }
    holds
}

/// Whether the streams of an index have what a query of one phrase asks for: plain words, one after the other.
fn in_streams(texts: &[String], query: &Query) -> bool {
    let mut streams = Streams::default();
    document(texts).index(&mut Splitter::default(), &mut streams);
    query.phrases().all(|phrase| {
        [&streams.words, &streams.parts].into_iter().any(|stream| {
            let words: Vec<&str> = stream.split_ascii_whitespace().collect();
            phrase.ways().any(|way| {
                words.windows(way.len()).any(|window| {
                    window.iter().zip(way).enumerate().all(|(at, (word, wanted))| {
                        word == wanted || phrase.is_prefix() && at + 1 == way.len() && word.starts_with(wanted.as_str())
                    })
                })
            })
        })
    })
}

/// Words as anyone would cut them: runs of letters and digits of scripts that part words.
fn naive_words(text: &str) -> Vec<String> {
    let spaced =
        |c: char| c.is_alphanumeric() && (c.is_ascii() || matches!(c, 'à'..='ÿ' | 'α'..='ω' | 'а'..='я' | 'À'..='Þ'));
    text.split(|c| !spaced(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn prose() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        "[a-z]{1,5}[A-Z][a-z]{1,5}",
        "[A-Z]{2,4}[a-z]{1,4}",
        "[a-z]{1,4}_[a-z0-9]{1,4}",
        "[а-яà-ÿ]{1,6}",
        "[A-Za-z0-9]{1,10}",
        "[a-z]{120,300}",
    ];
    prop::collection::vec(
        (word, prop_oneof![Just(" "), Just("\n"), Just("."), Just("("), Just("/"), Just("::")]),
        1..12,
    )
    .prop_map(|pairs| pairs.into_iter().map(|(word, gap)| word + gap).collect())
}

proptest! {
    #[test]
    fn every_word_is_found_by_itself(text in prose()) {
        let texts = [text.clone()];
        for word in naive_words(&text) {
            prop_assert!(finds(&texts, &format!("\"{word}\"")), "{word} in {text:?}");
            prop_assert!(finds(&texts, &format!("\"{}\"", word.to_uppercase())), "{word} shouted in {text:?}");
            let half: String = word.chars().take(word.chars().count().div_ceil(2)).collect();
            prop_assert!(finds(&texts, &format!("\"{half}\"*")), "{half}* in {text:?}");
        }
    }

    #[test]
    fn words_that_follow_each_other_are_a_phrase(text in prose(), other in prose()) {
        let texts = [text.clone(), other];
        let words = naive_words(&text);
        for pair in words.windows(2) {
            prop_assert!(finds(&texts, &format!("\"{} {}\"", pair[0], pair[1])), "{pair:?} in {text:?}");
        }
        prop_assert!(finds(&texts, &quoted(&text)));
    }

    #[test]
    fn no_phrase_goes_from_one_piece_into_the_next(one in "[a-m]{3,6}", other in "[n-z]{3,6}") {
        prop_assert!(!finds(&[one.clone(), other.clone()], &quoted(&[&*one, &*other].join(" "))));
        prop_assert!(finds(&[one.clone(), other.clone()], &one) && finds(&[one, other.clone()], &other));
    }

    #[test]
    fn scripts_without_spaces_are_found_by_any_part(text in "[日本語東京東大阪ひらカタ한국ไทย]{1,12}", start in 0..12usize, length in 1..6usize) {
        let part: String = text.chars().skip(start % text.chars().count()).take(length).collect();
        prop_assert!(finds(&[format!("x{text}y")], &part), "{part} in {text}");
        let absent = format!("{part}鼠");
        prop_assert!(!finds(&[text], &absent));
    }

    #[test]
    fn anything_can_be_searched_for_anything(text in any::<String>(), query in any::<String>(), budget in 0..200usize) {
        let texts = [text];
        finds(&texts, &query);
        let Ok(query) = Query::parse(&query, Reading { now: 0, typing: true }) else { return Ok(()) };
        let again = Query::parse(&query.to_string(), Reading::default());
        prop_assert!(again.is_ok(), "{query} does not read as itself");
        let document = document(&texts);
        let snippet = Snippet::of(&document, &mut Matcher::new(&query), budget).text();
        prop_assert!(snippet.chars().count() <= budget + 2, "{snippet:?}");
    }

    #[test]
    fn words_know_their_place_and_never_break_a_stream(text in any::<String>()) {
        let mut last = 0;
        Splitter::default().split(&text, |word| {
            assert!(text.get(word.at.clone()).is_some_and(|at| !at.is_empty()));
            assert!(word.at.start >= last || word.at.end == last, "{word:?} in {text:?}");
            last = word.at.end;
            let is_plain = |word: &str| !word.is_empty() && !word.contains(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
            assert!(is_plain(word.text) && word.text != BREAK && word.parts().all(is_plain), "{word:?}");
            assert!(!word.text.bytes().any(|byte| byte.is_ascii_uppercase()), "{word:?}");
        });
    }
}
