//! Storing what a turn wants stored, as entries that every program of this format reads.

use ramus_agent::{Event, Outcome, Store};
use ramus_model::delta::{Answering, Called, Ending};
use ramus_model::usage::Tokens;
use ramus_model::{Body, Draft, Seq};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Running, TurnResult};
use crate::error::EngineError;
use crate::verb::append::Written;
use crate::verb::say::Say;
use crate::verb::todo::TODO;
use crate::workspace::TURN;

/// How many milliseconds a call took, beside the message with its result.
pub(crate) const DURATION: &str = "ramusDuration";

/// That a call starts. Without a result behind it, it may or may not have taken effect.
pub(super) const STARTED: &str = "ramus.started";

impl Running<'_> {
    /// Stores something and returns where it is; none when there was nothing worth storing.
    pub(super) fn store(&mut self, what: Store) -> Result<Option<Seq>, EngineError> {
        match what {
            Store::Prompt(text) => {
                // They belong to what is said first; what is said meanwhile has none.
                let pictures = std::mem::take(&mut self.run.pictures);
                let attachments = std::mem::take(&mut self.run.attachments);
                let say = Say::user(text).with_pictures(pictures).with_attachments(attachments);
                let written = self.engine.say_in(self.session, say, &mut self.doing)?;
                Ok(Some(self.take_in(&written)))
            }
            Store::Answer(answer, ending) => self.store_answer(&answer, &ending),
            Store::Started(call) => {
                let mut data = json!({"call": call.id, "name": call.name, "sha256": fingerprint(&call)});
                let before = self.expect_changes(&call.id);
                if let (Some(object), Some(before)) = (data.as_object_mut(), before) {
                    object.insert("before".into(), before.to_string().into());
                }
                self.append(Body::new("custom", [("customType", Value::from(STARTED)), ("data", data)]))
            }
            Store::Result(call, outcome) => {
                self.expect_no_more(&call.id);
                let message = result_message(&call.id, &call.name, &outcome, self.engine.now());
                let took = self.timing.took(&call.id).map(|took| (DURATION, Value::from(took)));
                let members = std::iter::once(("message", message)).chain(took);
                let seq = self.append(Body::new("message", members))?;
                self.note_changes(Some(&call.id))?;
                self.close_changes(&call.id);
                self.store_artifacts(&call, &outcome)?;
                if let Some(tasks) = todos_of(&call, &outcome) {
                    self.tell(Event::TodoUpdated(tasks));
                }
                Ok(seq)
            }
        }
    }

    /// An answer of which nothing came and that nobody needs to know about is not stored.
    fn store_answer(&mut self, answer: &Answering, ending: &Ending) -> Result<Option<Seq>, EngineError> {
        if answer.is_empty() && *ending == Ending::Cancelled {
            self.close_journal();
            return Ok(None);
        }
        let price = self.run.prices.price(self.model());
        let usage = answer.usage();
        let cost = usage.cost_micros.or_else(|| price.map(|price| price.of(Tokens::from(&usage))));
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
        self.spent.push(usage);
        let api = self.run.model.provider.api();
        let message = answer.message(self.model(), api, price, ending, self.engine.now());
        let mut draft = Draft::new(Body::new("message", [("message", message)]));
        // The journal names the entry, so whoever finds both knows that they are the same.
        let log = self.session.log();
        draft.id = self.journal.answer().filter(|id| log.seq_of(id.as_str()).is_none()).cloned();
        let seq = self.append_draft(draft)?;
        self.close_journal();
        Ok(seq)
    }

    /// Notes that the turn ended.
    pub(super) fn store_end(
        &mut self,
        result: &TurnResult,
        files: Vec<(&'static str, Value)>,
    ) -> Result<Option<Seq>, EngineError> {
        let Tokens { input, output, cache_read, cache_write } = result.usage;
        let mut data = json!({
            "end": result.finish_reason(),
            "usage": {"input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write},
            "cost_micros": result.cost_micros,
        });
        if let Some(object) = data.as_object_mut() {
            object.extend(files.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        self.append(Body::ramus(TURN, data))
    }

    pub(super) fn append(&mut self, body: Body) -> Result<Option<Seq>, EngineError> {
        self.append_draft(Draft::new(body))
    }

    fn append_draft(&mut self, draft: Draft) -> Result<Option<Seq>, EngineError> {
        let appended = self.engine.record(self.session, &mut self.doing, vec![draft])?;
        Ok(appended.entries.first().map(|written| self.take_in(written)))
    }

    /// Takes note of an entry that was appended.
    pub(super) fn take_in(&mut self, written: &Written) -> Seq {
        self.last = Some(written.id.clone());
        self.tell_appended(written);
        written.seq
    }
}

/// The list that a call of the tool left.
fn todos_of(call: &Called, outcome: &Outcome) -> Option<Vec<Value>> {
    let tasks = outcome.details.as_ref().filter(|_| call.name == TODO && !outcome.is_error)?.get("tasks")?;
    tasks.as_array().cloned()
}

/// A result as a message.
pub(crate) fn result_message(call: &str, name: &str, outcome: &Outcome, now: i64) -> Value {
    let mut message = json!({
        "role": "toolResult", "toolCallId": call, "toolName": name,
        "content": outcome.content, "isError": outcome.is_error, "timestamp": now,
    });
    if let (Some(details), Some(object)) = (&outcome.details, message.as_object_mut()) {
        object.insert("details".into(), details.clone());
    }
    message
}

fn fingerprint(call: &Called) -> String {
    hex::encode(Sha256::digest(call.spelled.as_bytes()))
}
