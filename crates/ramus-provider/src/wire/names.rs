//! Names that every format accepts. The same name always becomes the same one, so that prompts stay cacheable.

use std::borrow::Cow;
use std::collections::HashMap;

use ramus_model::usage::ModelName;

/// The longest name of a tool.
const LONGEST: usize = 64;

/// The longest id of a call: chat completions take no longer ones.
const LONGEST_ID: usize = 40;

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the name of a tool with what formats forbid replaced.
pub(crate) fn tool(name: &str) -> Cow<'_, str> {
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if starts_well && name.len() <= LONGEST && name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let start = if starts_well { "" } else { "_" };
    let plain = name.chars().map(|c| if c.is_ascii() && is_plain(c as u8) { c } else { '_' });
    Cow::Owned(start.chars().chain(plain).take(LONGEST).collect())
}

/// Returns the id of a call with what formats forbid replaced. Two that differ stay different: one that was changed bears
/// a hash of what it was.
fn call(id: &str) -> String {
    if !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(is_plain) {
        return id.to_owned();
    }
    let plain = id.chars().filter(|c| c.is_ascii() && is_plain(*c as u8)).take(LONGEST_ID - 17);
    format!("{}_{:016x}", plain.collect::<String>(), hash(id.as_bytes()))
}

/// FNV-1a: small, stable for ever, and nobody gains by a collision of ids in their own conversation.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The ids of the calls of a conversation: no two alike, though programs that number their calls anew in each turn stored
/// them so. An id depends only on what came before it.
#[derive(Default)]
pub(crate) struct CallIds {
    used: HashMap<String, usize>,
}

impl CallIds {
    pub(crate) fn next(&mut self, stored: &str) -> String {
        let id = call(stored);
        let times = self.used.entry(id.clone()).or_default();
        *times += 1;
        if *times == 1 {
            return id;
        }
        // A name that cannot be a stored one, as it says which repetition it is.
        let repeated = call(&format!("{id}|{times}"));
        self.used.entry(repeated.clone()).or_insert(1);
        repeated
    }
}

/// Says whether a model is the one that made a message: its name, or its name with a date.
pub(crate) fn is_same_model(asked: &ModelName, by: &ModelName) -> bool {
    asked.provider == by.provider && (asked.model == by.model || is_dated(&asked.model, &by.model))
}

/// Says whether `precise` is `model` with a date behind it.
pub(crate) fn is_dated(model: &str, precise: &str) -> bool {
    let date = precise.strip_prefix(model).and_then(|rest| rest.strip_prefix(['-', '@']));
    date.is_some_and(|date| date.len() >= 8 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_legal_stable_and_never_alike() {
        let mut ids = CallIds::default();
        let stored = ["call_1", "call_1", "call_1", "a|b", "a/b", "", "é", &"x".repeat(80), &"x".repeat(81), "call_1"];
        let made: Vec<String> = stored.iter().map(|id| ids.next(id)).collect();
        assert_eq!(made.first().map(String::as_str), Some("call_1"));
        for (at, id) in made.iter().enumerate() {
            assert!(!id.is_empty() && id.len() <= 40 && id.bytes().all(is_plain), "{id}");
            assert!(!made[..at].contains(id), "{id} twice");
        }
        let mut again = CallIds::default();
        assert_eq!(stored.iter().map(|id| again.next(id)).collect::<Vec<_>>(), made);
    }

    #[test]
    fn names_of_tools_are_legal() {
        assert_eq!(tool("read_file-2"), "read_file-2");
        assert_eq!(tool("mcp.files/read"), "mcp_files_read");
        assert_eq!(tool("2fast"), "_2fast");
        assert_eq!(tool("ä"), "__");
        assert_eq!(tool(""), "_");
        assert_eq!(tool(&"n".repeat(99)).len(), 64);
    }

    #[test]
    fn a_date_does_not_make_another_model() {
        let name = |provider: &str, model: &str| ModelName { provider: provider.into(), model: model.into() };
        let asked = name("anthropic", "claude-haiku-4-5");
        assert!(is_same_model(&asked, &asked));
        assert!(is_same_model(&asked, &name("anthropic", "claude-haiku-4-5-20251001")));
        assert!(is_same_model(&name("openai", "gpt-5"), &name("openai", "gpt-5-2025-08-07")));
        assert!(!is_same_model(&asked, &name("bedrock", "claude-haiku-4-5")));
        assert!(!is_same_model(&name("openai", "gpt-5"), &name("openai", "gpt-5-mini")));
        assert!(!is_same_model(&name("openai", "gpt-5"), &name("openai", "gpt-5-1")));
    }
}
