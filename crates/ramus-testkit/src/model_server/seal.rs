//! Seals on thoughts: what a provider gives out so that it knows its own thoughts again.
//!
//! A seal is a hash under a key that only this module knows, so a judge can tell without memory whether this server issued
//! it, for this text and by this model. Nobody else can make one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const KEY: &[u8] = b"ramus model server, seals of the first kind";

/// How long a hash is.
const HASH: usize = 32;

/// Returns the signature of Anthropic's `model` on a thought.
pub fn thinking(model: &str, thought: &str) -> String {
    STANDARD.encode(hash("thinking", model, thought.as_bytes()))
}

/// Checks a signature made by [`thinking`].
pub fn is_thinking(model: &str, thought: &str, signature: &str) -> bool {
    signature == thinking(model, thought)
}

/// Returns a thought that only Anthropic's `model` can read.
pub fn redacted(model: &str, thought: &str) -> String {
    wrap("redacted", model, thought)
}

/// Checks a thought made by [`redacted`].
pub fn is_redacted(model: &str, data: &str) -> bool {
    unwrap("redacted", model, data).is_some()
}

/// Returns the encrypted content of a reasoning item of OpenAI's `model`.
pub fn reasoning(model: &str, summary: &str) -> String {
    wrap("reasoning", model, summary)
}

/// Returns the summary that encrypted content was made with, if [`reasoning`] made it for this model.
pub fn read_reasoning(model: &str, encrypted: &str) -> Option<String> {
    unwrap("reasoning", model, encrypted)
}

/// Returns a thought signature of Gemini's `model`; `about` makes it differ from others.
pub fn thought(model: &str, about: &str) -> String {
    wrap("thought", model, about)
}

/// Checks a signature made by [`thought`].
pub fn is_thought(model: &str, signature: &str) -> bool {
    unwrap("thought", model, signature).is_some()
}

fn wrap(kind: &str, model: &str, text: &str) -> String {
    let mut bytes = hash(kind, model, text.as_bytes()).to_vec();
    bytes.extend_from_slice(text.as_bytes());
    STANDARD.encode(bytes)
}

fn unwrap(kind: &str, model: &str, sealed: &str) -> Option<String> {
    let bytes = STANDARD.decode(sealed).ok()?;
    let (seal, text) = bytes.split_at_checked(HASH)?;
    let holds = seal == hash(kind, model, text);
    holds.then(|| String::from_utf8(text.to_vec()).ok()).flatten()
}

fn hash(kind: &str, model: &str, text: &[u8]) -> [u8; HASH] {
    let mut hash = Sha256::new();
    // Lengths in front, so that no text can pass for the end of a name.
    for part in [KEY, kind.as_bytes(), model.as_bytes(), text] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_its_own_text_and_model_only() {
        let seal = thinking("a", "I think");
        assert!(is_thinking("a", "I think", &seal));
        assert!(!is_thinking("b", "I think", &seal));
        assert!(!is_thinking("a", "I think.", &seal));
        let sealed = reasoning("a", "first");
        assert_eq!(read_reasoning("a", &sealed).as_deref(), Some("first"));
        assert_eq!(read_reasoning("b", &sealed), None);
        assert!(!is_redacted("a", &sealed), "one kind does not pass for another");
        assert!(!is_thought("a", "skip"));
    }
}
