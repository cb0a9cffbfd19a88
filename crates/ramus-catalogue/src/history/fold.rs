//! What counts as the same text when prompts are looked for: upper and lower case are alike, character by character.
//!
//! Folding a part gives a part of the folded whole, so that looking for substrings of folded text finds exactly the
//! substrings of the text.

/// How much of a prompt can be found. What was pasted behind that is kept, not indexed.
pub(super) const FINDABLE: usize = 1 << 20;

/// Folds a text. The index passes over zero characters, so they become spaces.
pub(super) fn fold(text: &str) -> String {
    let folded = text.chars().flat_map(char::to_lowercase);
    folded.map(|c| if c == '\0' { ' ' } else { c }).collect()
}

/// Folds the part of a prompt that can be found.
pub(super) fn fold_prompt(prompt: &str) -> String {
    let end = prompt.floor_char_boundary(FINDABLE);
    fold(prompt.get(..end).unwrap_or(prompt))
}

/// Parts a query into folded words, each once.
pub(super) fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = query.split_whitespace().map(fold).collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_alike_in_any_case() {
        assert_eq!(words("Foo  foo\nÄRGER ΟΔΟΣ"), ["foo", "ärger", "οδοσ"]);
        assert_eq!(words(" \t"), Vec::<String>::new());
    }

    #[test]
    fn long_prompts_are_cut_between_characters() {
        let long = "ä".repeat(FINDABLE);
        assert_eq!(fold_prompt(&long).len(), FINDABLE);
        assert_eq!(fold_prompt(&format!("a{long}")).len(), FINDABLE - 1);
    }
}
