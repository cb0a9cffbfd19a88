//! Counting tokens as OpenAI's models do. Other providers publish no tokenizer: there, what they report is the truth and
//! four characters a token the estimate.
//!
//! The invariant: counting takes time in proportion to the text, whatever the text is.

use ramus_model::tokens::Counter;
use ramus_model::usage::ModelName;
use tiktoken::CoreBpe;

/// The longest stretch that is split into tokens in one go. Splitting takes longer than in proportion to stretches without
/// a gap between words, such as a megabyte of one letter; those are counted in pieces, each of which may count one token
/// too many.
const LONGEST: usize = 4_096;

/// Counts with the vocabulary `o200k_base`, which OpenAI's models have used since GPT-4o.
#[derive(Clone, Copy)]
pub struct Bpe {
    vocabulary: &'static CoreBpe,
}

impl Bpe {
    /// Returns the counter of a model; none for a model that is counted otherwise.
    pub fn of(model: &ModelName) -> Option<Self> {
        let is_openai = matches!(model.provider.as_str(), "openai" | "openai-responses");
        let is_older = ["gpt-4-turbo", "gpt-4-0", "gpt-4-1", "gpt-3", "davinci", "babbage"];
        let is_older = model.model == "gpt-4" || is_older.iter().any(|start| model.model.starts_with(start));
        (is_openai && !is_older).then(Self::newest).flatten()
    }

    /// Returns the counter of the newest models.
    pub fn newest() -> Option<Self> {
        tiktoken::get_encoding("o200k_base").map(|vocabulary| Self { vocabulary })
    }
}

impl Counter for Bpe {
    fn count(&self, texts: &[&str]) -> u64 {
        let count = |text: &&str| stretches(text).map(|stretch| self.vocabulary.count(stretch) as u64).sum::<u64>();
        texts.iter().map(count).sum()
    }
}

/// Cuts a text where it has no gap between words for too long. Ordinary text is one stretch.
fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (stretch, others) = rest.split_at_checked(stretch(rest))?;
        rest = others;
        (!stretch.is_empty()).then_some(stretch)
    })
}

/// How long the first stretch is.
fn stretch(text: &str) -> usize {
    let mut gap = 0;
    for (at, window) in text.as_bytes().windows(3).enumerate() {
        // A single space between two things that can be seen always begins a token.
        if let [before, b' ', after] = window
            && before.is_ascii_graphic()
            && after.is_ascii_graphic()
        {
            gap = at + 1;
        }
        if at - gap.min(at) > LONGEST {
            return text.floor_char_boundary(at);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_one_stretch_and_nothing_is_lost() {
        let prose = "words and more words ".repeat(10_000);
        assert_eq!(stretches(&prose).count(), 1);
        for text in ["", "a", "\u{1f642}", &"a".repeat(100_000), &"\u{1f642}".repeat(30_000), &" ".repeat(20_000)] {
            assert_eq!(stretches(text).collect::<String>(), *text);
            assert!(stretches(text).all(|stretch| stretch.len() <= LONGEST + 4));
        }
    }

    #[test]
    fn only_models_whose_vocabulary_is_known_are_counted() {
        let name = |provider: &str, model: &str| ModelName { provider: provider.into(), model: model.into() };
        assert!(Bpe::of(&name("openai", "gpt-5.2")).is_some() && Bpe::of(&name("openai-responses", "o3")).is_some());
        assert!(Bpe::of(&name("openai", "gpt-4o")).is_some() && Bpe::of(&name("openai", "gpt-4.1")).is_some());
        assert!(Bpe::of(&name("openai", "gpt-4-turbo")).is_none() && Bpe::of(&name("openai", "gpt-4")).is_none());
        assert!(Bpe::of(&name("anthropic", "claude-opus-5")).is_none());
    }
}
