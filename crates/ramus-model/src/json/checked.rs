//! [`Checked`]: bytes that were lexed once, for code that comes back to them.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::view::Raw;

/// Bytes, and whether they are exactly one value. The bytes cannot change, so the answer stays true.
#[derive(Clone, Debug)]
pub struct Checked<'a> {
    bytes: Cow<'a, [u8]>,
    value: Option<Range<usize>>,
}

impl<'a> Checked<'a> {
    /// Looks at bytes; whitespace around the value is allowed.
    pub fn new(bytes: Cow<'a, [u8]>) -> Self {
        let front = bytes.len() - bytes.trim_ascii_start().len();
        let value = Raw::parse(&bytes).map(|raw| front..front + raw.bytes().len());
        Self { bytes, value }
    }

    /// Returns the value; none when the bytes are no value, or more than one.
    pub fn raw(&self) -> Option<Raw<'_>> {
        let value = self.value.clone()?;
        self.bytes.get(value).map(Raw::lexed)
    }

    /// Returns the same with bytes of its own.
    pub fn into_owned(self) -> Checked<'static> {
        Checked { bytes: Cow::Owned(self.bytes.into_owned()), value: self.value }
    }
}

impl Deref for Checked<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
