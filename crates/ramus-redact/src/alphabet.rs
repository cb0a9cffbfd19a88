//! Sets of bytes, and how far a run of them goes.

/// A set of ASCII characters.
#[derive(Clone, Copy)]
pub struct Alphabet([bool; 256]);

impl Alphabet {
    /// Letters, digits, and these.
    pub const fn word_and(more: &[u8]) -> Self {
        Self::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").and(more)
    }

    /// These and no others.
    pub const fn of(these: &[u8]) -> Self {
        Self([false; 256]).and(these)
    }

    #[expect(clippy::indexing_slicing, reason = "a constant is made: a wrong index does not compile")]
    const fn and(mut self, more: &[u8]) -> Self {
        let mut at = 0;
        while at < more.len() {
            self.0[more[at] as usize] = true;
            at += 1;
        }
        self
    }

    /// Says whether a byte belongs to it.
    pub fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Returns how many bytes at the start of `text` belong to it, `most` at most.
    pub fn run(&self, text: &[u8], most: usize) -> usize {
        text.iter().take(most).take_while(|byte| self.has(**byte)).count()
    }
}

/// Knows how far runs go in a text. A run that was followed to its end is not followed again from its middle, so asking at
/// every place costs no more than asking once.
pub(crate) struct Runs<'t> {
    /// The text.
    pub(crate) text: &'t [u8],
    /// For each alphabet, the run that was followed last.
    known: Vec<(*const Alphabet, usize, usize)>,
}

impl<'t> Runs<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { text, known: Vec::new() }
    }

    /// Returns where the run of an alphabet ends that goes through `at`.
    pub(crate) fn end(&mut self, alphabet: &'static Alphabet, at: usize) -> usize {
        let name = std::ptr::from_ref(alphabet);
        let known = self.known.iter().position(|(other, ..)| *other == name);
        if let Some((_, start, end)) = known.and_then(|index| self.known.get(index))
            && (*start..=*end).contains(&at)
        {
            return *end;
        }
        let end = at + alphabet.run(self.text.get(at..).unwrap_or_default(), usize::MAX);
        match known.and_then(|index| self.known.get_mut(index)) {
            Some(known) => *known = (name, at, end),
            None => self.known.push((name, at, end)),
        }
        end
    }
}

/// Hexadecimal digits of either case.
pub(crate) const HEX: &Alphabet = &Alphabet::of(b"0123456789abcdefABCDEF");
/// Decimal digits.
pub(crate) const DIGIT: &Alphabet = &Alphabet::of(b"0123456789");
/// Capitals and digits.
pub(crate) const UPPER: &Alphabet = &Alphabet::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
/// Small letters and digits.
pub(crate) const LOWER: &Alphabet = &Alphabet::of(b"abcdefghijklmnopqrstuvwxyz0123456789");
/// Letters and digits.
pub(crate) const ALNUM: &Alphabet = &Alphabet::word_and(b"");
/// What base64 for URLs uses.
pub(crate) const URL: &Alphabet = &Alphabet::word_and(b"-_");
/// The same and dots.
pub(crate) const DOTTED: &Alphabet = &Alphabet::word_and(b"-_.");
/// The same, and what fills base64 up.
pub(crate) const PADDED: &Alphabet = &Alphabet::word_and(b"-_.=");
/// What base64 uses.
pub(crate) const BASE64: &Alphabet = &Alphabet::word_and(b"+/=");

/// Whether a token can begin behind this byte: nothing that would make it the end of a longer word.
pub(crate) fn is_boundary(before: Option<u8>) -> bool {
    before.is_none_or(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
}
