//! The external form of terms, as it is stored. What it may cost to read it has bounds: a byte can ask for much more memory
//! than it takes, and what only looks like a block can lead to the same bytes again and again.

use super::term::Term;
use crate::error::Error;
use crate::limits::{Limits, quoted_len};

/// How deep terms may be nested.
const DEPTH: usize = 64;
/// The first byte of every term.
const VERSION: u8 = 131;
/// The second byte of one that is compressed.
const COMPRESSED: u8 = 80;

/// What reading a table may still cost.
pub(super) struct Budget {
    /// Bytes of memory for terms.
    memory: usize,
    /// Terms and blocks that are looked at.
    steps: usize,
}

/// Why a term could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It has a part of this kind, which is unknown, or not as it should be.
    Tag(u8),
    /// It is not all there.
    Short,
    /// It is nested too deep.
    Deep,
    /// Nothing more may be read.
    Budget,
}

impl Budget {
    /// What reading a table of so many bytes may cost.
    pub(super) fn of(bytes: usize, limits: Limits) -> Self {
        // A table that is sound takes each of its bytes twice at most: to find its blocks, and to read them.
        Self { memory: limits.line.saturating_mul(2), steps: bytes.saturating_mul(4).saturating_add(1 << 16) }
    }

    /// Takes a step of looking for something.
    pub(super) fn step(&mut self) -> Result<(), Unread> {
        self.steps = self.steps.checked_sub(1).ok_or(Unread::Budget)?;
        Ok(())
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Unread> {
        self.memory = self.memory.checked_sub(bytes).ok_or(Unread::Budget)?;
        Ok(())
    }
}

/// What is said when nothing more may be read.
pub(super) fn exhausted() -> Error {
    Error::Limit("the table has more in it than its size allows for, or leads nowhere too often".into())
}

/// Reads a term at the start of `bytes`; what follows does not matter.
pub(super) fn term(bytes: &[u8], budget: &mut Budget) -> Result<Term, Unread> {
    let rest = bytes.strip_prefix(&[VERSION]).ok_or(Unread::Short)?;
    let Some(packed) = rest.strip_prefix(&[COMPRESSED]) else { return Reader { rest, budget }.term(0) };
    let (size, packed) = packed.split_at_checked(4).ok_or(Unread::Short)?;
    let size = size.iter().fold(0, |size, byte| size << 8 | usize::from(*byte));
    budget.hold(size)?;
    let inflated = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size);
    let inflated = inflated.map_err(|_| Unread::Tag(COMPRESSED))?;
    Reader { rest: &inflated, budget }.term(0)
}

/// Says whether bytes could be an object: a term that is a pair, whatever is in it.
pub(super) fn is_pair(bytes: &[u8]) -> bool {
    matches!(bytes, [VERSION, COMPRESSED, ..] | [VERSION, 104, 2, ..] | [VERSION, 105, 0, 0, 0, 2, ..])
}

/// The key of a pair.
pub(super) fn key(bytes: &[u8], budget: &mut Budget) -> Option<Term> {
    let rest = match bytes {
        [VERSION, 104, 2, rest @ ..] | [VERSION, 105, 0, 0, 0, 2, rest @ ..] => rest,
        _ => return None,
    };
    Reader { rest, budget }.term(1).ok()
}

struct Reader<'a, 'b> {
    rest: &'a [u8],
    budget: &'b mut Budget,
}

