//! `export --to json`: sessions as a bundle that loses nothing.
//!
//! Logs go as they are, byte for byte; a fork goes as a file that stands on its own, as everywhere where it leaves the home.
//! Blobs that lines refer to come along. Memory does not grow with the length of a log.

use std::collections::HashSet;
use std::io::Write;

use ramus_model::blob::References;
use ramus_model::{BlobHash, SessionId};
use ramus_publish::bundle::{BundleError, SessionHead, Writer};
use ramus_store::Residence;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::list::{Filter, WhichDirectory};

/// What a bundle holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundled {
    /// The sessions.
    pub sessions: Vec<SessionId>,
    /// How many blobs.
    pub blobs: usize,
    /// Blobs that lines refer to and that could not be had.
    pub missing: Vec<BlobHash>,
}

impl Engine {
    /// Writes sessions to a bundle.
    pub fn export_bundle(&self, sessions: &[Session], out: &mut dyn Write) -> Result<Bundled, EngineError> {
        let mut writer = Writer::new(out)?;
        let mut bundled = Bundled::default();
        let mut known = HashSet::new();
        for session in sessions {
            writer.session(&head(session))?;
            let references = self.write_log(session, &mut writer)?;
            bundled.sessions.push(session.id().clone());
            let blobs = self.store.blobs().filter(|_| session.has_blobs());
            for hash in references.found().iter().filter(|hash| known.insert(**hash)) {
                match blobs.map(|blobs| blobs.fetch(*hash)).transpose()?.flatten() {
                    Some(bytes) => {
                        writer.blob(*hash, &bytes)?;
                        bundled.blobs += 1;
                    }
                    None if blobs.is_some() => bundled.missing.push(*hash),
                    // References of other programs are to blobs of theirs.
                    None => {}
                }
            }
        }
        writer.finish()?;
        Ok(bundled)
    }

    /// Returns the session and all sessions that it spawned, and theirs, each opened.
    pub fn with_children(&self, session: Session) -> Result<Vec<Session>, EngineError> {
        let mut seen = HashSet::from([session.id().clone()]);
        let mut all = vec![session];
        let mut next = 0;
        while let Some(parent) = all.get(next).map(|session| session.id().clone()) {
            let filter = Filter {
                directory: WhichDirectory::All,
                parent: Some(parent),
                drafts: true,
                archived: true,
                ..Filter::default()
            };
            let mut children: Vec<SessionId> = self.list(&filter)?.sessions.into_iter().map(|info| info.id).collect();
            children.sort();
            for child in children.into_iter().filter(|child| seen.insert(child.clone())) {
                all.push(self.open(child.as_str(), "")?);
            }
            next += 1;
        }
        Ok(all)
    }

    /// Writes the log of a session and returns the blobs it refers to.
    fn write_log<W: Write>(&self, session: &Session, writer: &mut Writer<W>) -> Result<References, EngineError> {
        let mut references = References::default();
        if is_reference(session) {
            let bytes = self.standalone(session)?;
            references.feed(&bytes);
            references.end();
            writer.log(&bytes)?;
            return Ok(references);
        }
        let mut written: Result<(), BundleError> = Ok(());
        self.store.read(session.location(), 0, &mut |chunk| {
            if written.is_ok() {
                references.feed(chunk);
                written = writer.log(chunk);
            }
        })?;
        references.end();
        written?;
        Ok(references)
    }
}

/// Whether a session stands on the log of another one.
pub(crate) fn is_reference(session: &Session) -> bool {
    session.log().header().is_some_and(|header| header.ramus.forked_from.is_some())
}

fn head(session: &Session) -> SessionHead {
    let header = session.log().header().filter(|header| !header.synthetic);
    SessionHead {
        id: session.id().to_string(),
        cwd: session.cwd().to_owned(),
        created: header.map(|header| header.timestamp.clone()).unwrap_or_default(),
        title: session.title(),
        draft: session.residence() == Residence::Draft,
    }
}
