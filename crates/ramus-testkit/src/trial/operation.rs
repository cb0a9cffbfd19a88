//! The verbs that trials combine.

use ramus_engine::{Children, Cursor, EngineError, ForkOptions, NewSession};

use super::home::{CWD, DRAFT, OLD, TORN, message};
use super::world::World;

/// A verb, on a session that the world chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Makes a session, which becomes the current one.
    Create,
    /// Appends one entry.
    Append,
    /// Appends three entries at once.
    Batch,
    /// Gives another title.
    Rename,
    /// Moves the leaf to the first entry.
    Branch,
    /// Appends to the file of version 1, which upgrades it.
    Migrate,
    /// Forks the current session at its leaf; the fork becomes the current one.
    Fork,
    /// Appends an answer to the draft, which publishes it.
    Publish,
    /// Deletes the current session.
    Delete,
    /// Reads everything.
    Doctor,
    /// Appends to the file with the torn end, which sets it aside.
    Mend,
    // A new verb (an append with a blob, a collection) is added here, in `ALL` and in `World::run`.
}

impl Operation {
    /// Every verb.
    pub const ALL: [Self; 11] = [
        Self::Create,
        Self::Append,
        Self::Batch,
        Self::Rename,
        Self::Branch,
        Self::Migrate,
        Self::Fork,
        Self::Publish,
        Self::Delete,
        Self::Doctor,
        Self::Mend,
    ];
}

impl World {
    /// Runs one verb. What succeeds is in the model afterwards; what fails is not.
    pub fn run(&mut self, operation: Operation) -> Result<(), EngineError> {
        let current = self.current().to_owned();
        match operation {
            Operation::Create => self.create(),
            Operation::Append => self.append(&current, &["user"]),
            Operation::Batch => self.append(&current, &["user", "assistant", "user"]),
            Operation::Rename => {
                let title = format!("title {}", self.number());
                self.change(&current, |engine, session| engine.rename(session, &title).map(drop))
            }
            Operation::Branch => self.change(&current, |engine, session| {
                let first = session.log().visible().next();
                first.map_or(Ok(()), |first| engine.branch(session, first).map(drop))
            }),
            Operation::Migrate => self.append(OLD, &["user"]),
            Operation::Fork => self.fork(&current),
            Operation::Publish => self.append(DRAFT, &["assistant"]),
            Operation::Delete => self.delete(&current),
            Operation::Doctor => {
                let examined = self.engine().doctor_all()?;
                examined.into_iter().try_for_each(|one| one.outcome.map(drop))
            }
            Operation::Mend => self.append(TORN, &["user"]),
        }
    }

    /// Returns the session a verb that has no session of its own is about.
    pub(super) fn target(&self, operation: Operation) -> Option<String> {
        (operation == Operation::Delete).then(|| self.current().to_owned())
    }

    fn create(&mut self) -> Result<(), EngineError> {
        let title = format!("title {}", self.number());
        let new = NewSession { cwd: CWD.to_owned(), title: Some(title), ..NewSession::default() };
        let session = self.engine().create(new)?;
        self.adopt(session);
        Ok(())
    }

    fn append(&mut self, id: &str, roles: &[&str]) -> Result<(), EngineError> {
        let drafts: Vec<_> = roles
            .iter()
            .map(|role| {
                let number = self.number();
                message(Some(&format!("e{number:07}")), role, &format!("text {number}"))
            })
            .collect();
        self.attempt(&drafts);
        self.change(id, |engine, session| engine.append(session, &drafts, &Cursor::Leaf).map(drop))
    }

    fn fork(&mut self, id: &str) -> Result<(), EngineError> {
        let Some(origin) = self.session(id)? else { return Ok(()) };
        let Some(leaf) = origin.log().leaf() else { return Ok(()) };
        let engine = self.engine();
        let Some(origin) = self.session(id)? else { return Ok(()) };
        let fork = engine.fork(origin, leaf, &ForkOptions::default())?;
        self.adopt(fork);
        Ok(())
    }

    fn delete(&mut self, id: &str) -> Result<(), EngineError> {
        let engine = self.engine();
        let Some(session) = self.session(id)? else { return Ok(()) };
        match engine.delete(session, Children::Orphan, false) {
            // Forks stand on it: nothing happens, as it should.
            Err(EngineError::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => {
                self.forget(id);
                Ok(())
            }
        }
    }
}
