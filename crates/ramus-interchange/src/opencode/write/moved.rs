//! Messages that were in another session. opencode takes in no message whose id some session has already, so everything gets
//! an id of its own, which sorts where the old one did.

use ramus_model::json::{Raw, Shape};

use super::{Writer, letters, quoted};
use crate::origin::with_members;

/// The digits of an id that say when it was made.
const TIME: usize = 12;
/// The letters behind them, which say nothing.
const RANDOM: usize = 14;
/// Members that hold the id of a message or a part.
const REFERENCES: [&str; 4] = ["id", "messageID", "parentID", "tail_start_id"];

impl Writer<'_> {
    /// Says whether a message was in another session than the one that is written.
    pub(super) fn is_moved(&self, info: Raw<'_>) -> bool {
        let session = info.field("sessionID").and_then(Raw::text);
        let known = || self.info.as_deref().and_then(Raw::parse)?.field("id")?.text();
        session.or_else(known).is_some_and(|session| session != self.session)
    }

    /// The id that something gets in this session: always the same one.
    pub(super) fn renamed(&self, id: &str) -> String {
        let tail = letters(&[&self.session, id], RANDOM);
        match id.len().checked_sub(RANDOM).and_then(|end| id.get(..end)).filter(|_| is_dated(id)) {
            Some(front) => format!("{front}{tail}"),
            // No letter or digit sorts in front of the dash, so neither does a longer id.
            None => format!("{id}-{tail}"),
        }
    }

    /// A message with the session it is in now, and the ids that it has there.
    pub(super) fn moved(&self, record: &[u8]) -> Option<Vec<u8>> {
        let object = Raw::parse(record)?.object()?;
        let info = self.with_ids(object.field("info")?, None);
        let parts = object.field("parts").map(|parts| list(parts.items().map(|part| self.moved_part(part))));
        with_members(record, &[("info", Some(&info)), ("parts", parts.as_deref())])
    }

    fn moved_part(&self, part: Raw<'_>) -> Vec<u8> {
        let state = part.field("state").and_then(|state| {
            let files = state.field("attachments").filter(|files| files.shape() == Shape::Array)?;
            let files = list(files.items().map(|file| self.with_ids(file, None)));
            with_members(state.bytes(), &[("attachments", Some(&files))])
        });
        self.with_ids(part, state.as_deref())
    }

    /// An object that names this session and its ids, and has another state if there is one.
    fn with_ids(&self, raw: Raw<'_>, state: Option<&[u8]>) -> Vec<u8> {
        let renamed = |name: &'static str| {
            let id = raw.field(name)?.text().filter(|id| !id.is_empty())?;
            Some((name, quoted(&self.renamed(&id))))
        };
        let mut changes: Vec<(&str, Vec<u8>)> = REFERENCES.into_iter().filter_map(renamed).collect();
        changes.push(("sessionID", quoted(&self.session)));
        changes.extend(state.map(|state| ("state", state.to_vec())));
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, Some(value.as_slice()))).collect();
        with_members(raw.bytes(), &changes).unwrap_or_else(|| raw.bytes().to_vec())
    }
}

/// Says whether an id is one of those that opencode makes.
fn is_dated(id: &str) -> bool {
    let Some((time, random)) = id.split_once('_').and_then(|(_, rest)| rest.split_at_checked(TIME)) else {
        return false;
    };
    let is_time = time.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_time && random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    list.extend(items.collect::<Vec<_>>().join(&b','));
    list.push(b']');
    list
}
