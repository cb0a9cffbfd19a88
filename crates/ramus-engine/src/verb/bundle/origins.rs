//! What a fork stands on, for a bundle in which it goes as it is.
//!
//! Of an origin goes what belonged to the fork when it was made, and no byte behind that; of one that was deleted, what was
//! kept of it.

use std::io::Write;

use ramus_model::Header;
use ramus_publish::bundle::{SessionHead, Writer};
use ramus_store::{Location, Residence};

use super::{Mentions, is_reference};
use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::session::{Session, header_of};
use crate::verb::import::is_tame;

/// How much of an origin is read at a time.
const CHUNK: usize = 1 << 18;

/// A log that a fork stands on.
pub(super) struct Standing {
    pub(super) head: SessionHead,
    location: Location,
    /// How much of it belongs to whoever stands on it.
    end: u64,
}

impl Engine {
    /// Finds what a fork stands on, the nearest first; none when it must go as a file that stands on its own: it is no fork,
    /// or a part of what it stands on is somebody else's.
    pub(super) fn origins_of(&self, session: &Session) -> Result<Option<Vec<Standing>>, EngineError> {
        if !is_reference(session) {
            return Ok(None);
        }
        let mut above = session.log().header().cloned();
        let mut found = Vec::new();
        for location in session.sources.iter().skip(1) {
            let header = header_of(self.store.as_ref(), location)?;
            let (Some(fork), Some(header)) = (above.and_then(|above| above.ramus.forked_from), header) else {
                return Ok(None);
            };
            let owner = header.ramus.owner.as_deref().unwrap_or(DEFAULT_OWNER);
            if owner != session.owner() || !is_tame(location.id.as_str()) {
                return Ok(None);
            }
            let is_base = location.residence == Residence::Base;
            // Places in a base are its own; it holds nothing that no fork needs.
            let end = if is_base { u64::MAX } else { fork.offset };
            found.push(Standing { head: head(location, &header), location: location.clone(), end });
            above = Some(header);
        }
        Ok(Some(found))
    }

    pub(super) fn write_origin<W: Write>(
        &self,
        origin: &Standing,
        writer: &mut Writer<W>,
        mentions: &mut Mentions,
    ) -> Result<(), EngineError> {
        let mut at = 0;
        while at < origin.end {
            let most = usize::try_from(origin.end - at).unwrap_or(usize::MAX).min(CHUNK);
            let bytes = self.store.read_at(&origin.location, at, most)?;
            if bytes.is_empty() {
                break;
            }
            at += bytes.len() as u64;
            mentions.feed(&bytes);
            writer.log(&bytes)?;
        }
        mentions.end();
        Ok(())
    }
}

fn head(location: &Location, header: &Header) -> SessionHead {
    SessionHead {
        // Forks find it by the name that it has in the home.
        id: location.id.to_string(),
        cwd: header.cwd.clone(),
        created: header.timestamp.clone(),
        title: header.title.clone().unwrap_or_default(),
        draft: location.residence == Residence::Draft,
        base: location.residence == Residence::Base,
    }
}
