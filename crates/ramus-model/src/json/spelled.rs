//! [`Spelled`]: an object that is changed in some of its members while all others stay as they are spelled.

use super::text::quote;
use super::view::Raw;

/// The members of an object, names and values as they are spelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    members: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Spelled {
    /// Takes the members of an object; none of anything else.
    pub fn of(raw: Raw<'_>) -> Self {
        let members = raw.raw_fields().map(|(name, value)| (name.bytes().to_vec(), value.bytes().to_vec()));
        Self { members: members.collect() }
    }

    /// Says whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the member called `name`; of several, the last, as `JSON.parse` would.
    pub fn member(&self, name: &str) -> Option<Raw<'_>> {
        self.members.get(self.place(name)?).map(|(_, value)| Raw::lexed(value))
    }

    /// Puts a value in the place of the member called `name`, or behind all others.
    pub fn put(&mut self, name: &str, value: Raw<'_>) {
        let value = value.bytes().to_vec();
        match self.place(name).and_then(|place| self.members.get_mut(place)) {
            Some((_, known)) => *known = value,
            None => {
                let mut quoted = Vec::new();
                quote(name, &mut quoted);
                self.members.push((quoted, value));
            }
        }
    }

    /// Spells the object out.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![b'{'];
        for (at, (name, value)) in self.members.iter().enumerate() {
            if at > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(name);
            bytes.push(b':');
            bytes.extend_from_slice(value);
        }
        bytes.push(b'}');
        bytes
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.members.iter().rposition(|(known, _)| Raw::lexed(known).spells(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_changed_stays_as_it_is_spelled() {
        let text = r#"{"n":12345678901234567890123,"é":"\ud83d","a":-0,"a":1.50}"#;
        let mut spelled = Raw::parse(text.as_bytes()).map(Spelled::of).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&spelled.bytes()), text);
        assert_eq!(spelled.member("a").map(Raw::bytes), Some(&b"1.50"[..]));
        let mut put = |name: &str, value: &str| {
            if let Some(value) = Raw::parse(value.as_bytes()) {
                spelled.put(name, value);
            }
        };
        put("a", "2e0");
        put("b", "[ ]");
        assert_eq!(
            String::from_utf8_lossy(&spelled.bytes()),
            r#"{"n":12345678901234567890123,"é":"\ud83d","a":-0,"a":2e0,"b":[ ]}"#
        );
        assert!(Raw::parse(b"[1]").is_none_or(|list| Spelled::of(list).is_empty()));
    }
}
