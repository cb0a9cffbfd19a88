//! The verbs that trials combine.

use ramus_engine::{Children, Cursor, EngineError, ForkOptions, NewSession};

use super::home::{CWD, DRAFT, OLD, TORN, message, now};
use super::world::World;

/// A verb, on a session that the world chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
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

impl Verb {
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
    pub fn run(&mut self, verb: Verb) -> Result<(), EngineError> {
        let current = self.current().to_owned();
        match verb {
            Verb::Create => self.create(),
            Verb::Append => self.append(&current, &["user"]),
            Verb::Batch => self.append(&current, &["user", "assistant", "user"]),
            Verb::Rename => {
                let title = format!("title {}", self.number());
                self.change(&current, |engine, session| engine.rename(session, &title).map(drop))
            }
            Verb::Branch => self.change(&current, |engine, session| {
                let first = session.log().visible().next();
                first.map_or(Ok(()), |first| engine.branch(session, first).map(drop))
            }),
            Verb::Migrate => self.append(OLD, &["user"]),
            Verb::Fork => self.fork(&current),
            Verb::Publish => self.append(DRAFT, &["assistant"]),
            Verb::Delete => self.delete(&current),
            Verb::Doctor => {
                let examined = self.engine().doctor_all()?;
                examined.into_iter().try_for_each(|one| one.outcome.map(drop))
            }
            Verb::Mend => self.append(TORN, &["user"]),
        }
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
        let mut written = Vec::new();
        self.change(id, |engine, session| {
            written = engine.append(session, &drafts, &Cursor::Leaf)?.entries;
            Ok(())
        })?;
        // What counts is what was handed over, not what can be read back.
        for (draft, written) in drafts.iter().zip(&written) {
            self.expect(id, draft.body.to_line(&written.id, written.parent.as_ref(), &now()), written);
        }
        Ok(())
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
