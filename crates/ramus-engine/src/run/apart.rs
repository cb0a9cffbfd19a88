//! Children that work apart: in a copy of the directory, whose changes come back when the child succeeds and are dropped
//! when it does not.
//!
//! The invariant: the directory changes only after the child has ended well, in one restore that is journalled, and never
//! where somebody changed the same file meanwhile.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_snapshot::{About, Plan, Restore, SnapshotId, Snapshots};
use ramus_tools::{Reach, Tool};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::key;
use crate::workspace::{io, make};

/// The tools of a session, at work in a directory.
pub type Equip = Arc<dyn Fn(&Path, &str) -> Result<Vec<Arc<dyn Tool>>, String> + Send + Sync>;

/// Where copies are made for children, and what children have there.
#[derive(Clone)]
pub struct Apart {
    /// The directory that copies are made in.
    pub storage: PathBuf,
    /// Makes the tools of a child.
    pub equip: Equip,
}

/// A copy that a child works in.
pub(super) struct Copy {
    pub(super) root: PathBuf,
    /// The directory that it is a copy of, and its snapshots.
    parent: String,
    original: Snapshots,
    /// The snapshots of the copy, and the first of them.
    copied: Snapshots,
    start: SnapshotId,
}

/// What became of what a child changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Brought {
    pub(super) files: Vec<PathBuf>,
    /// What somebody changed meanwhile; when there is any, nothing was applied.
    pub(super) conflicts: Vec<PathBuf>,
    pub(super) is_applied: bool,
}

impl Engine {
    /// Copies the directory of a child's parent for it, and moves the child there.
    pub(super) fn copy_for(&self, child: &mut Session, storage: &Path) -> Result<Copy, EngineError> {
        let parent = child.cwd().to_owned();
        let mut original = self.snapshot_store(child)?;
        let label = format!("For {}", child.title());
        let base = original.take(&About { label: label.clone(), parents: Vec::new() })?.id;
        let storage = make(storage).and_then(|()| storage.canonicalize()).map_err(io("make", storage))?;
        if self.apart.iter().any(|home| home.canonicalize().is_ok_and(|home| storage.starts_with(home))) {
            return Err(EngineError::Invalid("a copy cannot be in the home".into()));
        }
        let root = storage.join(child.id().as_str());
        fs::DirBuilder::new().mode(0o700).create(&root).map_err(io("make", &root))?;
        self.note_workspace(child, &root)?;
        original.copy_to(base, &root)?;
        let text = root.to_str().ok_or_else(|| EngineError::Invalid("the copy has a name that is not text".into()))?;
        self.move_to(child, text)?;
        let home =
            self.snapshots.as_ref().ok_or_else(|| EngineError::Invalid("this home keeps no snapshots".into()))?;
        let mut copied = Snapshots::open(&home.join(key(&root)), &root, &self.apart)?;
        let start = copied.take(&About { label, parents: Vec::new() })?.id;
        Ok(Copy { root, parent, original, copied, start })
    }

    /// Brings what a child changed to the directory that it worked on a copy of, unless somebody changed the same files.
    pub(super) fn bring_back(&self, copy: &mut Copy, child: &Session) -> Result<Brought, EngineError> {
        let about = About { label: format!("From {}", child.title()), parents: vec![copy.start] };
        let end = copy.copied.take_since(copy.start, &about)?.id;
        let files = copy.copied.changed(copy.start, end)?;
        if files.is_empty() {
            return Ok(Brought { is_applied: true, ..Brought::default() });
        }
        for id in [copy.start, end] {
            copy.original.adopt(copy.copied.vault(), id)?;
        }
        let plan = copy.plan(end, &files)?;
        let mut conflicts: Vec<PathBuf> = plan.conflicts().map(|step| step.path.clone()).collect();
        if conflicts.is_empty() {
            conflicts = self.bring(copy, &plan, child)?;
        }
        Ok(Brought { is_applied: conflicts.is_empty(), files, conflicts })
    }

    /// Carries out a plan as what a call does: it changes what is in the plan, and nothing else.
    fn bring(&self, copy: &mut Copy, plan: &Plan, child: &Session) -> Result<Vec<PathBuf>, EngineError> {
        let root = Snapshots::root_of(Path::new(&copy.parent))?;
        let ledger = self.ledgers.of(copy.original.vault().path(), &root, &self.apart, None);
        let (turn, call) = (child.id().as_str(), "bring back");
        let label = format!("After: {}", child.title());
        ledger.begin(turn, call, &label);
        let restored = copy.original.restore(plan, false);
        let reach = Reach::of(plan.steps.iter().map(|step| root.join(&step.path)));
        ledger.end(turn, call, &label, Some(reach));
        Ok(restored?.kept)
    }

    /// Removes a copy, and moves the child to where its parent is.
    pub(super) fn drop_copy(&self, copy: Copy, child: &mut Session) -> Result<(), EngineError> {
        self.move_to(child, &copy.parent)?;
        for owned in self.owned_workspaces(&[child.location()])? {
            owned.remove(false)?;
        }
        Ok(())
    }
}

