//! Approvals that outlive the call they were given for. The home keeps them, and the session records each as an entry with
//! what was approved, byte for byte.
//!
//! Only what the home keeps counts. An entry proves nothing: files are forked, copied, imported and edited, and none of that
//! may widen what a model is allowed to do.

use std::path::Path;

use ramus_model::permission::{Approval, Covered, Scope};
use ramus_model::{Body, Draft};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::kept::Kept;
use crate::operation::Doing;
use crate::project;
use crate::session::Session;

/// The approvals of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approvals {
    kept: Kept,
}

/// An approval that the home keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// Its name, which is that of its entry.
    pub id: String,
    /// The session it was given in.
    pub session: String,
    /// Whose session that is. What one owner says yes to, no other has.
    #[serde(default = "default_owner", skip_serializing_if = "is_default")]
    pub owner: String,
    /// The project it was given in.
    pub project: ProjectKey,
    /// When.
    pub time: String,
    /// What was approved.
    pub approval: Approval,
}

/// What tells one project from another: where it is, and which repository is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectKey {
    /// The directory.
    pub root: String,
    /// The git directory itself, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
}

impl ProjectKey {
    /// Names what is around a directory now. What a session recorded could be anything.
    fn of(directory: &str) -> Self {
        match project::find(directory) {
            Some(project) => Self { root: project.root, git: project.git },
            None => Self { root: directory.to_owned(), git: None },
        }
    }
}

fn default_owner() -> String {
    DEFAULT_OWNER.to_owned()
}

fn is_default(owner: &str) -> bool {
    owner == DEFAULT_OWNER
}

impl Granted {
    fn holds(&self, session: &Session, project: &ProjectKey) -> bool {
        if self.owner != session.owner() {
            return false;
        }
        match self.approval.scope {
            Scope::Once => false,
            Scope::Session => self.session == session.id().as_str(),
            Scope::Project => self.project == *project,
        }
    }
}

impl Engine {
    /// Keeps approvals in a home.
    #[must_use]
    pub fn with_approvals(mut self, home: &Path) -> Self {
        self.approvals = Some(Approvals { kept: Kept::at(home.join("approvals.json")) });
        self
    }

    /// Returns the approvals that hold for a session.
    pub fn approvals(&self, session: &Session) -> Result<Vec<Granted>, EngineError> {
        let Some(approvals) = &self.approvals else { return Ok(Vec::new()) };
        let project = ProjectKey::of(session.cwd());
        let all: Vec<Granted> = approvals.kept.read()?;
        Ok(all.into_iter().filter(|granted| granted.holds(session, &project)).collect())
    }

    /// Records an approval in the session and keeps it in the home.
    pub(crate) fn approve(
        &self,
        session: &mut Session,
        approval: &Approval,
        doing: &mut Doing,
    ) -> Result<(), EngineError> {
        let (name, covered) = match &approval.covered {
            Covered::Exact(bytes) => ("exact", bytes),
            Covered::Pattern(pattern) => ("pattern", pattern),
        };
        let time = self.timestamp();
        let data = json!({
            "permission": approval.permission, name: covered, "scope": approval.scope, "time": time,
        });
        let id = self.record_approval(session, data, doing)?;
        let Some(approvals) = &self.approvals else { return Ok(()) };
        let owner = session.owner().to_owned();
        let (session, project) = (session.id().to_string(), ProjectKey::of(session.cwd()));
        let granted = Granted { id, session, owner, project, time, approval: approval.clone() };
        approvals.kept.change(|list: &mut Vec<Granted>| {
            list.push(granted);
            true
        })
    }

    /// Takes back an approval that holds for a session.
    pub fn revoke_approval(&self, session: &mut Session, id: &str) -> Result<Granted, EngineError> {
        let held = self.approvals(session)?;
        let mut matching = held.into_iter().filter(|granted| granted.id.starts_with(id) && !id.is_empty());
        let (Some(granted), None) = (matching.next(), matching.next()) else {
            return Err(EngineError::ApprovalNotFound(id.to_owned()));
        };
        if let Some(approvals) = &self.approvals {
            // It must not count any more before anyone is told so.
            approvals.kept.change(|list: &mut Vec<Granted>| {
                let before = list.len();
                list.retain(|known| known.id != granted.id || known.session != granted.session);
                list.len() < before
            })?;
        }
        self.record_approval(
            session,
            json!({"revokes": granted.id, "time": self.timestamp()}),
            &mut Doing::one("revoke", self),
        )?;
        Ok(granted)
    }

    fn record_approval(&self, session: &mut Session, data: Value, doing: &mut Doing) -> Result<String, EngineError> {
        let appended = self.record(session, doing, vec![Draft::new(Body::ramus("approval", data))])?;
        let written = appended.entries.into_iter().next();
        written.map(|written| written.id.to_string()).ok_or_else(|| EngineError::Invalid("nothing was written".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ramus_store::{JsonlStore, Layout};

    use super::*;
    use crate::verb::create::NewSession;

    #[test]
    fn what_one_owner_says_yes_to_no_other_has() -> Result<(), EngineError> {
        let failed = |error: std::io::Error| EngineError::Invalid(error.to_string());
        let home = tempfile::tempdir().map_err(failed)?;
        let engine =
            Engine::new(Arc::new(JsonlStore::new(home.path(), Layout::Pi)), "test").with_approvals(home.path());
        let cwd = home.path().display().to_string();
        let session = |owner: Option<&str>| {
            engine.create(NewSession { cwd: cwd.clone(), owner: owner.map(str::to_owned), ..NewSession::default() })
        };
        let (mut ours, again, theirs) = (session(None)?, session(None)?, session(Some("bob"))?);
        let covered = Covered::Pattern("make *".into());
        let approval = Approval { permission: "bash".into(), covered, scope: Scope::Project };
        engine.approve(&mut ours, &approval, &mut Doing::one("approve", &engine))?;
        let held = |session: &Session| Ok::<_, EngineError>(engine.approvals(session)?.len());
        assert_eq!([held(&ours)?, held(&again)?, held(&theirs)?], [1, 1, 0]);
        Ok(())
    }
}
