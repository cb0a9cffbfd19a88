//! Erlang terms in their external form: what Opal stores, and nothing that could run.

/// A term.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    Atom(String),
    Integer(i64),
    /// A number too large for anything else, as it is written: the sign, and digits of eight bits, smallest first.
    Big(bool, Vec<u8>),
    Float(f64),
    Binary(Vec<u8>),
    Tuple(Vec<Term>),
    List(Vec<Term>),
    Map(Vec<(Term, Term)>),
}

/// How deep terms may be nested.
const DEPTH: usize = 64;

impl Term {
    /// Reads a term at the start of `bytes`; what follows does not matter. None when it is not one of those Opal stores.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes.strip_prefix(&[131])? };
        reader.term(0)
    }

    pub(super) fn atom(name: &str) -> Self {
        Self::Atom(name.to_owned())
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Binary(text.as_bytes().to_vec())
    }

    /// Returns the text of a binary, or of an atom that is not `nil`.
    pub(super) fn as_text(&self) -> Option<String> {
        match self {
            Self::Binary(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Self::Atom(name) if name != "nil" => Some(name.clone()),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Atom(name) if name == "true")
    }

    /// Returns what a map has under a name, be it an atom or a binary.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs.iter().find(|(key, _)| key.as_text().is_some_and(|key| key == name)).map(|(_, value)| value)
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) | Self::Tuple(items) => items,
            _ => &[],
        }
    }

    /// Writes the term.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = vec![131];
        self.write_into(&mut out);
        out
    }

    fn write_into(&self, out: &mut Vec<u8>) {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        match self {
            Self::Atom(name) => match u8::try_from(name.len()) {
                Ok(short) => out.extend_from_slice(&[119, short]),
                Err(_) => {
                    out.push(118);
                    out.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes());
                }
            },
            Self::Integer(number) => write_integer(*number, out),
            Self::Big(negative, digits) => {
                out.push(111);
                out.extend_from_slice(&length(digits.len()));
                out.push(u8::from(*negative));
                out.extend_from_slice(digits);
            }
            Self::Float(number) => {
                out.push(70);
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::Binary(bytes) => {
                out.push(109);
                out.extend_from_slice(&length(bytes.len()));
                out.extend_from_slice(bytes);
            }
            Self::Tuple(items) => {
                out.push(105);
                out.extend_from_slice(&length(items.len()));
                items.iter().for_each(|item| item.write_into(out));
            }
            Self::List(items) => {
                if !items.is_empty() {
                    out.push(108);
                    out.extend_from_slice(&length(items.len()));
                    items.iter().for_each(|item| item.write_into(out));
                }
                out.push(106);
            }
            Self::Map(pairs) => {
                out.push(116);
                out.extend_from_slice(&length(pairs.len()));
                for (key, value) in pairs {
                    key.write_into(out);
                    value.write_into(out);
                }
            }
        }
        if let Self::Atom(name) = self {
            out.extend_from_slice(name.as_bytes());
        }
    }

    /// Writes the term as JSON, for what a person or a model may see of it.
    pub(super) fn json(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Atom(name) => match name.as_str() {
                "nil" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                other => Value::from(other),
            },
            Self::Integer(number) => Value::from(*number),
            Self::Big(negative, digits) => Value::from(big(*negative, digits)),
            Self::Float(number) => Value::from(*number),
            Self::Binary(bytes) => Value::from(String::from_utf8_lossy(bytes).into_owned()),
            Self::List(items) | Self::Tuple(items) => Value::Array(items.iter().map(Self::json).collect()),
            Self::Map(pairs) => {
                let name = |key: &Self| key.as_text().unwrap_or_else(|| key.json().to_string());
                Value::Object(pairs.iter().map(|(key, value)| (name(key), value.json())).collect())
            }
        }
    }

    /// Makes a term of JSON.
    pub(super) fn of_json(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::atom("nil"),
            Value::Bool(flag) => Self::atom(if *flag { "true" } else { "false" }),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Integer(whole),
                (None, Some(float)) => Self::Float(float),
                (None, None) => Self::atom("nil"),
            },
            Value::String(text) => Self::text(text),
            Value::Array(items) => Self::List(items.iter().map(Self::of_json).collect()),
            Value::Object(members) => {
                Self::Map(members.iter().map(|(name, value)| (Self::text(name), Self::of_json(value))).collect())
            }
        }
    }
}