impl Copy {
    fn plan(&mut self, end: SnapshotId, files: &[PathBuf]) -> Result<Plan, EngineError> {
        let current = self.original.take(&About::default())?.id;
        let wanted: HashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
        let mut plan = self.original.plan(&Restore { target: end, baseline: self.start, current, only: &[] })?;
        plan.steps.retain(|step| wanted.contains(step.path.as_path()));
        Ok(plan)
    }
}

impl Brought {
    /// What the parent is told.
    pub(super) fn told(&self, root: &Path) -> String {
        let names = |paths: &[PathBuf]| {
            let some: Vec<String> = paths.iter().take(20).map(|path| path.display().to_string()).collect();
            let more = paths.len().saturating_sub(some.len());
            if more > 0 { format!("{} and {more} more", some.join(", ")) } else { some.join(", ") }
        };
        match (self.is_applied, self.files.is_empty()) {
            (true, true) => "\n[It changed no files]".to_owned(),
            (true, false) => format!("\n[Its changes were applied: {}]", names(&self.files)),
            (false, _) => format!(
                "\n[Its changes were not applied, because these files were changed meanwhile: {}; what it made is in {}]",
                names(&self.conflicts),
                root.display()
            ),
        }
    }

    /// The same for programs.
    pub(super) fn to_json(&self) -> Value {
        let names =
            |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>();
        json!({"applied": self.is_applied, "files": names(&self.files), "conflicts": names(&self.conflicts)})
    }
}

#[cfg(test)]
mod tests {
    use ramus_store::{JsonlStore, Layout};

    use super::*;
    use crate::verb::create::NewSession;

    /// Copies a directory for a child, lets `meanwhile` work in both, and brings back what changed.
    fn brought(meanwhile: impl FnOnce(&Path, &Path)) -> Result<(tempfile::TempDir, Brought, PathBuf), EngineError> {
        let none = |error: std::io::Error| EngineError::Invalid(error.to_string());
        let folder = tempfile::tempdir().map_err(none)?;
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        fs::create_dir_all(&project).map_err(none)?;
        for (name, text) in [("a.txt", "a\n"), ("b.txt", "b\n"), ("left.txt", "left\n"), (".gitignore", "left.txt\n")] {
            fs::write(project.join(name), text).map_err(none)?;
        }
        let engine = Engine::new(Arc::new(JsonlStore::new(&home, Layout::Pi)), "test").with_snapshots(&home);
        let cwd = project.canonicalize().map_err(none)?.display().to_string();
        let mut child = engine.create(NewSession { cwd: cwd.clone(), ..NewSession::default() })?;
        let mut copy = engine.copy_for(&mut child, &folder.path().join("copies"))?;
        assert_eq!(child.cwd(), copy.root.display().to_string());
        assert!(copy.root.join("a.txt").exists() && !copy.root.join("left.txt").exists());
        meanwhile(&project, &copy.root);
        let (brought, root) = (engine.bring_back(&mut copy, &child)?, copy.root.clone());
        engine.drop_copy(copy, &mut child)?;
        assert!(child.cwd() == cwd && !root.exists());
        Ok((folder, brought, project))
    }

    fn put(directory: &Path, name: &str, text: &str) {
        assert!(fs::write(directory.join(name), text).is_ok());
    }

    fn read(directory: &Path, name: &str) -> Option<String> {
        fs::read_to_string(directory.join(name)).ok()
    }

    #[test]
    fn f5_changes_come_back_beside_those_of_others() -> Result<(), EngineError> {
        let (_folder, brought, project) = brought(|project, copy| {
            put(copy, "a.txt", "changed apart\n");
            put(copy, "new.txt", "new\n");
            assert!(fs::remove_file(copy.join("b.txt")).is_ok());
            put(project, "other.txt", "of somebody else\n");
        })?;
        let names = ["a.txt", "b.txt", "new.txt"].map(PathBuf::from);
        assert_eq!(brought, Brought { files: names.to_vec(), conflicts: Vec::new(), is_applied: true });
        let read = |name| read(&project, name);
        assert_eq!((read("a.txt").as_deref(), read("b.txt")), (Some("changed apart\n"), None));
        assert_eq!((read("new.txt").as_deref(), read("left.txt").as_deref()), (Some("new\n"), Some("left\n")));
        assert_eq!(read("other.txt").as_deref(), Some("of somebody else\n"));
        Ok(())
    }

    #[test]
    fn f5_nothing_comes_back_when_one_file_was_changed_meanwhile() -> Result<(), EngineError> {
        let (_folder, brought, project) = brought(|project, copy| {
            put(copy, "a.txt", "changed apart\n");
            put(copy, "new.txt", "new\n");
            put(project, "a.txt", "changed meanwhile\n");
        })?;
        assert!(!brought.is_applied);
        assert_eq!(brought.conflicts, [PathBuf::from("a.txt")]);
        assert_eq!(
            (read(&project, "a.txt").as_deref(), read(&project, "new.txt")),
            (Some("changed meanwhile\n"), None)
        );
        Ok(())
    }
}
