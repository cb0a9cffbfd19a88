//! Marking what verbs write with the operation it belongs to, so that it can be listed and taken back as one.

use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use ramus_model::{Body, Draft};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::{Appended, Cursor, Written};
use crate::verb::create::new_entry_id;

/// An operation that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Doing {
    mark: Mark,
    /// What several entries of it have in common; none when there will be only one.
    id: Option<String>,
    has_begun: bool,
}

impl Doing {
    /// An operation that writes one entry.
    pub(crate) fn one(name: &str, engine: &Engine) -> Self {
        let mark = Mark { name: name.to_owned(), client: engine.client.clone(), ..Mark::default() };
        Self { mark, id: None, has_begun: false }
    }

    /// Says through which surface, when that is another one than the engine's.
    pub(crate) fn to(mut self, session: &Session) -> Self {
        self.mark.client = session.client.clone().unwrap_or(self.mark.client);
        self
    }

    /// An operation that may write several.
    pub(crate) fn several(name: &str, engine: &Engine, session: &Session) -> Self {
        let id = new_entry_id(|id| session.log().seq_of(id).is_some());
        Self::called(name, engine, id.as_str()).to(session)
    }

    /// An operation that may write several and has a name already.
    pub(crate) fn called(name: &str, engine: &Engine, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..Self::one(name, engine) }
    }

    /// The one that an entry says it began, which goes on.
    pub(crate) fn found(line: &[u8], engine: &Engine) -> Self {
        let mark = Raw::parse(line).and_then(Mark::read).unwrap_or_default();
        let doing = Self::one(&mark.name, engine);
        Self { id: mark.id.or(mark.of), ..doing }.goes_on()
    }

    /// One that began before.
    pub(crate) fn goes_on(mut self) -> Self {
        self.has_begun = true;
        self
    }

    /// One that takes another one back.
    pub(crate) fn taking_back(mut self, id: &str) -> Self {
        self.mark.takes_back = Some(id.to_owned());
        self
    }

    /// Marks the next entry.
    pub(crate) fn mark(&mut self, body: Body) -> Body {
        let mut mark = self.mark.clone();
        if std::mem::replace(&mut self.has_begun, true) {
            mark.of.clone_from(&self.id);
        } else {
            mark.id.clone_from(&self.id);
        }
        body.marked(&mark)
    }
}

impl Engine {
    /// Appends entries of one operation to the leaf.
    pub(crate) fn record(
        &self,
        session: &mut Session,
        doing: &mut Doing,
        drafts: Vec<Draft>,
    ) -> Result<Appended, EngineError> {
        *doing = doing.clone().to(session);
        let mark = |draft: Draft| Draft { body: doing.mark(draft.body), ..draft };
        let drafts: Vec<Draft> = drafts.into_iter().map(mark).collect();
        self.append(session, &drafts, &Cursor::Leaf)
    }

    /// Appends the only entry of an operation to the leaf.
    pub(crate) fn record_one(&self, session: &mut Session, name: &str, body: Body) -> Result<Written, EngineError> {
        self.record_draft(session, name, Draft::new(body))
    }

    /// Appends the only entry of an operation where it says it hangs.
    pub(crate) fn record_draft(&self, session: &mut Session, name: &str, draft: Draft) -> Result<Written, EngineError> {
        let appended = self.record(session, &mut Doing::one(name, self), vec![draft])?;
        let written = appended.entries.into_iter().next();
        written.ok_or_else(|| EngineError::Invalid("nothing was written".into()))
    }
}
