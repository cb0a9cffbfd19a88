//! What a session's path says about files at its end, for lists: how much its turns changed, the newest snapshot, the
//! repository. Found in a few entries at the end of the path, however long it is.

use ramus_model::Kind;
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
        let log = self.log();
        // A leaf that went back to an answer still stands for the turn that ended with it.
        let behind = match log.leaf() {
            Some(leaf) => self.notes_behind(leaf)?.last().map(|(seq, _)| *seq),
            None => None,
        };
        for seq in log.ancestors(behind.or(log.leaf())) {
            if log.record(seq).is_none_or(|record| record.kind != Kind::Custom) {
                continue;
            }
            let Some(note) = super::Note::read(&self.line(seq)?) else { continue };
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
