//! Batches that are sent with an `Idempotency-Key`: written once, however often they are sent.

use ramus_engine::{EngineError, SharedSession, Written};
use ramus_model::{Body, Draft, EntryId, SessionId};
use sha2::{Digest as _, Sha256};

use super::answer;
use crate::answer::Answer;
use crate::error::ApiError;

/// A batch that was sent with a key: its entries are named after that, so that whoever sends them again finds them, also
/// after a restart.
pub(super) struct Sent {
    entries: Vec<Keyed>,
    /// The name that one more entry would have.
    next: EntryId,
}

/// An entry of such a batch.
struct Keyed {
    name: EntryId,
    /// The digest of its body, and of that without what leaves it for blobs.
    digests: [[u8; 32]; 2],
}

impl Sent {
    pub(super) fn named(drafts: &mut [Draft], session: &SessionId, key: &str) -> Result<Self, ApiError> {
        let mut entries = Vec::with_capacity(drafts.len());
        for (at, draft) in drafts.iter_mut().enumerate() {
            if draft.id.is_some() {
                return Err(ApiError::usage("entries with ids of their own need no idempotency key"));
            }
            let name = named(session, key, at);
            draft.id = Some(name.clone());
            let whole = digest(&draft.body);
            let smaller = draft.body.externalised().map_or(whole, |(smaller, _)| digest(&smaller));
            entries.push(Keyed { name, digests: [whole, smaller] });
        }
        Ok(Self { entries, next: named(session, key, drafts.len()) })
    }

    /// Answers again what the same batch was answered. The same key with other entries is refused.
    pub(super) fn written_before(&self, shared: &SharedSession) -> Result<Option<Answer>, ApiError> {
        let found = shared.read(|session| {
            let log = session.log();
            let known = |sent: &Keyed| -> Result<Option<Written>, EngineError> {
                let Some(seq) = log.seq_of(sent.name.as_str()) else { return Ok(None) };
                let parent = log.record(seq).and_then(ramus_model::Record::parent);
                let parent = parent.map(|parent| session.entry_id(parent));
                let is_same = match session.stored_line(seq)? {
                    Some(line) => Draft::parse(&line).is_ok_and(|old| sent.digests.contains(&digest(&old.body))),
                    None => true,
                };
                Ok(is_same.then(|| Written { id: sent.name.clone(), seq, parent }))
            };
            let is_known = |name: &EntryId| log.seq_of(name.as_str()).is_some();
            if !self.entries.iter().any(|sent| is_known(&sent.name)) {
                return Ok(None);
            }
            let known: Option<Vec<Written>> = self.entries.iter().map(known).collect::<Result<_, _>>()?;
            Ok::<_, EngineError>(Some(known.filter(|_| !is_known(&self.next))))
        });
        let other = || ApiError::conflict("another batch was sent with this idempotency key");
        found?.map(|whole| Ok(answer(&whole.ok_or_else(other)?, false))).transpose()
    }
}

fn named(session: &SessionId, key: &str, at: usize) -> EntryId {
    let digest = Sha256::new()
        .chain_update(session.as_str())
        .chain_update([0])
        .chain_update(key)
        .chain_update([0])
        .chain_update(at.to_le_bytes())
        .finalize();
    EntryId::new(hex::encode(digest.get(..16).unwrap_or_default()))
}

fn digest(body: &Body) -> [u8; 32] {
    Sha256::digest(body.to_line(&EntryId::from(""), None, "")).into()
}
