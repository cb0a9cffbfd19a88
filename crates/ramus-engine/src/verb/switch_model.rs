//! `switch_model`: another model from here on. It is an entry of the path, so a branch has its own.

use ramus_model::Draft;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::{Cursor, Written};
use crate::verb::create::model_body;

impl Engine {
    /// Lets another model answer from here on; `model` is `provider/name`.
    pub fn switch_model(&self, session: &mut Session, model: &str) -> Result<Written, EngineError> {
        let appended = self.append(session, &[Draft::new(model_body(model)?)], &Cursor::Leaf)?;
        let written = appended.entries.into_iter().next();
        written.ok_or_else(|| EngineError::Invalid("nothing was written".into()))
    }
}
