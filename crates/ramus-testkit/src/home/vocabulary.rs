//! The words of a home: a few that are everywhere and thousands that are rare, as in every language, and among them what
//! work with code is full of: identifiers, paths, other scripts.

use crate::random::Random;

/// How many words there are.
const WORDS: usize = 4_096;
/// How many places they share; a word has as many as it is frequent.
const PLACES: usize = 1 << 16;

/// The most frequent words, the most frequent first.
const FREQUENT: [&str; 48] = [
    "the", "to", "a", "of", "and", "is", "in", "it", "that", "for", "this", "with", "on", "not", "be", "as", "file",
    "we", "if", "test", "from", "are", "error", "let", "return", "when", "code", "so", "now", "then", "should", "run",
    "line", "function", "but", "all", "use", "value", "does", "which", "after", "change", "fn", "fails", "because",
    "read", "check", "still",
];
const SYLLABLES: [&str; 32] = [
    "ba", "cor", "den", "fil", "gra", "hex", "in", "jo", "kel", "lum", "mar", "nod", "or", "par", "que", "ren", "sor",
    "tam", "un", "ver", "wil", "xen", "yar", "zo", "bri", "cla", "dro", "est", "fron", "gli", "hal", "ist",
];
const OTHER_SCRIPTS: [&str; 24] = [
    "解析",
    "错误",
    "文件",
    "测试",
    "修复",
    "日本語",
    "エラー",
    "テスト",
    "ファイル",
    "설정",
    "오류",
    "테스트",
    "ошибка",
    "проверка",
    "σφάλμα",
    "naïve",
    "größe",
    "façade",
    "año",
    "Übung",
    "ใช้",
    "привет",
    "会话",
    "検索",
];
const FOLDERS: [&str; 8] = ["src", "crates", "tests", "lib", "docs", "internal", "web", "pkg"];
const ENDINGS: [&str; 8] = ["rs", "ts", "py", "go", "md", "toml", "json", "c"];
const PROJECTS: [&str; 10] =
    ["ledger", "atlas", "harbor", "lantern", "quarry", "meadow", "signal", "copper", "willow", "drift"];

/// A name for the project of this number; names repeat.
pub(super) fn project(number: usize) -> &'static str {
    pick(&PROJECTS, number % PROJECTS.len())
}

/// Words, each as often as it occurs.
pub(super) struct Vocabulary {
    words: Vec<String>,
    places: Vec<u16>,
}

impl Vocabulary {
    /// Makes the words that belong to `seed`. None holds a character that JSON would escape.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x766f_6361_6275_6c61);
        let mut words: Vec<String> = FREQUENT.map(str::to_owned).into();
        while words.len() < WORDS {
            words.push(word(&mut random));
        }
        // The n-th word is about n times as rare as the first.
        let weight = |rank: usize| 1.0 / (rank as f64 + 2.7).powf(1.05);
        let total: f64 = (0..WORDS).map(weight).sum();
        let mut places = Vec::with_capacity(PLACES);
        let mut sum = 0.0;
        for rank in 0..WORDS {
            sum += weight(rank);
            let end = (sum / total * PLACES as f64).round() as usize;
            places.resize(end.min(PLACES), rank as u16);
        }
        places.resize(PLACES, 0);
        Self { words, places }
    }

    /// Returns one of the words; sixteen bits decide.
    pub(super) fn word(&self, bits: u16) -> &str {
        let rank = self.places.get(usize::from(bits)).copied().unwrap_or(0);
        self.words.get(usize::from(rank)).map_or("the", String::as_str)
    }
}

fn word(random: &mut Random) -> String {
    match random.below(100) {
        0..70 => syllables(random),
        70..78 => format!("{}_{}", syllables(random), syllables(random)),
        78..85 => format!("{}{}", syllables(random), capital(&syllables(random))),
        85..88 => format!("HTTP{}", capital(&syllables(random))),
        88..95 => path(random),
        _ => pick(&OTHER_SCRIPTS, random.below(OTHER_SCRIPTS.len())).to_owned(),
    }
}

/// A made-up word of two to four syllables.
pub(super) fn syllables(random: &mut Random) -> String {
    (0..2 + random.below(3)).map(|_| pick(&SYLLABLES, random.below(SYLLABLES.len()))).collect()
}

/// A made-up path of a source file.
pub(super) fn path(random: &mut Random) -> String {
    let (folder, ending) = (pick(&FOLDERS, random.below(8)), pick(&ENDINGS, random.below(8)));
    format!("{folder}/{}/{}.{ending}", syllables(random), syllables(random))
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn pick<const N: usize>(words: &[&'static str; N], at: usize) -> &'static str {
    words.get(at).copied().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_need_no_escaping_and_are_not_the_markers() {
        let vocabulary = Vocabulary::new(1);
        for word in &vocabulary.words {
            assert!(!word.is_empty() && !word.contains(['"', '\\']) && !word.chars().any(char::is_control), "{word}");
            let marked = [crate::home::RARE, crate::home::COMMON].map(|marker| word.starts_with(&marker[..4]));
            assert_eq!(marked, [false, false], "{word}");
        }
    }

    #[test]
    fn some_words_are_everywhere_and_most_are_rare() {
        let vocabulary = Vocabulary::new(1);
        let count = |rank: u16| vocabulary.places.iter().filter(|place| **place == rank).count();
        assert!(count(0) > 2_000, "{}", count(0));
        assert!((1..10).contains(&count(4_000)), "{}", count(4_000));
    }
}
