//! Names for snapshots that can be moved to others: the branches of a workspace.

use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::SnapshotEntry;

/// The key of the metadata that holds which name stands for which snapshot.
const NAMES: &str = "snapshot_names";

/// The key of the metadata that holds the name that files were last brought to.
const CURRENT: &str = "snapshot_name";

/// The longest name.
const LONGEST: usize = 120;

impl Engine {
    /// Lets a name stand for a snapshot, also when it stood for another one, and returns it as it is kept. With
    /// `is_current`, the files are what it stands for now.
    pub fn name_snapshot(
        &self,
        session: &mut Session,
        name: &str,
        target: &SnapshotEntry,
        is_current: bool,
    ) -> Result<String, EngineError> {
        let name = cleaned(name)?;
        self.change_meta(session, "snapshot", |session| {
            let mut names = session.snapshot_names();
            names.insert(name.clone(), target.commit.to_string().into());
            let mut set = Map::from_iter([(NAMES.to_owned(), Value::Object(names))]);
            if is_current {
                set.insert(CURRENT.to_owned(), name.as_str().into());
            }
            Ok(set)
        })?;
        Ok(name)
    }

    /// Notes that files were brought to a snapshot without a name.
    pub fn leave_snapshot_name(&self, session: &mut Session) -> Result<(), EngineError> {
        self.change_meta(session, "snapshot", |session| {
            let none = Map::from_iter([(CURRENT.to_owned(), Value::Null)]);
            Ok(if session.snapshot_name().is_some() { none } else { Map::new() })
        })
    }

    /// Finds the snapshot that a name stands for.
    pub fn find_named_snapshot(&self, session: &Session, name: &str) -> Result<SnapshotEntry, EngineError> {
        let missing = || EngineError::SnapshotNotFound(name.chars().take(LONGEST).collect());
        let kept = cleaned(name).map_err(|_| missing())?;
        let names = session.snapshot_names();
        let commit = names.get(&kept).and_then(Value::as_str).ok_or_else(missing)?;
        self.find_snapshot(session, commit)
    }
}

impl Session {
    /// Returns which names stand for which snapshots.
    pub fn snapshot_names(&self) -> Map<String, Value> {
        let names = self.log().facts().meta().get(NAMES).and_then(Value::as_object);
        names.cloned().unwrap_or_default()
    }

    /// Returns the name that files were last brought to.
    pub fn snapshot_name(&self) -> Option<&str> {
        self.log().facts().meta().get(CURRENT).and_then(Value::as_str)
    }
}

/// Says whether a key of the metadata is about names of snapshots.
pub(crate) fn is_of_snapshots(key: &str) -> bool {
    matches!(key, NAMES | CURRENT)
}

/// Makes a name of what somebody calls it: what git would not have in the name of a branch becomes a dash.
fn cleaned(name: &str) -> Result<String, EngineError> {
    let mut kept = String::new();
    for c in name.trim().chars() {
        let is_usual = c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
        let c = if is_usual { c } else { '-' };
        // No two of these behind each other: `..` and `//` mean something else elsewhere.
        if c.is_ascii_alphanumeric() || c == '_' || !kept.ends_with(['-', '.', '/']) {
            kept.push(c);
        }
    }
    kept.truncate(LONGEST);
    let kept = kept.trim_matches(['-', '.', '/']).replace(".lock", "-lock");
    if kept.is_empty() {
        return Err(EngineError::Invalid("the name of a branch has letters or digits".into()));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tame_and_never_nothing() {
        let clean = |name: &str| cleaned(name).ok();
        assert_eq!(clean("conv 1/message:2").as_deref(), Some("conv-1/message-2"));
        assert_eq!(clean("../../etc/x.lock").as_deref(), Some("etc/x-lock"));
        assert_eq!(clean(&"x".repeat(500)).map(|name| name.len()), Some(LONGEST));
        assert_eq!([clean(".."), clean("/"), clean(" "), clean("…")], [None, None, None, None]);
    }
}
