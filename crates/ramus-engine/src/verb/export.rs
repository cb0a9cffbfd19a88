//! `export`: a session as one version 3 file that stands on its own, for pi and omp.

use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::{CURRENT_VERSION, Header, RamusHeader, Seq, migrate};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load_shared, unknown};
use crate::verb::fork::copied_path;

impl Engine {
    /// Writes the session as a version 3 file. A session that stands on its own is copied byte for byte, old versions
    /// upgraded; a fork gets the path it shares with its origin in front of its own entries. Pictures that are blobs
    /// here are in the lines there.
    pub fn export(&self, session: &Session) -> Result<Vec<u8>, EngineError> {
        let bytes = self.whole_file(session)?;
        let Some(header) = session.log().header().filter(|header| !header.synthetic) else {
            return Err(EngineError::Corrupt("the session has no header; there is nothing to export".into()));
        };
        if header.ramus.forked_from.is_none() {
            let whole = if migrate::is_needed(session.log()) { migrate::upgrade(session.log(), &bytes) } else { bytes };
            return Ok(with_pictures(session, whole));
        }
        Ok(with_pictures(session, self.standalone(session)?))
    }

    /// Writes a fork as one file that stands on its own: what it shows of its origin comes in front of its own entries.
    pub(crate) fn standalone(&self, session: &Session) -> Result<Vec<u8>, EngineError> {
        let Some(header) = session.log().header() else {
            return Err(EngineError::Corrupt("the session has no header".into()));
        };
        let standalone = Header {
            version: CURRENT_VERSION,
            cwd: session.cwd().to_owned(),
            ramus: RamusHeader {
                copied_from: header.ramus.forked_from.as_ref().map(|fork| fork.origin.clone()),
                forked_from: None,
                project: session.project(),
                ..header.ramus.clone()
            },
            ..header.clone()
        };
        // What the fork's own entries supersede comes with them: the shared part is copied as it was when it was forked.
        let shared = load_shared(session, &unknown)?;
        let mut out = copied_path(&shared, fork_point(&shared, session)?, standalone.to_line())?;
        out.extend(own_entries(&self.whole_file(session)?));
        Ok(out)
    }
}

/// The file with its pictures inside: other programs do not know where our blobs are. Cut texts stay cut, as those
/// programs would have cut them.
fn with_pictures(session: &Session, bytes: Vec<u8>) -> Vec<u8> {
    let lines =
        bytes.split_inclusive(|byte| *byte == b'\n').map(|line| session.restored(line.into(), Restore::Pictures));
    let mut out = Vec::with_capacity(bytes.len());
    lines.for_each(|line| out.extend_from_slice(&line));
    out
}

/// The entry of the origin that the fork continues from.
fn fork_point(shared: &Session, session: &Session) -> Result<Seq, EngineError> {
    let origin = session.lineage().forked_from;
    let entry = origin.and_then(|origin| shared.log().seq_of(origin.entry.as_str()));
    entry.ok_or_else(|| EngineError::Corrupt("the entry this session was forked from is gone".into()))
}

/// The file without its header.
fn own_entries(bytes: &[u8]) -> &[u8] {
    let header = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    match Raw::parse(header).and_then(Header::read) {
        Some(_) => bytes.get(header.len()..).unwrap_or_default(),
        None => bytes,
    }
}
