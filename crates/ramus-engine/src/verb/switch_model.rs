//! `switch_model`: another model from here on. It is an entry of the path, so a branch has its own.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::Written;
use crate::verb::create::model_body;

impl Engine {
    /// Lets another model answer from here on; `model` is `provider/name`.
    pub fn switch_model(&self, session: &mut Session, model: &str) -> Result<Written, EngineError> {
        self.record_one(session, "model", model_body(model)?)
    }
}
