//! Lists of messages that count from now on. What is there already is not made again, however the list spells it.

use ramus_model::json::{Object, Raw};

use super::super::message::Speaker;
use super::said::{composed, content_hash};
use super::{Reader, message};
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// Goes through the messages that count from now on. Those that are there already are not made again.
    pub(super) fn rebuild(&mut self, record: &Record<'_>, messages: Raw<'_>) -> Result<(), Error> {
        self.settle()?;
        let left = self.emitter.last().cloned();
        let mut at = None;
        let mut rest = messages.items().peekable();
        while let Some(object) = rest.peek().and_then(|raw| raw.object()) {
            let id = object.text("id").unwrap_or_default();
            if !self.messages.contains_key(&*id) && self.is_answered(&object) {
                rest.next();
                continue;
            }
            let Some(known) = self.messages.get(&*id).filter(|known| known.content == content_hash(&object)) else {
                break;
            };
            if known.own.is_none() && known.entry == known.parent {
                // It became no entry, wherever it stands.
            } else if known.parent == at {
                at.clone_from(&known.entry);
            } else {
                break;
            }
            rest.next();
        }
        match at == left {
            true => self.wait(record.whole())?,
            false => self.move_to(record, at)?,
        }
        for (index, raw) in rest.enumerate() {
            self.rebuilt(raw, record, index)?;
        }
        self.settle()
    }

    /// Says whether a message only brings outcomes that are known.
    fn is_answered(&self, object: &Object<'_>) -> bool {
        let mut answers = message::answers(object).peekable();
        answers.peek().is_some()
            && answers.all(|answer| answer.text("id").is_some_and(|id| self.answered.contains(&*id)))
    }

    /// Makes an entry of a message that stands in a list of them, and nowhere else.
    fn rebuilt(&mut self, raw: Raw<'_>, record: &Record<'_>, index: usize) -> Result<(), Error> {
        let Some(object) = raw.object() else { return Ok(()) };
        let id = object.text("id").map_or_else(|| format!("line-{}.{index}", record.line), |id| id.into_owned());
        match Speaker::of(&object) {
            Speaker::User | Speaker::Model => {
                self.settle()?;
                let (members, _) = composed(&object, &[]);
                self.give(&object, &id, &members, &[])?;
                self.hold_bare(&id);
                self.open(&object, &id);
                Ok(())
            }
            Speaker::Tools if self.is_answered(&object) => Ok(()),
            Speaker::Tools => self.tools(&object, &id, None),
            Speaker::Nobody => {
                self.pass(&object, &id);
                Ok(())
            }
        }
    }
}
