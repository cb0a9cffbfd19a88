//! Making a log writable: old versions are upgraded, files without a header set aside, both by the first append.

use ramus_model::{Finding, FindingKind, Tail, migrate};
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{Location, StoreError};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::recovery::{Action, ActionKind};
use crate::session::Session;
use crate::sidecar::Sidecar;
use crate::verb::append::{ATTEMPTS, overtaken};

impl Engine {
    /// Brings a log into a state that can be appended to: an old version is upgraded, a file without a header is set
    /// aside. Both keep the old file under another name, and both are decided again when others were faster.
    pub(crate) fn make_writable(&self, session: &mut Session) -> Result<(), EngineError> {
        for _ in 0..ATTEMPTS {
            let outcome = if session.log.header().is_some_and(|header| header.synthetic) {
                self.set_aside(session)?
            } else if migrate::is_needed(&session.log) {
                self.upgrade(session)?
            } else if let (Tail::Torn { from }, false) = (session.log.tail(), is_planted(Bug::NoTailRepair)) {
                self.cut_tail(session, from)?
            } else {
                return Ok(());
            };
            session.reload()?;
            session.recovered.extend(outcome);
        }
        Err(overtaken(session))
    }

    /// Upgrades the file and says so, or nothing when it changed since it was read.
    fn upgrade(&self, session: &Session) -> Result<Option<Action>, EngineError> {
        let bytes = self.whole_file(session)?;
        let version = session.log.header().map_or(1, |header| header.version);
        let backup = format!(".v{version}.bak");
        let upgraded = migrate::upgrade(&session.log, &bytes);
        let said = format!("upgraded from version {version}; the old file is kept beside it ({backup})");
        let done = self.rewrite(session, &bytes, &upgraded, Some(&backup))?;
        Ok(done.then(|| Action::new(ActionKind::Upgraded, said)))
    }

    /// Replaces the file if it is still the one that was read.
    fn rewrite(&self, session: &Session, old: &[u8], new: &[u8], backup: Option<&str>) -> Result<bool, EngineError> {
        if old.len() as u64 != session.log.end() {
            return Ok(false);
        }
        match self.store.rewrite(session.location(), session.position(), new, backup) {
            Ok(()) => Ok(true),
            Err(StoreError::Moved { .. } | StoreError::Replaced { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the torn end of the log aside: nobody was told that it is stored. Says so, or nothing when the log changed
    /// since it was read.
    fn cut_tail(&self, session: &mut Session, from: u64) -> Result<Option<Action>, EngineError> {
        let position = session.position();
        match session.writer()?.cut(position, from) {
            Ok(aside) => Ok(Some(Action::torn_tail(aside.len, aside.path))),
            Err(StoreError::Moved { .. } | StoreError::Replaced { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts a new session in place of a file without a header, which is kept under another name. Files that are no
    /// sessions at all are left alone.
    fn set_aside(&self, session: &mut Session) -> Result<Option<Action>, EngineError> {
        let bytes = self.whole_file(session)?;
        let is_empty = bytes.iter().all(u8::is_ascii_whitespace);
        if !is_empty && !could_be_session(session) {
            let reason = "the file is not a session: it has no session header and no entries; nothing was written";
            return Err(EngineError::Invalid(reason.into()));
        }
        let fresh = self.create_header_for(session);
        let is_emptied = matches!(session.sidecar, Sidecar::Contradicted);
        let mut hash = hex::encode(Sha256::digest(&bytes));
        hash.truncate(16);
        let backup = (!is_empty).then(|| format!(".corrupt-{hash}"));
        let done = self.rewrite(session, &bytes, &fresh.to_line(), backup.as_deref())?;
        if done {
            let location = Location { id: fresh.id, ..session.location().clone() };
            session.relocate(location);
        }
        let said = match &backup {
            Some(backup) => format!(
                "the file had no session header: it is kept beside this one ({backup}), and a new session was started"
            ),
            None if is_emptied => "something else emptied the file: the entries that were in it are gone".to_owned(),
            None => return Ok(None),
        };
        Ok(done.then(|| Action::new(ActionKind::HeaderSetAside, said)))
    }

    pub(crate) fn whole_file(&self, session: &Session) -> Result<Vec<u8>, EngineError> {
        let mut bytes = Vec::new();
        self.store.read(session.location(), 0, &mut |chunk| bytes.extend_from_slice(chunk))?;
        Ok(bytes)
    }
}

/// Says whether a file without a header was a session once: it has entries, or it was damaged beyond telling.
fn could_be_session(session: &Session) -> bool {
    let is_named_so = session.location().path.as_ref().is_none_or(|path| path.extension() == Some("jsonl".as_ref()));
    let foreign = |finding: &Finding| finding.kind == FindingKind::NotAnEntry;
    is_named_so && (!session.log.is_empty() || !session.log.findings().iter().any(foreign))
}
