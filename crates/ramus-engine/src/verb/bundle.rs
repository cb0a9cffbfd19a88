//! `export --to json`: sessions as a bundle that loses nothing.
//!
//! Logs go as they are, byte for byte; a fork goes as a file that stands on its own, as everywhere where it leaves the home.
//! Blobs that lines refer to come along, and so does what the snapshots hold that ramus noted, if that is wanted. Memory does
//! not grow with the length of a log.

mod mentions;
mod origins;

use std::collections::{HashMap, HashSet};
use std::io::Write;

use ramus_model::{BlobHash, SessionId};
use ramus_publish::bundle::{BundleError, Object, SessionHead, Writer};
use ramus_snapshot::{SnapshotId, Vault};
use ramus_store::Residence;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::list::{Filter, WhichDirectory};
use crate::workspace::{Kept, Named};
use mentions::Mentions;

/// What goes along with sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleOptions {
    /// Whether the files come along that their snapshots hold.
    pub snapshots: bool,
    /// How forks go.
    pub forks: Forks,
}

/// How forks go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forks {
    /// As files that stand on their own.
    #[default]
    Alone,
    /// As they are, behind what they stand on, as far as it is theirs: whoever takes them in sees what is seen here. Only for
    /// bundles of one session, and only where a home is made of it that holds nothing else.
    WithOrigins,
}

/// What a bundle holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundled {
    /// The sessions.
    pub sessions: Vec<SessionId>,
    /// How many blobs.
    pub blobs: usize,
    /// Blobs that lines refer to and that could not be had.
    pub missing: Vec<BlobHash>,
    /// How many snapshots.
    pub snapshots: usize,
}

impl Engine {
    /// Writes sessions to a bundle.
    pub fn export_bundle(
        &self,
        sessions: &[Session],
        options: BundleOptions,
        out: &mut dyn Write,
    ) -> Result<Bundled, EngineError> {
        let mut writer = Writer::new(out)?;
        let mut bundled = Bundled::default();
        let mut known = HashSet::new();
        let mut files = self.files(options)?;
        for session in sessions {
            let mut mentions = Mentions::default();
            let origins = match options.forks {
                Forks::WithOrigins => self.origins_of(session)?,
                Forks::Alone => None,
            };
            for origin in origins.iter().flatten().rev() {
                writer.session(&origin.head)?;
                self.write_origin(origin, &mut writer, &mut mentions)?;
            }
            writer.session(&head(session))?;
            if is_reference(session) && origins.is_none() {
                let bytes = self.standalone(session)?;
                mentions.feed(&bytes);
                writer.log(&bytes)?;
            } else {
                self.write_log(session, &mut writer, &mut mentions)?;
            }
            mentions.end();
            let Mentions { blobs: references, snapshots, .. } = mentions;
            bundled.sessions.push(session.id().clone());
            bundled.snapshots += files.write(session.cwd(), &snapshots, &mut writer)?;
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

    /// Opens every vault that snapshots may be in.
    fn files(&self, options: BundleOptions) -> Result<Files, EngineError> {
        let home = self.snapshots.as_ref().filter(|_| options.snapshots);
        let vaults = home.map(|home| Vault::list(home)).transpose()?.unwrap_or_default();
        let vaults = vaults.iter().map(|path| Kept::open(path)).collect::<Result<_, _>>()?;
        Ok(Files { vaults, written: HashMap::new() })
    }

    /// Writes the log of a session as it is stored.
    fn write_log<W: Write>(
        &self,
        session: &Session,
        writer: &mut Writer<W>,
        mentions: &mut Mentions,
    ) -> Result<(), EngineError> {
        let mut written: Result<(), BundleError> = Ok(());
        self.store.read(session.location(), 0, &mut |chunk| {
            if written.is_ok() {
                mentions.feed(chunk);
                written = writer.log(chunk);
            }
        })?;
        Ok(written?)
    }
}

/// What snapshots hold.
struct Files {
    vaults: Vec<Kept>,
    /// What is written for each directory: sessions that work in the same one share it.
    written: HashMap<String, HashSet<String>>,
}

impl Files {
    /// Writes what the snapshots hold that a log names, in an order that depends on nothing else. Returns how many there are.
    fn write<W: Write>(&mut self, cwd: &str, named: &Named, writer: &mut Writer<W>) -> Result<usize, EngineError> {
        let written = self.written.entry(cwd.to_owned()).or_default();
        let mut found: Vec<(SnapshotId, &Vault)> = Vec::new();
        for kept in &self.vaults {
            let ids = kept.snapshots.iter().map(|one| one.id).filter(|id| named.contains(*id));
            found.extend(ids.map(|id| (id, &kept.vault)));
        }
        found.sort_by_key(|(id, _)| *id);
        // Two directories may have held the same at the same moment.
        found.dedup_by_key(|(id, _)| *id);
        for (id, vault) in &found {
            vault.carry_out(&[*id], written, &mut |object| -> Result<(), EngineError> {
                let ramus_snapshot::Carried { name, kind, bytes } = object;
                Ok(writer.object(&Object { name, kind, bytes })?)
            })?;
        }
        Ok(found.len())
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
        base: false,
    }
}