/// The decimal digits of a large number would need arithmetic that nothing else here does; its hexadecimal ones do not.
fn big(negative: bool, digits: &[u8]) -> String {
    let digits: Vec<u8> = digits.iter().rev().copied().collect();
    format!("{}0x{}", if negative { "-" } else { "" }, hex::encode(digits))
}

fn write_integer(number: i64, out: &mut Vec<u8>) {
    if let Ok(byte) = u8::try_from(number) {
        out.extend_from_slice(&[97, byte]);
    } else if let Ok(short) = i32::try_from(number) {
        out.push(98);
        out.extend_from_slice(&short.to_be_bytes());
    } else {
        out.extend_from_slice(&[110, 8, u8::from(number < 0)]);
        out.extend_from_slice(&number.unsigned_abs().to_le_bytes());
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn short(&mut self) -> Option<usize> {
        Some(usize::from(u16::from_be_bytes(self.take(2)?.try_into().ok()?)))
    }

    fn long(&mut self) -> Option<usize> {
        usize::try_from(u32::from_be_bytes(self.take(4)?.try_into().ok()?)).ok()
    }

    /// Nesting is limited, so that recursion is.
    fn term(&mut self, depth: usize) -> Option<Term> {
        if depth > DEPTH {
            return None;
        }
        Some(match self.byte()? {
            97 => Term::Integer(i64::from(self.byte()?)),
            98 => Term::Integer(i64::from(i32::from_be_bytes(self.take(4)?.try_into().ok()?))),
            110 => {
                let count = usize::from(self.byte()?);
                self.big(count)?
            }
            111 => {
                let count = self.long()?;
                self.big(count)?
            }
            70 => Term::Float(f64::from_be_bytes(self.take(8)?.try_into().ok()?)),
            99 => {
                let text = self.take(31)?.split(|byte| *byte == 0).next()?;
                Term::Float(std::str::from_utf8(text).ok()?.parse().ok()?)
            }
            100 => {
                let count = self.short()?;
                Term::Atom(latin(self.take(count)?))
            }
            115 => {
                let count = usize::from(self.byte()?);
                Term::Atom(latin(self.take(count)?))
            }
            118 => {
                let count = self.short()?;
                Term::Atom(String::from_utf8(self.take(count)?.to_vec()).ok()?)
            }
            119 => {
                let count = usize::from(self.byte()?);
                Term::Atom(String::from_utf8(self.take(count)?.to_vec()).ok()?)
            }
            104 => {
                let count = usize::from(self.byte()?);
                Term::Tuple(self.terms(count, depth)?)
            }
            105 => {
                let count = self.long()?;
                Term::Tuple(self.terms(count, depth)?)
            }
            106 => Term::List(Vec::new()),
            107 => {
                let count = self.short()?;
                Term::List(self.take(count)?.iter().map(|byte| Term::Integer(i64::from(*byte))).collect())
            }
            108 => {
                let count = self.long()?;
                let items = self.terms(count, depth)?;
                // Lists of Opal end properly.
                (self.term(depth + 1)? == Term::List(Vec::new())).then_some(())?;
                Term::List(items)
            }
            109 => {
                let count = self.long()?;
                Term::Binary(self.take(count)?.to_vec())
            }
            116 => {
                let count = self.long()?;
                let mut terms = self.terms(count.checked_mul(2)?, depth)?.into_iter();
                Term::Map(std::iter::from_fn(|| Some((terms.next()?, terms.next()?))).collect())
            }
            _ => return None,
        })
    }

    /// A term takes a byte at least, so no count can ask for more memory than there is input.
    fn terms(&mut self, count: usize, depth: usize) -> Option<Vec<Term>> {
        (count <= self.rest.len()).then_some(())?;
        (0..count).map(|_| self.term(depth + 1)).collect()
    }

    fn big(&mut self, count: usize) -> Option<Term> {
        let negative = self.byte()? != 0;
        let digits = self.take(count)?;
        let mut small = [0; 8];
        match small.get_mut(..count) {
            Some(room) if count <= 8 => room.copy_from_slice(digits),
            _ => return Some(Term::Big(negative, digits.to_vec())),
        }
        let size = i64::try_from(u64::from_le_bytes(small)).ok();
        Some(match size {
            Some(size) => Term::Integer(if negative { -size } else { size }),
            None => Term::Big(negative, digits.to_vec()),
        })
    }
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
