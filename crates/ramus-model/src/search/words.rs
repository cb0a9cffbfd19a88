//! Words: what text is cut into.
//!
//! A word is a run of letters and digits, folded. In scripts without spaces every character is a word. A word with a change
//! of case in it (`camelCase`, `HTTPServer`) has parts as well. A run that is longer than [`LONGEST`] is several words.

use std::ops::Range;

use super::fold::{self, Class};

/// Parts the streams of an index where no phrase may go on; no text has it as a word.
pub const BREAK: &str = "\u{10ffff}";

/// The bytes of the longest word.
const LONGEST: usize = 128;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'w> {
    /// The word, folded.
    pub text: &'w str,
    /// Where it stands in the text.
    pub at: Range<usize>,
    /// Where changes of case part it.
    cuts: &'w [usize],
}

impl<'w> Word<'w> {
    /// Iterates over the parts of a word with changes of case; none for any other.
    pub fn parts(&self) -> impl Iterator<Item = &'w str> + use<'w> {
        let (text, cuts) = (self.text, self.cuts);
        let starts = (!cuts.is_empty()).then_some(0).into_iter().chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([text.len()]);
        starts.zip(ends).filter_map(move |(start, end)| text.get(start..end)).filter(|part| !part.is_empty())
    }
}

/// Cuts text into words, and keeps the memory it needs for that.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    folded: String,
    cuts: Vec<usize>,
}

const BREAKS: u8 = 0;
const SMALL: u8 = 1;
const CAPITAL: u8 = 2;
const WIDE: u8 = 3;

const CLASSES: [u8; 256] = {
    let mut classes = [BREAKS; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "an index out of range does not compile")]
        {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' | b'0'..=b'9' => SMALL,
                b'A'..=b'Z' => CAPITAL,
                0x80.. => WIDE,
                _ => BREAKS,
            };
        }
        byte += 1;
    }
    classes
};

fn class_of(byte: u8) -> u8 {
    // Every byte has a class; the compiler sees that too.
    CLASSES.get(usize::from(byte)).copied().unwrap_or(BREAKS)
}

