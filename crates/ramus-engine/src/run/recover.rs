//! After a crash: calls of the path that have no result get one that says what is known. Nothing is run again.

use std::collections::HashSet;

use ramus_agent::{Outcome, unanswered};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use ramus_model::{Body, Kind, Role};

use super::Running;
use super::store::{STARTED, result_message};
use crate::error::EngineError;

impl Running<'_> {
    /// Answers the calls of the last answer that were interrupted.
    pub(super) fn close_what_was_interrupted(&mut self) -> Result<(), EngineError> {
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
        for open in unanswered(calls, &started, &results) {
            let outcome = Outcome::failed(open.text());
            let message = result_message(&open.call, &open.name, &outcome, self.engine.now());
            self.append(Body::new("message", [("message", message)]))?;
        }
        Ok(())
    }
}
