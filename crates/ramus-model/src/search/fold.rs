//! Folding: the form in which letters are compared.
//!
//! Case never counts. In the Latin, Greek and Cyrillic scripts and in full-width Latin accents do not count either; every
//! other letter stays what it is, because there a mark is often the difference between two words.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// What a character is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It parts words.
    Break,
    /// Words are made of it.
    Letter,
    /// It is a word of its own: its script is written without spaces.
    Single,
    /// It belongs to the letter before it.
    Mark,
}

/// Says what a character above ASCII is.
pub(super) fn class(c: char) -> Class {
    if is_spaceless(c) {
        return if c.is_alphanumeric() || is_combining_mark(c) { Class::Single } else { Class::Break };
    }
    if c.is_alphanumeric() {
        Class::Letter
    } else if is_combining_mark(c) {
        Class::Mark
    } else {
        Class::Break
    }
}

/// Appends the folded form of a letter or mark, which may be nothing.
pub(super) fn fold(c: char, out: &mut String) {
    if is_accent(c) {
        return;
    }
    if !is_european(c) {
        out.extend(c.to_lowercase());
        return;
    }
    decompose_compatible(c, |part| {
        for lower in part.to_lowercase().filter(|lower| lower.is_alphanumeric()) {
            match lower {
                'ß' => out.push_str("ss"),
                'æ' => out.push_str("ae"),
                'œ' => out.push_str("oe"),
                'ø' => out.push('o'),
                'ł' => out.push('l'),
                'đ' => out.push('d'),
                'ı' => out.push('i'),
                'ς' => out.push('σ'),
                other => out.push(other),
            }
        }
    });
}

/// Like [`fold`], for any letter or digit.
pub(super) fn fold_any(c: char, out: &mut String) {
    if c.is_ascii() { out.push(c.to_ascii_lowercase()) } else { fold(c, out) }
}

/// The marks that accents of European letters are written with.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Latin, Greek, Cyrillic and full-width Latin.
fn is_european(c: char) -> bool {
    matches!(c, '\u{aa}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{1e00}'..='\u{1fff}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{a640}'..='\u{a69f}' | '\u{a720}'..='\u{a7ff}' | '\u{fb00}'..='\u{fb06}'
        | '\u{ff01}'..='\u{ff5e}')
}

/// Scripts that are written without spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Myanmar, Hangul letters, Khmer
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{19e0}'..='\u{19ff}'
        // Han radicals, marks of Han, Hiragana, Katakana, Bopomofo, Hangul letters
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3040}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        // Han, Hangul, Myanmar
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| fold(c, &mut out));
        out
    }

    #[test]
    fn case_and_accents_do_not_count() {
        assert_eq!(folded("ÉcoleÑandúÅ"), "ecolenandua");
        assert_eq!(folded("e\u{301}cole"), "ecole");
        assert_eq!(folded("ΟΔΟΣ"), folded("οδος"));
        assert_eq!(folded("Ёлка"), "елка");
        assert_eq!(folded("ＡＢＣ１"), "abc1");
        assert_eq!(folded("Straße"), folded("STRASSE"));
        assert_eq!(folded("İı"), "ii");
    }

    #[test]
    fn other_letters_stay_what_they_are() {
        assert_eq!(folded("が"), "が");
        assert_eq!(folded("क्षि"), "क्षि");
        assert_eq!(folded("שָׁלוֹם"), "שָׁלוֹם");
    }

    #[test]
    fn scripts_without_spaces_are_known() {
        for c in ['日', 'ひ', 'カ', '한', 'ไ', 'ລ', 'ម', 'မ', 'ｶ', '𠀋'] {
            assert_eq!(class(c), Class::Single, "{c}");
        }
        for (c, expected) in
            [('é', Class::Letter), ('ж', Class::Letter), ('。', Class::Break), ('\u{301}', Class::Mark)]
        {
            assert_eq!(class(c), expected, "{c}");
        }
    }
}
