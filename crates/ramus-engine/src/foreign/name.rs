//! What sessions of other agents are called here.

use ramus_model::SessionId;
use sha2::{Digest as _, Sha256};

/// The id that a session has here: the agent's own, when it can be one.
pub(super) fn session_id(agent: &str, id: &str) -> SessionId {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // `last` and `this` are words of the command line, and short names are no ids.
    let is_tame = (8..=128).contains(&id.len()) && id.bytes().all(is_plain) && !id.starts_with('.');
    if is_tame { SessionId::from(id) } else { SessionId::new(format!("{agent}-{}", hash(&[agent, id]))) }
}

/// The session that another says it was forked from: by its id, or by its file, which is called `TIME_ID.jsonl`.
pub(super) fn pointed_to(agent: &str, pointer: &str) -> SessionId {
    let file = pointer.rsplit(['/', '\\']).next().unwrap_or(pointer);
    let stem = file.strip_suffix(".jsonl").map(|stem| stem.split_once('_').map_or(stem, |(_, id)| id));
    session_id(agent, stem.unwrap_or(pointer))
}

pub(super) fn hash(words: &[&str]) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let mut digest = hex::encode(hash.finalize());
    digest.truncate(16);
    digest
}
