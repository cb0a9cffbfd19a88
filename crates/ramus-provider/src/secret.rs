//! Keys: they are sent to the host they are for and shown nowhere.

use std::fmt;

/// The shortest text that is taken out of messages. Replacing shorter ones would garble them and hide nothing.
const SHORTEST: usize = 6;

/// A key or the value of a header. Printing it shows nothing of it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a secret. White space around it, which files and shells leave there, is not part of it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// Says whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that may repeat it.
    pub(crate) fn scrub(&self, text: String) -> String {
        if self.0.len() >= SHORTEST && text.contains(&self.0) { text.replace(&self.0, "[key]") } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
