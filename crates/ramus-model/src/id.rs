//! The names things have: entry ids, session ids, and `seq`, the physical order.
//!
//! `seq` is a position and never an identity: ids are what entries refer to each other by.

use std::fmt;
use std::num::NonZeroU32;

use sha2::{Digest, Sha256};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// Wraps an id as it is written in a log.
            pub fn new(id: impl Into<Box<str>>) -> Self {
                Self(id.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }
    };
}

text_id! {
    /// Names an entry within its session: eight hex digits when ramus made it, anything when it was imported.
    EntryId
}

text_id! {
    /// Names a session: a UUIDv7 when ramus made it.
    SessionId
}

impl SessionId {
    /// Says whether a beginning names this session. An id that is written out names no other session that happens to begin
    /// with it: not a copy, which is called `ID-` and sixteen hex digits, and nothing that follows a whole UUID.
    pub fn can_be_cut_to(&self, beginning: &str) -> bool {
        let Some(rest) = self.0.strip_prefix(beginning) else { return false };
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_copy = rest.strip_prefix('-').is_some_and(|hash| hash.len() == COPY_DIGITS && is_hex(hash));
        let is_uuid = beginning.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && beginning.split('-').all(is_hex);
        rest.is_empty() || !(is_copy || is_uuid)
    }
}

/// How many hex digits tell a copy from what it was copied from.
const COPY_DIGITS: usize = 16;

/// The position of an entry in the physical order of its log, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(NonZeroU32);

impl Seq {
    /// Makes a position from its number, which counts from 1.
    pub fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// Returns the number, from 1.
    pub fn number(self) -> u32 {
        self.0.get()
    }

    pub(crate) fn from_index(index: usize) -> Self {
        Self(u32::try_from(index + 1).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Derives the id of an entry that was stored without one (version 1): the hash of session id and line index, `digits`
/// hex digits long, so that every open of the file gives it the same id.
pub fn derived_entry_id(session: &str, line_index: u64, digits: usize) -> EntryId {
    let mut hash = Sha256::new();
    hash.update(session.as_bytes());
    hash.update(b":");
    hash.update(line_index.to_string().as_bytes());
    let mut text = hex::encode(hash.finalize());
    text.truncate(digits);
    EntryId::new(text)
}

/// The namespace of the numbered message aliases (`<namespace>-0001`) of a session.
pub fn alias_namespace(session: &SessionId) -> String {
    let mut text = hex::encode(Sha256::digest(session.as_str().as_bytes()));
    text.truncate(8);
    format!("ramus-{text}")
}
