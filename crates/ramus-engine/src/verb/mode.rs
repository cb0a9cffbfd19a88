//! `mode`: which agent answers from here on and how much it thinks, as entries of the path. Going back to an old branch
//! brings its agent back.

use ramus_model::request::Thinking;
use ramus_model::{Body, Kind};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::settings::{Settings, is_mode_of};

impl Engine {
    /// Records that an agent takes over, when the path is not its own already. Says whether it did.
    pub fn change_mode(&self, session: &mut Session, agent: &str, settings: &Settings) -> Result<bool, EngineError> {
        let mode = session.context(session.log().leaf())?.state.mode;
        if is_mode_of(&mode, agent, settings) {
            return Ok(false);
        }
        self.record_one(session, "mode", Body::new("mode_change", [("mode", Value::from(agent))]))?;
        Ok(true)
    }

    /// Records how much models think from here on, when the path does not say so already. Says whether it did.
    pub fn change_thinking(&self, session: &mut Session, thinking: Thinking) -> Result<bool, EngineError> {
        let level = session.context(session.log().leaf())?.state.thinking_level;
        if session.has_thinking_level() && Thinking::named(&level) == Some(thinking) {
            return Ok(false);
        }
        let body = Body::new("thinking_level_change", [("thinkingLevel", Value::from(thinking.name()))]);
        self.record_one(session, "thinking", body)?;
        Ok(true)
    }
}

impl Session {
    /// Says whether the path says how much to think: a level that nobody chose leaves it to the agent.
    pub fn has_thinking_level(&self) -> bool {
        let log = self.log();
        let is_change = |seq| log.record(seq).is_some_and(|record| record.kind == Kind::ThinkingLevelChange);
        log.ancestors(log.leaf()).any(is_change)
    }
}
