//! Erlang terms: what Opal stores, and nothing that could run.

use ramus_model::json::quote;

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
    /// What means something only to the node that wrote it, such as a process: its name, and its bytes.
    Other(&'static str, Vec<u8>),
}

impl Term {
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
            Self::Other(_, bytes) => out.extend_from_slice(bytes),
        }
        if let Self::Atom(name) = self {
            out.extend_from_slice(name.as_bytes());
        }
    }

    /// Writes the term as JSON, for what a person or a model may see of it.
    pub(super) fn json(&self, out: &mut Vec<u8>) {
        let mut list = |open: u8, close: u8, count: usize, each: &dyn Fn(usize, &mut Vec<u8>)| {
            out.push(open);
            for at in 0..count {
                if at > 0 {
                    out.push(b',');
                }
                each(at, out);
            }
            out.push(close);
        };
        match self {
            Self::List(items) | Self::Tuple(items) => {
                list(b'[', b']', items.len(), &|at, out| items.get(at).into_iter().for_each(|item| item.json(out)));
            }
            Self::Map(pairs) => list(b'{', b'}', pairs.len(), &|at, out| {
                let Some((key, value)) = pairs.get(at) else { return };
                quote(&key.name(), out);
                out.push(b':');
                value.json(out);
            }),
            Self::Atom(name) => match name.as_str() {
                "nil" => out.extend_from_slice(b"null"),
                "true" | "false" => out.extend_from_slice(name.as_bytes()),
                other => quote(other, out),
            },
            Self::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Big(negative, digits) => quote(&big(*negative, digits), out),
            // What is no number in JSON is nothing there.
            Self::Float(number) => out.extend_from_slice(serde_json::json!(number).to_string().as_bytes()),
            Self::Binary(bytes) => quote(&String::from_utf8_lossy(bytes), out),
            Self::Other(name, _) => quote(name, out),
        }
    }

    /// What a member is called that has this term for its key.
    fn name(&self) -> String {
        self.as_text().unwrap_or_else(|| {
            let mut json = Vec::new();
            self.json(&mut json);
            String::from_utf8_lossy(&json).into_owned()
        })
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
