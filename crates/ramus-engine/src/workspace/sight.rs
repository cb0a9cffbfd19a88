//! The snapshots of a session's directory for whoever plans what becomes of its files: to carry that out, or only to tell it.

use std::ops::Deref;

use ramus_snapshot::{Glance, Snapshots, Taken};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::look;

/// The snapshots of a directory, and what may be done with them.
pub(crate) enum Sight {
    /// What is planned can be carried out.
    Near(Snapshots),
    /// Nothing of the directory, or of what is kept of it, changes.
    Far(Glance),
}

impl Sight {
    /// Looks at what is there now.
    pub(crate) fn look(&mut self, session: &Session) -> Result<Taken, EngineError> {
        match self {
            Self::Near(store) => look(session, store, ""),
            Self::Far(glance) => Ok(glance.look()?),
        }
    }

    /// Returns what a plan is carried out with; none when it is only told.
    pub(crate) fn near(self) -> Option<Snapshots> {
        match self {
            Self::Near(store) => Some(store),
            Self::Far(_) => None,
        }
    }
}

impl Deref for Sight {
    type Target = Snapshots;

    fn deref(&self) -> &Snapshots {
        match self {
            Self::Near(store) => store,
            Self::Far(glance) => glance.snapshots(),
        }
    }
}

impl Engine {
    /// Opens the snapshots of the session's directory for a plan. With `dry_run` nothing is written, so what was
    /// interrupted is in the way.
    pub(crate) fn sight(&self, session: &mut Session, dry_run: bool) -> Result<Sight, EngineError> {
        if !dry_run {
            return Ok(Sight::Near(self.snapshot_store(session)?));
        }
        let cwd = session.cwd();
        let none = EngineError::Conflict(format!(
            "nothing is kept of {cwd}: the session worked in another directory, or came here without its files"
        ));
        let glance = self.glance_at_snapshots(session)?.ok_or(none)?;
        if glance.is_interrupted()? {
            return Err(EngineError::Unended {
                message: "files are being restored, or were when that was interrupted: what would happen is known when it is done"
                    .into(),
                hint: "`ramus snapshot SESSION` ends what was interrupted".into(),
            });
        }
        Ok(Sight::Far(glance))
    }
}
