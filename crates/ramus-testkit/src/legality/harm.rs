//! Spoiling histories, to show that the trial would notice code that does.

use ramus_model::context::provider::{Outgoing, Speaker, text_part};

/// What is done to every history before it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// The last result is gone.
    LoseResult,
    /// The last result is there twice.
    DoubleResult,
    /// Somebody speaks between a call and its result.
    Interrupt,
    /// Calls have ids that were used before.
    ReuseIds,
    /// What the last message says is nothing.
    Blank,
    /// Answers are ascribed to the model that is asked.
    Adopt,
}

impl Harm {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::LoseResult, Self::DoubleResult, Self::Interrupt, Self::ReuseIds, Self::Blank, Self::Adopt];

    /// Does it, where there is something to do it to.
    pub(super) fn spoil(self, messages: &mut Vec<Outgoing>, asked: &ramus_model::usage::ModelName) {
        let result = messages.iter().rposition(|message| matches!(message.speaker, Speaker::Tool(_)));
        match (self, result) {
            (Self::LoseResult, Some(at)) => drop(messages.remove(at)),
            (Self::DoubleResult, Some(at)) => messages.extend(messages.get(at).cloned()),
            (Self::Interrupt, Some(at)) => {
                let parts = vec![text_part("Hurry.")];
                messages.insert(at, Outgoing { entry: None, speaker: Speaker::User, parts, by: None });
            }
            (Self::ReuseIds, _) => messages.iter_mut().for_each(reuse_ids),
            (Self::Blank, _) => {
                if let Some(message) = messages.last_mut() {
                    message.parts.clear();
                }
            }
            (Self::Adopt, _) => {
                messages.iter_mut().filter(|message| message.by.is_some()).for_each(|message| {
                    message.by = Some(asked.clone());
                });
            }
            _ => {}
        }
    }
}

fn reuse_ids(message: &mut Outgoing) {
    match &mut message.speaker {
        Speaker::Assistant(calls) => calls.iter_mut().for_each(|call| call.id = "call_1".to_owned()),
        Speaker::Tool(result) => result.call = "call_1".to_owned(),
        _ => {}
    }
}
