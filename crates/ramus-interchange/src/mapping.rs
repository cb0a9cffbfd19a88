//! What the formats share: how an answer says what it used and why it ended, and names made from names.

use sha2::{Digest as _, Sha256};

use crate::compose::Composer;

/// Tokens of an answer, in the words of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    /// The agent's own total; 0 when it has none.
    pub(crate) total: u64,
    /// US dollars.
    pub(crate) cost: Option<f64>,
}

impl Tokens {
    /// Writes the `usage` of a message. Programs that share the log's format insist on every member.
    pub(crate) fn compose(self, composer: &mut Composer<'_>) {
        let sum = [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add);
        composer.object("usage", |usage| {
            usage.number("input", self.input);
            usage.number("output", self.output);
            usage.number("cacheRead", self.cache_read);
            usage.number("cacheWrite", self.cache_write);
            usage.number("totalTokens", if self.total > 0 { self.total } else { sum });
            usage.object("cost", |cost| {
                for name in ["input", "output", "cacheRead", "cacheWrite"] {
                    cost.number(name, 0);
                }
                let total = self.cost.filter(|cost| cost.is_finite() && *cost >= 0.0).unwrap_or_default();
                cost.number("total", total);
            });
        });
    }
}

/// A UUID that follows from texts: the first 16 bytes of their hash, marked as what RFC 9562 calls version 8.
pub(crate) fn uuid_of(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    let digest = hash.finalize();
    let mut bytes: Vec<u8> = digest.iter().copied().take(16).collect();
    if let Some(byte) = bytes.get_mut(6) {
        *byte = (*byte & 0x0f) | 0x80;
    }
    if let Some(byte) = bytes.get_mut(8) {
        *byte = (*byte & 0x3f) | 0x80;
    }
    let digits = hex::encode(bytes);
    let mut uuid = String::with_capacity(36);
    for (at, digit) in digits.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            uuid.push('-');
        }
        uuid.push(digit);
    }
    uuid
}

/// Says whether a text is a UUID as programs write it.
pub(crate) fn is_uuid(text: &str) -> bool {
    let digit = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(digit)
}

/// An id of a tool call that every provider accepts: its own when it is plain, otherwise one made from it.
pub(crate) fn call_id(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    match (1..=64).contains(&id.len()) && id.bytes().all(is_plain) {
        true => id.to_owned(),
        false => format!("call_{}", crate::emit::hash(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_uuids_look_like_uuids_and_stay_the_same() {
        let uuid = uuid_of(&["a", "b"]);
        assert!(is_uuid(&uuid), "{uuid}");
        assert_eq!(uuid, uuid_of(&["a", "b"]));
        assert_ne!(uuid, uuid_of(&["ab", ""]));
        assert_eq!(uuid.as_bytes().get(14), Some(&b'8'));
    }
}