impl<'a> Reader<'a, '_> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Unread> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Unread::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes bytes that are held in memory.
    fn held(&mut self, count: usize) -> Result<Vec<u8>, Unread> {
        let taken = self.take(count)?;
        self.budget.hold(count)?;
        Ok(taken.to_vec())
    }

    /// Takes a number of so many bytes.
    fn number(&mut self, bytes: usize) -> Result<usize, Unread> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Nesting is limited, so that recursion is.
    fn term(&mut self, depth: usize) -> Result<Term, Unread> {
        self.budget.step()?;
        if depth > DEPTH {
            return Err(Unread::Deep);
        }
        let before = self.rest;
        let tag = u8::try_from(self.number(1)?).map_err(|_| Unread::Short)?;
        Ok(match tag {
            97 => Term::Integer(i64::try_from(self.number(1)?).map_err(|_| Unread::Tag(tag))?),
            98 => Term::Integer(i64::from(i32::from_be_bytes(self.array()?))),
            70 => Term::Float(f64::from_be_bytes(self.array()?)),
            99 => Term::Float(old_float(self.take(31)?).ok_or(Unread::Tag(tag))?),
            110 | 111 => {
                let count = self.number(if tag == 110 { 1 } else { 4 })?;
                self.big(count)?
            }
            100 | 115 | 118 | 119 => {
                let count = self.number(if matches!(tag, 100 | 118) { 2 } else { 1 })?;
                let name = self.held(count)?;
                Term::Atom(match tag {
                    100 | 115 => name.iter().map(|byte| char::from(*byte)).collect(),
                    _ => String::from_utf8(name).map_err(|_| Unread::Tag(tag))?,
                })
            }
            104 | 105 => {
                let count = self.number(if tag == 104 { 1 } else { 4 })?;
                Term::Tuple(self.terms(count, depth)?)
            }
            106 => Term::List(Vec::new()),
            107 => {
                let count = self.number(2)?;
                let bytes = self.take(count)?;
                self.budget.hold(count.saturating_mul(size_of::<Term>()))?;
                Term::List(bytes.iter().map(|byte| Term::Integer(i64::from(*byte))).collect())
            }
            108 => {
                let count = self.number(4)?;
                let items = self.terms(count, depth)?;
                // Lists of Opal end properly.
                if self.term(depth + 1)? != Term::List(Vec::new()) {
                    return Err(Unread::Tag(tag));
                }
                Term::List(items)
            }
            109 => {
                let count = self.number(4)?;
                let bytes = self.held(count)?;
                // An entry says it as JSON.
                self.budget.hold(quoted_len(&bytes) - count)?;
                Term::Binary(bytes)
            }
            116 => {
                let count = self.number(4)?;
                self.map(count, depth)?
            }
            _ => {
                let name = self.other(tag, depth)?;
                let length = before.len() - self.rest.len();
                let bytes = before.get(..length).unwrap_or_default();
                self.budget.hold(length)?;
                Term::Other(name, bytes.to_vec())
            }
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unread> {
        self.take(N)?.try_into().map_err(|_| Unread::Short)
    }

    /// A term takes a byte at least, so no count can ask for more than there is input; what they take in memory counts.
    fn room<T>(&mut self, count: usize) -> Result<Vec<T>, Unread> {
        if count > self.rest.len() {
            return Err(Unread::Short);
        }
        self.budget.hold(count.saturating_mul(size_of::<T>()))?;
        Ok(Vec::with_capacity(count))
    }

    fn terms(&mut self, count: usize, depth: usize) -> Result<Vec<Term>, Unread> {
        let mut terms = self.room(count)?;
        for _ in 0..count {
            terms.push(self.term(depth + 1)?);
        }
        Ok(terms)
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Term, Unread> {
        let mut pairs = self.room(count)?;
        for _ in 0..count {
            pairs.push((self.term(depth + 1)?, self.term(depth + 1)?));
        }
        Ok(Term::Map(pairs))
    }

    fn big(&mut self, count: usize) -> Result<Term, Unread> {
        let negative = self.number(1)? != 0;
        let digits = self.held(count)?;
        let mut small = [0; 8];
        match small.get_mut(..count) {
            Some(room) => room.copy_from_slice(&digits),
            None => return Ok(Term::Big(negative, digits)),
        }
        Ok(match i64::try_from(u64::from_le_bytes(small)) {
            Ok(size) => Term::Integer(if negative { -size } else { size }),
            Err(_) => Term::Big(negative, digits),
        })
    }

    /// Passes over what means nothing elsewhere, and says what it is.
    fn other(&mut self, tag: u8, depth: usize) -> Result<&'static str, Unread> {
        // The name of a node, and so many bytes behind it.
        let (name, behind) = match tag {
            88 => ("#pid", 12),
            103 => ("#pid", 9),
            89 => ("#port", 8),
            102 => ("#port", 5),
            120 => ("#port", 12),
            101 => ("#reference", 5),
            90 | 114 => {
                let words = self.number(2)?;
                ("#reference", words * 4 + if tag == 90 { 4 } else { 1 })
            }
            77 => {
                let count = self.number(4)?;
                self.take(count.checked_add(1).ok_or(Unread::Short)?)?;
                return Ok("#bits");
            }
            112 => {
                let size = self.number(4)?;
                self.take(size.checked_sub(4).ok_or(Unread::Tag(tag))?)?;
                return Ok("#function");
            }
            113 => {
                for _ in 0..3 {
                    self.term(depth + 1)?;
                }
                return Ok("#function");
            }
            _ => return Err(Unread::Tag(tag)),
        };
        self.term(depth + 1)?;
        self.take(behind)?;
        Ok(name)
    }
}

fn old_float(bytes: &[u8]) -> Option<f64> {
    let text = bytes.split(|byte| *byte == 0).next()?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Term, Unread> {
        term(bytes, &mut Budget::of(bytes.len(), Limits { line: 1 << 16, ..Limits::default() }))
    }

    #[test]
    fn what_means_nothing_elsewhere_is_kept_as_it_is() {
        let atom = [119, 1, b'n'];
        let pid = [&[88][..], &atom, &[0; 12]].concat();
        let reference = [&[90, 0, 2][..], &atom, &[0; 12]].concat();
        let function = [&[113][..], &atom, &atom, &[97, 1]].concat();
        for (other, name) in
            [(pid, "#pid"), (reference, "#reference"), (function, "#function"), (vec![77, 0, 0, 0, 1, 3, 7], "#bits")]
        {
            let table = [&[131, 104, 2][..], &other, &[97, 1]].concat();
            let found = read(&table).unwrap();
            assert_eq!(found, Term::Tuple(vec![Term::Other(name, other), Term::Integer(1)]));
        }
        assert_eq!(read(&[131, 104, 2, 97, 1, 200]), Err(Unread::Tag(200)));
        assert_eq!(read(&[131, 104, 2, 97]), Err(Unread::Short));
    }

    #[test]
    fn a_compressed_term_is_read_within_its_size() {
        let text = Term::text(&"x".repeat(1000)).write();
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text[1..], 6);
        let sized = |size: u32| [&[131, 80][..], &size.to_be_bytes(), &packed].concat();
        assert_eq!(read(&sized(1005)), Ok(Term::text(&"x".repeat(1000))));
        assert_eq!(read(&sized(100)), Err(Unread::Tag(80)));
        assert_eq!(read(&sized(u32::MAX)), Err(Unread::Budget));
    }

    #[test]
    fn a_term_takes_no_more_memory_than_it_may() {
        let nils = [&[131, 108, 0, 1, 0, 0][..], &[106; 65537]].concat();
        assert_eq!(read(&nils), Err(Unread::Budget));
        let strings = [&[131, 104, 3][..], &[&[107, 255, 255][..], &[0; 65535]].concat().repeat(3)].concat();
        assert_eq!(read(&strings), Err(Unread::Budget));
    }
}
