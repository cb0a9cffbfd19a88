//! `rename`: another title.

use ramus_model::Draft;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::{Cursor, Written};
use crate::verb::create::{check_title, title_body};

impl Engine {
    /// Gives the session another title.
    pub fn rename(&self, session: &mut Session, title: &str) -> Result<Written, EngineError> {
        let draft = Draft::new(title_body(&check_title(title)?));
        let appended = self.append(session, &[draft], &Cursor::Leaf)?;
        let written = appended.entries.into_iter().next();
        written.ok_or_else(|| EngineError::Invalid("nothing was written".into()))
    }
}
