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

impl Running<'_> {
    /// Keeps what an interrupted turn left and answers the calls that it left open. Doing it again changes nothing.
    pub(super) fn close_what_was_interrupted(&mut self) -> Result<(), EngineError> {
        let left = self.engine.keep_interrupted(self.session)?;
        let open = self.open_calls()?;
        if left.is_none() && open.is_empty() {
            return Ok(());
        }
        let Interrupted { turn, kept } = left.unwrap_or_default();
        let answer = kept.first().map(|written| written.id.clone());
        let calls = open.iter().map(|open| open.call.clone()).collect();
        self.tell(Event::TurnInterrupted { turn, answer, calls });
        kept.iter().for_each(|written| self.tell_appended(written));
        for open in open {
            let message = result_message(&open.call, &open.name, &Outcome::failed(open.text()), self.engine.now());
            self.append(Body::new("message", [("message", message)]))?;
        }
        Ok(())
    }

    /// Finds the calls of the last answer that have no result.
    fn open_calls(&self) -> Result<Vec<Unanswered>, EngineError> {
        if is_planted(Bug::LeaveCallsOpen) {
            return Ok(Vec::new());
        }
        let (mut started, mut results) = (HashSet::new(), HashSet::new());
        let mut calls = Vec::new();
        let log = self.session.log();
        for seq in log.ancestors(log.leaf()) {
            let Some(record) = log.record(seq) else { continue };
            if !matches!(record.kind, Kind::Message | Kind::Custom) {
                continue;
            }
            let line = self.session.line(seq)?;
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
