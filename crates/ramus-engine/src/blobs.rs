//! What a session keeps outside its log: how it gets there, how it comes back, and what happens when it is gone.
//!
//! Lines stay as they are stored for whoever wants them so; everything that is shown or sent goes through
//! [`RestoredLines`]. A blob that cannot be had never stands in the way of the rest: the line says so in its place, and
//! the session remembers it. Files of other programs are left alone: those programs would not find our blobs, and their
//! references are to blobs of their own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use ramus_model::blob::{self, Restore};
use ramus_model::json::Raw;
use ramus_model::{Blob, BlobHash, Draft, Finding, FindingKind, Lines, Place};
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{BlobHold, Residence, StoreError, StoreLines};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

/// Blobs that were wanted and could not be had.
#[derive(Debug, Default)]
pub(crate) struct MissingBlobs(Mutex<BTreeSet<BlobHash>>);

impl MissingBlobs {
    fn note(&self, missing: Vec<BlobHash>) {
        // A set of names is never half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(missing);
    }
}

/// Drafts as they will be written, and the blobs they refer to.
pub(crate) struct External<'d> {
    pub(crate) drafts: Cow<'d, [Draft]>,
    pub(crate) blobs: Vec<Blob>,
}

impl Engine {
    /// Moves what is too large for a line out of the drafts.
    pub(crate) fn externalise<'d>(&self, session: &Session, drafts: &'d [Draft]) -> External<'d> {
        let mut external = External { drafts: Cow::Borrowed(drafts), blobs: Vec::new() };
        if !session.has_blobs() {
            return external;
        }
        for (at, draft) in drafts.iter().enumerate() {
            let Some((body, blobs)) = draft.body.externalised() else { continue };
            external.blobs.extend(blobs);
            if let Some(draft) = external.drafts.to_mut().get_mut(at) {
                draft.body = body;
            }
        }
        external
    }

    /// Returns the blobs that drafts name and that the session does not refer to, where that is not allowed.
    pub(crate) fn strange_blobs<'d>(
        &self,
        session: &Session,
        drafts: impl Iterator<Item = &'d Draft>,
    ) -> Result<BTreeSet<BlobHash>, EngineError> {
        if !self.is_confined {
            return Ok(BTreeSet::new());
        }
        let mut strange: BTreeSet<BlobHash> = drafts.flat_map(|draft| draft.body.blobs()).collect();
        for seq in session.log().seqs() {
            if strange.is_empty() {
                break;
            }
            for hash in blob::named(&session.line(seq)?) {
                strange.remove(&hash);
            }
        }
        Ok(strange)
    }

    /// Makes blobs durable and keeps collection away from them until the hold is dropped: the lines that refer to them
    /// must be in the log by then.
    pub(crate) fn keep_blobs(&self, blobs: &[Blob]) -> Result<Option<Box<dyn BlobHold>>, EngineError> {
        let Some(store) = self.store.blobs().filter(|_| !blobs.is_empty()) else { return Ok(None) };
        let hold = store.hold()?;
        if !is_planted(Bug::LineBeforeBlob) {
            self.put_blobs(blobs)?;
        }
        Ok(Some(hold))
    }

    /// What a planted bug leaves for after the lines were written.
    pub(crate) fn keep_blobs_late(&self, blobs: &[Blob]) -> Result<(), EngineError> {
        if is_planted(Bug::LineBeforeBlob) { self.put_blobs(blobs) } else { Ok(()) }
    }

    fn put_blobs(&self, blobs: &[Blob]) -> Result<(), EngineError> {
        let Some(store) = self.store.blobs() else { return Ok(()) };
        blobs.iter().try_for_each(|blob| Ok(store.put(blob)?))
    }
}

/// Says whether drafts name one of these blobs.
pub(crate) fn names_one_of(drafts: &[Draft], blobs: &BTreeSet<BlobHash>) -> bool {
    drafts.iter().any(|draft| draft.body.blobs().iter().any(|hash| blobs.contains(hash)))
}

pub(crate) fn strange_blob() -> EngineError {
    EngineError::Invalid("an entry names a blob that its session does not have; send what is in it instead".into())
}

impl Session {
    /// Gives access to the bytes of entries with their references resolved.
    pub fn restored_lines(&self, what: Restore) -> RestoredLines<'_> {
        RestoredLines { lines: self.lines(), session: self, what }
    }

    /// Returns a line with its references resolved.
    pub fn restored<'l>(&self, line: Cow<'l, [u8]>, what: Restore) -> Cow<'l, [u8]> {
        let Some(blobs) = self.store.blobs().filter(|_| self.has_blobs()) else { return line };
        // A blob that cannot be read now is as good as missing now.
        let restored = blob::restore(&line, what, &mut |hash| blobs.fetch(hash).ok().flatten());
        self.missing.note(restored.missing);
        match restored.line {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => line,
        }
    }

    /// Returns the blobs that were wanted so far and are missing or damaged.
    pub fn missing_blobs(&self) -> Vec<BlobHash> {
        self.missing.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Says whether large content of this session is kept in blobs of its home.
    pub(crate) fn has_blobs(&self) -> bool {
        self.residence() != Residence::InPlace && self.store.blobs().is_some()
    }

    /// Reads the whole file and every blob it refers to; returns a finding for each that is missing or damaged.
    pub(crate) fn findings_about_blobs(&self) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        let Some(blobs) = self.store.blobs().filter(|_| self.has_blobs()) else { return Ok(findings) };
        let mut whole = BTreeSet::new();
        let mut bytes = Vec::new();
        self.store.read(self.location(), 0, &mut |chunk| bytes.extend_from_slice(chunk))?;
        let mut offset = 0;
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            for hash in blob::named(line) {
                if whole.contains(&hash) || matches!(blobs.fetch(hash), Ok(Some(_))) {
                    whole.insert(hash);
                    continue;
                }
                let id = Raw::parse(line).and_then(|raw| raw.field("id")).and_then(Raw::text).unwrap_or_default();
                let detail = format!("entry {id} refers to blob sha256:{hash}, which is missing or damaged");
                findings.push(Finding { kind: FindingKind::MissingBlob, line: at as u64 + 1, offset, detail });
            }
            offset += line.len() as u64;
        }
        Ok(findings)
    }
}

/// Reads records of a session with their references resolved.
pub struct RestoredLines<'s> {
    lines: StoreLines<'s>,
    session: &'s Session,
    what: Restore,
}

impl Lines for RestoredLines<'_> {
    type Error = StoreError;

    fn line(&self, place: Place) -> Result<Cow<'_, [u8]>, StoreError> {
        Ok(self.session.restored(self.lines.line(place)?, self.what))
    }
}
