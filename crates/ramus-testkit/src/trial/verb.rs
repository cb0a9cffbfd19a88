//! The verbs that trials combine.

use ramus_engine::{Children, Cursor, EngineError, ForkOptions, NewSession};

use super::home::{CWD, DRAFT, OLD, TORN, message, now, picture};
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
    /// Appends an entry with a picture, which becomes a blob.
    Picture,
    /// Collects blobs that nothing refers to.
    Collect,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 13] = [
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
        Self::Picture,
        Self::Collect,
    ];

    /// The verbs whose workloads of three are all tried: one of each kind of change.
    pub const KINDS: [Self; 8] = [
        Self::Create,
        Self::Append,
        Self::Picture,
        Self::Rename,
        Self::Migrate,
        Self::Fork,
        Self::Delete,
        Self::Collect,
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
                let examined = self.engine().doctor_all(ramus_engine::Treatment::LookOnly)?;
                examined.into_iter().try_for_each(|one| one.outcome.map(drop))
            }
            Verb::Mend => self.append(TORN, &["user"]),
            Verb::Picture => self.append_picture(&current),
            Verb::Collect => self.engine().gc(false).map(drop),
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
        let forked = engine.fork(origin, leaf, &ForkOptions::default())?;
        let fork = engine.open_fork(&forked)?;
        self.adopt(fork);
        Ok(())
    }

    fn delete(&mut self, id: &str) -> Result<(), EngineError> {
        let engine = self.engine();
        let Some(session) = self.session(id)? else { return Ok(()) };
        engine.delete(session, Children::Orphan, false)?;
        self.forget(id);
        Ok(())
    }

    fn append_picture(&mut self, id: &str) -> Result<(), EngineError> {
        let number = self.number();
        let draft = picture(&format!("e{number:07}"), number);
        self.attempt(std::slice::from_ref(&draft));
        let mut written = Vec::new();
        self.change(id, |engine, session| {
            written = engine.append(session, std::slice::from_ref(&draft), &Cursor::Leaf)?.entries;
            Ok(())
        })?;
        let stored = draft.body.externalised().map_or(draft.body, |(body, _)| body);
        for written in &written {
            self.expect(id, stored.to_line(&written.id, written.parent.as_ref(), &now()), written);
        }
        Ok(())
    }
}
