//! Blobs: bytes that an entry refers to by their hash instead of holding them.
//!
//! Pictures and long texts leave the line for a blob on the way into a log ([`externalise`]) and come back on the way out
//! ([`restore`]). Both look at raw bytes and splice; a line that needs neither is not touched. A reference counts only
//! when it is spelled plainly, so that whoever collects garbage can find every one by looking at bytes
//! ([`References`]).

mod cut;
mod externalise;
mod references;
mod restore;
mod walk;

use std::fmt;

use sha2::{Digest as _, Sha256};

pub use cut::{MAX_TEXT_UNITS, NOTICE};
pub use externalise::{Externalised, MIN_IMAGE_CHARS, externalise, externalise_whole};
pub use references::References;
pub use restore::{Restore, Restored, named, restore};

/// What a reference in the place of a picture starts with.
const IMAGE_PREFIX: &[u8] = b"blob:sha256:";

/// What a hash is called where the full text of a cut one is named.
const HASH_PREFIX: &[u8] = b"sha256:";

/// The member that names the blobs of cut texts: `{"<member>":"sha256:<hash>"}`.
pub const BLOB_MEMBER: &str = "ramusBlob";

/// The name of a blob: the SHA-256 of its bytes. It is a file name too, and nothing but 64 lower-case hex digits is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobHash([u8; 32]);

impl BlobHash {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads a name: exactly 64 lower-case hex digits.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let mut hash = [0; 32];
        (name.len() == 64 && name.iter().all(is_digit)).then_some(())?;
        hex::decode_to_slice(name, &mut hash).ok()?;
        Some(Self(hash))
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes with their name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    hash: BlobHash,
    bytes: Vec<u8>,
}

impl Blob {
    /// Names bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { hash: BlobHash::of(&bytes), bytes }
    }

    /// Returns the name.
    pub fn hash(&self) -> BlobHash {
        self.hash
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a string value that is `prefix` and a hash, spelled plainly.
fn plain_hash(value: &[u8], prefix: &[u8]) -> Option<BlobHash> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    BlobHash::parse(inner.strip_prefix(prefix)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_hex_digits_are_a_name() {
        let good = "0123456789abcdef".repeat(4);
        assert_eq!(BlobHash::parse(good.as_bytes()).map(|hash| hash.to_string()), Some(good.clone()));
        let bad = [
            String::new(),
            good.to_uppercase(),
            good[1..].to_owned(),
            format!("{good}0"),
            format!("../{}", &good[3..]),
            format!("g{}", &good[1..]),
            "https://example.org/0123456789abcdef0123456789abcdef0123456789ab".to_owned(),
            format!("{}\0", &good[1..]),
            format!("{}é", &good[2..]),
        ];
        for name in bad {
            assert_eq!(BlobHash::parse(name.as_bytes()), None, "{name}");
        }
    }
}
