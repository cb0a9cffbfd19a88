//! Words as bash would see them: quotes taken away, escapes resolved, and a mark for each part that only running can tell.
//!
//! A word is read letter by letter. Where the grammar found an expansion there must be one, and the other way round.

use std::ops::Range;

use ramus_model::permission::{ANY, WORD};

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text, with marks for what is unknown.
    pub text: String,
    /// Whether the text is exactly what the program gets.
    pub exact: bool,
}

impl Word {
    /// Makes a word whose text is known.
    pub fn exact(text: impl Into<String>) -> Self {
        Self { text: text.into(), exact: true }
    }

    /// Makes a word, or several, of which nothing is known.
    pub fn unknown() -> Self {
        Self { text: ANY.to_string(), exact: false }
    }

    /// Returns the text when it is exactly known.
    pub fn known(&self) -> Option<&str> {
        self.exact.then_some(self.text.as_str())
    }

    /// Says whether the word may turn out to be an option, or several words.
    pub fn may_be_option(&self) -> bool {
        self.text.contains(ANY) || self.text.starts_with([WORD, '-'])
    }

    /// Says whether nobody knows whether the word is an option.
    pub fn is_wild(&self) -> bool {
        self.text.contains(ANY) || self.text.starts_with(WORD)
    }
}

/// An expansion that the grammar found inside a word.
pub(super) struct Expansion {
    /// Where it is in the source.
    pub(super) range: Range<usize>,
    /// Whether it may become several words even inside quotes, as `"$@"` does.
    pub(super) splits: bool,
}

/// Reads the word at `range` of `source`. `expansions` are those inside it, in order.
pub(super) fn read_word(source: &str, range: Range<usize>, expansions: &[Expansion]) -> Result<Word, &'static str> {
    let text = source.get(range.clone()).ok_or("a word outside the command")?;
    let mut reader = Reader {
        text,
        start: range.start,
        at: 0,
        expansions: expansions.iter().peekable(),
        word: Word::exact(String::new()),
        braces: false,
    };
    reader.unquoted()?;
    if reader.expansions.peek().is_some() {
        return Err("an expansion where none should be");
    }
    Ok(if reader.braces { Word::unknown() } else { reader.word })
}

struct Reader<'a, 'b> {
    text: &'a str,
    start: usize,
    at: usize,
    expansions: std::iter::Peekable<std::slice::Iter<'b, Expansion>>,
    word: Word,
    braces: bool,
}

impl Reader<'_, '_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, letter: char) {
        self.word.text.push(letter);
    }

    fn mark(&mut self, mark: char) {
        self.word.text.push(mark);
        self.word.exact = false;
    }

    /// Takes the expansion that starts `back` bytes before here, if the grammar found one.
    fn expansion(&mut self, back: usize) -> Option<(String, bool)> {
        let start = self.start + self.at - back;
        let found = self.expansions.next_if(|next| next.range.start == start)?;
        let (from, to) = (self.at - back, found.range.end.checked_sub(self.start)?);
        let text = self.text.get(from..to)?.to_owned();
        self.at = to;
        Some((text, found.splits))
    }

    fn unquoted(&mut self) -> Result<(), &'static str> {
        while let Some(letter) = self.next() {
            match letter {
                '\\' => match self.next().ok_or("a backslash at the end")? {
                    '\n' => {}
                    escaped => self.push(escaped),
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar()?,
                '`' => {
                    self.expansion(1).ok_or("a backtick that is not understood")?;
                    self.mark(ANY);
                }
                '<' | '>' => {
                    self.expansion(1).ok_or("a redirection inside a word")?;
                    self.mark(WORD);
                }
                '[' if self.text == "[" => self.push('['),
                '*' | '?' | '[' => self.mark(WORD),
                '{' => self.brace(),
                '~' if self.at == 1 || self.word.text.ends_with(['=', ':']) => {
                    self.push('~');
                    self.word.exact = false;
                }
                '|' | '&' | ';' | '(' | ')' | ' ' | '\t' | '\n' => return Err("an operator inside a word"),
                other => self.push(other),
            }
        }
        Ok(())
    }

    /// A brace may make several words of one when a list or a range follows.
    fn brace(&mut self) {
        let rest = self.rest();
        self.braces |= rest.contains('}') && (rest.contains(',') || rest.contains(".."));
        self.push('{');
    }

    fn single(&mut self) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or("an open quote")? {
                '\'' => return Ok(()),
                other => self.push(other),
            }
        }
    }

    fn double(&mut self) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or("an open quote")? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or("an open quote")? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => self.push(escaped),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                '$' => self.dollar_inside()?,
                '`' => {
                    self.expansion(1).ok_or("a backtick that is not understood")?;
                    self.mark(WORD);
                }
                other => self.push(other),
            }
        }
    }

    fn dollar_inside(&mut self) -> Result<(), &'static str> {
        match self.expansion(1) {
            Some((_, splits)) => self.mark(if splits { ANY } else { WORD }),
            None if self.peek().is_some_and(starts_expansion) => return Err("an expansion that is not understood"),
            None => self.push('$'),
        }
        Ok(())
    }

    fn dollar(&mut self) -> Result<(), &'static str> {
        match self.peek() {
            Some('\'') => {
                self.next();
                return self.ansi();
            }
            Some('"') => return Ok(()),
            _ => {}
        }
        match self.expansion(1) {
            Some((text, _)) => self.mark(if matches!(text.as_str(), "$?" | "$$" | "$#" | "$!") { WORD } else { ANY }),
            None if self.peek().is_some_and(starts_expansion) => return Err("an expansion that is not understood"),
            None => self.push('$'),
        }
        Ok(())
    }

    /// Reads the rest of `$'…'`.
    fn ansi(&mut self) -> Result<(), &'static str> {
        loop {
            let letter = match self.next().ok_or("an open quote")? {
                '\'' => return Ok(()),
                '\\' => self.escape()?,
                other => other,
            };
            if letter == '\0' {
                return Err("a zero byte in a word");
            }
            self.push(letter);
        }
    }

    fn escape(&mut self) -> Result<char, &'static str> {
        Ok(match self.next().ok_or("an open quote")? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            same @ ('\\' | '\'' | '"' | '?') => same,
            'x' => self.digits(16, 2, 0)?,
            'u' => self.digits(16, 4, 0)?,
            'U' => self.digits(16, 8, 0)?,
            first @ '0'..='7' => self.digits(8, 2, first.to_digit(8).unwrap_or(0))?,
            _ => return Err("an escape that is not understood"),
        })
    }

    /// Reads a character by its number. Only ASCII is taken: what else it means depends on the locale.
    fn digits(&mut self, radix: u32, most: usize, first: u32) -> Result<char, &'static str> {
        let mut number = first;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(radix)) else { break };
            number = number.saturating_mul(radix).saturating_add(digit);
            self.next();
        }
        match u8::try_from(number) {
            Ok(byte) if byte.is_ascii() => Ok(char::from(byte)),
            _ => Err("a character by its number"),
        }
    }
}

/// Says whether a `$` in front of this letter starts an expansion.
fn starts_expansion(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '{' | '(' | '[' | '@' | '*' | '#' | '?' | '-' | '$' | '!')
}