impl Splitter {
    /// Hands every word of `text` to `take`, in order.
    pub fn split(&mut self, text: &str, mut take: impl FnMut(Word<'_>)) {
        let bytes = text.as_bytes();
        let mut position = 0;
        while let Some(&byte) = bytes.get(position) {
            if class_of(byte) == BREAKS {
                position += 1;
                continue;
            }
            let start = position;
            // What the run is made of; most runs are small letters only.
            let mut seen = 0;
            while let Some(&byte) = bytes.get(position) {
                let class = class_of(byte);
                if class == BREAKS || class == WIDE {
                    break;
                }
                seen |= class;
                position += 1;
            }
            if bytes.get(position).is_some_and(|byte| class_of(*byte) == WIDE) {
                position = self.wide(text, start, &mut take);
                continue;
            }
            let run = text.get(start..position).unwrap_or_default();
            if seen == SMALL && run.len() <= LONGEST {
                take(Word { text: run, at: start..position, cuts: &[] });
            } else {
                self.capital(run, start, &mut take);
            }
        }
    }

    /// A run of ASCII with capitals in it, or a very long one.
    fn capital(&mut self, run: &str, start: usize, take: &mut impl FnMut(Word<'_>)) {
        self.folded.clear();
        self.cuts.clear();
        self.folded.push_str(run);
        self.folded.make_ascii_lowercase();
        let mut before = None;
        for (at, pair) in run.as_bytes().windows(2).enumerate() {
            let &[byte, next] = pair else { continue };
            self.cut(at, before, char::from(byte), Some(char::from(next)));
            before = Some(char::from(byte));
        }
        if let Some(last) = run.len().checked_sub(1) {
            self.cut(last, before, run.as_bytes().last().copied().map_or(' ', char::from), None);
        }
        self.emit(start..start + run.len(), take);
    }

    /// Notes a change of case in front of `c`, which stands at `at` of the folded word.
    fn cut(&mut self, at: usize, before: Option<char>, c: char, next: Option<char>) {
        let Some(before) = before.filter(|_| c.is_uppercase()) else { return };
        let leads = next.is_some_and(char::is_lowercase);
        if before.is_lowercase() || leads && before.is_alphanumeric() {
            self.cuts.push(at);
        }
    }

    /// A run with characters above ASCII in it, from `start` on. Returns where it ends.
    fn wide(&mut self, text: &str, start: usize, take: &mut impl FnMut(Word<'_>)) -> usize {
        self.folded.clear();
        self.cuts.clear();
        let rest = text.get(start..).unwrap_or_default();
        let mut word_start = start;
        let mut before = None;
        let mut chars = rest.char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            let at = start + offset;
            let class = match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
                '\0'..='\x7f' => Class::Break,
                wide => fold::class(wide),
            };
            match class {
                Class::Letter => {
                    if self.folded.is_empty() {
                        word_start = at;
                    }
                    self.cut(self.folded.len(), before, c, chars.peek().map(|(_, next)| *next));
                    fold::fold_any(c, &mut self.folded);
                    before = Some(c);
                }
                Class::Mark if self.folded.is_empty() => {}
                Class::Mark => fold::fold(c, &mut self.folded),
                Class::Single => {
                    self.emit(word_start..at, take);
                    before = None;
                    fold::fold(c, &mut self.folded);
                    self.emit(at..at + c.len_utf8(), take);
                    word_start = at + c.len_utf8();
                }
                Class::Break => {
                    self.emit(word_start..at, take);
                    return at + c.len_utf8();
                }
            }
        }
        self.emit(word_start..text.len(), take);
        text.len()
    }

    /// Hands out what was folded.
    fn emit(&mut self, at: Range<usize>, take: &mut impl FnMut(Word<'_>)) {
        if !self.folded.is_empty() && self.folded.len() <= LONGEST {
            take(Word { text: &self.folded, at, cuts: &self.cuts });
        } else {
            let mut rest = self.folded.as_str();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at_checked(longest(rest)).unwrap_or((rest, ""));
                take(Word { text: piece, at: at.clone(), cuts: &[] });
                rest = after;
            }
        }
        self.folded.clear();
        self.cuts.clear();
    }
}

/// The longest start of a run that may be one word.
fn longest(run: &str) -> usize {
    (0..=LONGEST.min(run.len())).rev().find(|at| *at > 0 && run.is_char_boundary(*at)).unwrap_or(run.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Splitter::default().split(text, |word| {
            let parts: Vec<&str> = word.parts().collect();
            let parts = if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) };
            words.push(format!("{}{parts}", word.text));
            assert!(text.get(word.at.clone()).is_some_and(|at| !at.is_empty()), "{word:?}");
        });
        words
    }

    #[test]
    fn text_is_cut_where_people_would() {
        for (text, expected) in [
            ("", &[][..]),
            ("  two words\n", &["two", "words"]),
            ("parse_header, src/main.rs", &["parse", "header", "src", "main", "rs"]),
            (
                "camelCase HTTPServer parseURL iOS",
                &["camelcase(camel case)", "httpserver(http server)", "parseurl(parse url)", "ios(i os)"],
            ),
            (
                "utf8String sha256 Hello WORLD E0277 3F2A",
                &["utf8string(utf8 string)", "sha256", "hello", "world", "e0277", "3f2a"],
            ),
            ("東京へ行くtokyoへ", &["東", "京", "へ", "行", "く", "tokyo", "へ"]),
            ("naïve Café e\u{301}te\u{301} x\u{301}", &["naive", "cafe", "ete", "x"]),
            ("ÜberGröße", &["ubergrosse(uber grosse)"]),
            ("한국어 ไทย", &["한", "국", "어", "ไ", "ท", "ย"]),
            ("\u{301}a 🦀 b", &["a", "b"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_runs_are_several_words() {
        let cut = words(&"a".repeat(300));
        assert_eq!(cut.iter().map(String::len).collect::<Vec<_>>(), [128, 128, 44]);
        let cut = words(&"é".repeat(300));
        assert_eq!(cut.concat(), "e".repeat(300));
        let cut = words(&"क".repeat(100));
        assert_eq!(cut.concat(), "क".repeat(100));
        assert!(cut.iter().all(|word| word.len() <= LONGEST));
    }

    #[test]
    fn words_know_where_they_stand() {
        let text = "Die Größe der日本";
        let mut found = Vec::new();
        Splitter::default().split(text, |word| found.push(text[word.at].to_owned()));
        assert_eq!(found, ["Die", "Größe", "der", "日", "本"]);
    }
}
