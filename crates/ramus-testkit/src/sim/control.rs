//! What a test does to a simulated file system, and asks it, beside using it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{History, Node};
use super::fault::{Armed, Fault, Operation, OperationKind};
use super::system::{SimFs, clean};

impl SimFs {
    /// Adds a fault. Operations are counted from now on.
    pub fn arm(&self, fault: Fault) {
        self.state().faults.push(Armed::new(fault));
    }

    /// Removes all faults: there is space again, the disk works.
    pub fn clear_faults(&self) {
        self.state().faults.clear();
    }

    /// Lets a judge look at the disk: meanwhile nothing is counted and nothing fails.
    pub fn undisturbed<T>(&self, look: impl FnOnce() -> T) -> T {
        let was = std::mem::replace(&mut self.state().calm, true);
        let seen = look();
        self.state().calm = was;
        seen
    }

    /// Runs `hook` inside the `at`-th operation of a kind from now, just before it has its effect.
    pub fn interrupt(&self, kind: OperationKind, at: usize, hook: impl FnOnce() + Send + 'static) {
        self.state().hook = Some((kind, at.max(1), Box::new(hook)));
    }

    /// Makes every operation behind the first `operations` from now fail.
    pub fn crash_after(&self, operations: usize) {
        let mut state = self.state();
        state.crash_after = Some(state.log.len() + operations);
    }

    /// Returns the operations so far.
    pub fn operations(&self) -> Vec<Operation> {
        self.state().log.clone()
    }

    /// Returns how many operations of a kind there were.
    pub fn count(&self, kind: OperationKind) -> usize {
        self.state().log.iter().filter(|operation| operation.kind == kind).count()
    }

    /// Returns how many operations a fault made fail.
    pub fn failures(&self) -> usize {
        self.state().log.iter().filter(|operation| operation.failed).count()
    }

    /// Returns how often a handle was asked to make something durable after it had failed to.
    pub fn syncs_after_failure(&self) -> usize {
        self.state().syncs_after_failure
    }

    /// Forgets what happened so far and records from now on.
    pub fn record(&self) {
        let mut state = self.state();
        state.recorded = History { start: state.disk.clone(), events: Vec::new() };
    }

    /// Returns what happened since [`SimFs::record`].
    pub fn history(&self) -> History {
        self.state().recorded.clone()
    }

    /// Returns the files as programs see them.
    pub fn files(&self) -> Vec<(PathBuf, Arc<Vec<u8>>)> {
        let state = self.state();
        let files = state.disk.live.iter().filter_map(|(path, node)| match node {
            Node::File(inode) => Some((path.clone(), Arc::clone(&state.disk.files.get(inode)?.live))),
            Node::Directory => None,
        });
        files.collect()
    }

    /// Puts a durable file there, with the directories it needs, without counting as an operation.
    pub fn place(&self, path: &Path, content: &[u8]) {
        let mut state = self.state();
        let path = clean(path);
        let inode = state.number();
        let file = state.disk.files.entry(inode).or_default();
        file.live = Arc::new(content.to_vec());
        file.durable = Arc::clone(&file.live);
        let parents = path.ancestors().skip(1).filter(|parent| parent.parent().is_some()).map(Path::to_owned);
        let named = parents.map(|parent| (parent, Node::Directory)).chain([(path.clone(), Node::File(inode))]);
        for (path, node) in named.collect::<Vec<_>>() {
            state.disk.live.insert(path.clone(), node);
            state.disk.durable.insert(path, node);
        }
    }
}
