//! What a session's path says about files at its end, for lists: how much its turns changed, the newest snapshot, the
//! repository. Found in a few entries at the end of the path, however long it is.

use ramus_snapshot::SnapshotId;

use super::note::{Name, Summary};
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::info::GitState;

/// What is known about files at the end of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// What all turns changed.
    pub(crate) summary: Summary,
    /// The newest snapshot.
    pub(crate) latest: Option<SnapshotId>,
    /// The repository when the last turn ended.
    pub(crate) git: GitState,
    /// Why the last turn took no snapshots.
    pub(crate) without: Option<String>,
}

impl Session {
    /// Looks at the last turn of the path and what came behind it.
    pub(crate) fn account(&self) -> Result<Account, EngineError> {
        let mut account = Account::default();
        for note in self.path_notes(self.log().leaf()) {
            let (_, note) = note?;
            account.latest = account.latest.or(note.commit).or(note.latest);
            if note.name == Name::Turn {
                account.summary = note.session;
                account.git = note.git;
                account.without = note.without;
                break;
            }
        }
        Ok(account)
    }
}
