//! Names that are made from idempotency keys: what is sent again finds what it came to, also after a restart.

use ramus_engine::Session;
use ramus_model::{EntryId, SessionId};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::access::Owner;
use crate::error::ApiError;

/// How much of a digest a name is, in bytes.
const NAME: usize = 16;

/// The id of the session that an owner makes with a key. `origin` is what it is forked from.
pub(super) fn session(owner: &Owner, origin: Option<&SessionId>, key: &str) -> SessionId {
    let origin = origin.map_or("", SessionId::as_str);
    SessionId::new(digest(&["session", owner.name(), origin, key]))
}

/// The id of the message that is said in a session with a key.
pub(super) fn message(session: &Session, key: &str) -> EntryId {
    EntryId::new(digest(&["message", session.id().as_str(), key]))
}

/// What tells an order from others with the same key.
pub(super) fn order(order: &Value) -> String {
    digest(&["order", &order.to_string()])
}

/// Says that a key was used for something else.
pub(super) fn other() -> ApiError {
    ApiError::conflict("something else was sent with this idempotency key")
}

fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    hex::encode(digest.finalize().get(..NAME).unwrap_or_default())
}
