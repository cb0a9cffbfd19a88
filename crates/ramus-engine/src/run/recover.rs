//! After a crash: calls of the path that have no result get one that says what is known. Nothing is run again.

use std::collections::HashSet;

use ramus_agent::{Event, Outcome, Unanswered, unanswered};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use ramus_model::{Body, Kind, Role};
use ramus_store::planted::{Bug, is_planted};

use super::Running;
use super::store::{STARTED, result_message};
use crate::error::EngineError;
use crate::journal::Interrupted;
use crate::session::Session;

impl Running<'_> {
    /// Keeps what an interrupted turn left and answers the calls that it left open. Doing it again changes nothing.
    pub(super) fn close_what_was_interrupted(&mut self) -> Result<(), EngineError> {
        let left = self.engine.keep_interrupted(self.session)?;
        let open = self.session.open_calls()?;
        if left.is_some() || !open.is_empty() {
            let Interrupted { turn, kept } = left.unwrap_or_default();
            let answer = kept.first().map(|written| written.id.clone());
            let calls = open.iter().map(|open| open.call.clone()).collect();
            self.tell(Event::TurnInterrupted { turn, answer, calls });
            kept.iter().for_each(|written| self.tell_appended(written));
        }
        let step = self.engine.open_step(self.session, &open)?;
        for open in open {
            self.append(answered(&open, self.engine.now()))?;
        }
        let Some(step) = step else { return Ok(()) };
        let noted = self.engine.close_step(self.session, step)?;
        noted.iter().for_each(|written| self.tell_appended(written));
        Ok(())
    }
}

/// The result of a call that was killed.
pub(crate) fn answered(open: &Unanswered, now: i64) -> Body {
    let message = result_message(&open.call, &open.name, &Outcome::failed(open.text()), now);
    Body::new("message", [("message", message)])
}

impl Session {
    /// Finds the calls of the last answer that have no result.
    pub(crate) fn open_calls(&self) -> Result<Vec<Unanswered>, EngineError> {
        if is_planted(Bug::LeaveCallsOpen) {
            return Ok(Vec::new());
        }
        let (mut started, mut results) = (HashSet::new(), HashSet::new());
        let mut calls = Vec::new();
        let log = self.log();
        for seq in log.ancestors(log.leaf()) {
            let Some(record) = log.record(seq) else { continue };
            if !matches!(record.kind, Kind::Message | Kind::Custom) {
                continue;
            }
            let line = self.line(seq)?;
            let Some(raw) = Raw::parse(&line) else { continue };
            let text = |raw: Raw<'_>, name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
            if record.kind == Kind::Custom {
                if text(raw, "customType").as_deref() == Some(STARTED) {
                    started.extend(raw.field("data").and_then(|data| text(data, "call")));
                }
                continue;
            }
            let Some(message) = Message::of_entry(raw) else { continue };
            match (record.role, &message.result) {
                (Role::ToolResult, Some(result)) => drop(results.insert(result.call.clone())),
                (Role::Assistant, _) => {
                    calls.extend(message.calls().filter_map(|call| match call {
                        Part::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
                        _ => None,
                    }));
                    break;
                }
                _ => {}
            }
        }
        Ok(unanswered(calls, &started, &results))
    }
}
