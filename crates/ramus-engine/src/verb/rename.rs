//! `rename`: another title.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::Written;
use crate::verb::create::{check_title, title_body};

impl Engine {
    /// Gives the session another title.
    pub fn rename(&self, session: &mut Session, title: &str) -> Result<Written, EngineError> {
        self.record_one(session, "rename", title_body(&check_title(title)?))
    }
}
