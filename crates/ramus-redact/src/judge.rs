//! Whether a value looks like something nobody typed, or stands for something else.

/// How much of a value is looked at.
pub(crate) const SAMPLE: usize = 128;

/// What a character is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Symbol,
}

/// What a value consists of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Makeup {
    /// How many letters.
    pub(crate) letters: usize,
    /// How many digits.
    pub(crate) digits: usize,
    /// How many symbols that words are not joined with.
    pub(crate) symbols: usize,
    /// How often one kind of character follows another in a way that words do not.
    changes: usize,
    /// How many characters were looked at.
    len: usize,
    /// How many of them differ.
    distinct: usize,
}

impl Makeup {
    /// Looks at the beginning of a value.
    pub(crate) fn of(value: &[u8]) -> Self {
        let mut makeup = Self::default();
        let mut last = None;
        let mut seen = [false; 256];
        for byte in value.iter().take(SAMPLE) {
            makeup.len += 1;
            if let Some(seen) = seen.get_mut(usize::from(*byte))
                && !std::mem::replace(seen, true)
            {
                makeup.distinct += 1;
            }
            let class = match byte {
                b'a'..=b'z' => Class::Lower,
                b'A'..=b'Z' => Class::Upper,
                b'0'..=b'9' => Class::Digit,
                // What words are joined with says nothing.
                b'_' | b'-' | b'.' | b'/' | b':' | b' ' | b'@' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => continue,
                _ => Class::Symbol,
            };
            match class {
                Class::Lower | Class::Upper => makeup.letters += 1,
                Class::Digit => makeup.digits += 1,
                Class::Symbol => makeup.symbols += 1,
            }
            // A capital that a word begins with is no change.
            let is_word = last == Some(Class::Upper) && class == Class::Lower;
            makeup.changes += usize::from(last.is_some_and(|last| last != class) && !is_word);
            last = Some(class);
        }
        makeup
    }

    /// Whether characters follow each other as if drawn by lot.
    fn is_mixed(&self) -> bool {
        self.changes * 5 >= self.len && self.distinct * 3 >= self.len.min(24) && self.distinct >= 6
    }
}

/// Whether a value looks as if drawn by lot: a key, not a name.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_no_word = makeup.digits > 0 || makeup.symbols > 0 || makeup.len >= 20;
    makeup.len >= 10 && makeup.is_mixed() && is_no_word && makeup.letters > 0
}

/// Whether a line goes on with a value that the line before it began: no word, no name.
pub(crate) fn continues(next: &[u8]) -> bool {
    let makeup = Makeup::of(next);
    makeup.changes * 8 >= makeup.len && makeup.distinct >= 6
}

/// Whether a value is long enough and random enough to be a key although its name says little.
pub(crate) fn is_surely_random(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.len >= 20 && is_random(value) && makeup.digits >= 2 && makeup.digits < makeup.len - 4
}

/// Whether a value is one that somebody chose to keep others out: not a word, not a name.
pub(crate) fn is_chosen(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_no_word = makeup.digits > 0 || makeup.symbols > 0 || (makeup.len >= 10 && makeup.changes * 6 >= makeup.len);
    makeup.len >= 6 && makeup.distinct >= 4 && is_no_word && makeup.letters > 0
}

/// Whether a value stands for another one, or says that there is none.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "your",
        "my-",
        "my_",
        "change",
        "example",
        "placeholder",
        "dummy",
        "xxx",
        "todo",
        "insert",
        "replace",
        "redacted",
        "process.env",
        "os.environ",
        "os.getenv",
        "env.",
        "env(",
        "import.meta",
        "vault:",
        "secretref",
        "secret:",
        "file:",
        "none",
        "null",
        "undefined",
        "required",
        "optional",
        "string",
        "[redacted",
    ];
    let head = value.get(..SAMPLE.min(value.len())).unwrap_or_default();
    let starts = |word: &&str| head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    let refers = matches!(head.first(), Some(b'$' | b'<' | b'{' | b'%' | b'&' | b'(' | b'['))
        // A percent sign that begins an escape is none.
        && !(head.first() == Some(&b'%') && head.get(1..3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
        && (head.len() < 12 || !is_random(head) || head.starts_with(b"${") || head.starts_with(b"$("));
    let is_code = memchr::memchr3(b'(', b'$', b'{', head).is_some() && !is_random(head);
    let is_masked = head.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'#'));
    refers || is_code || is_masked || WORDS.iter().any(starts) || memchr::memmem::find(head, b"...").is_some()
}
