//! One pass over the messages of a session: what they used and when the newest was written.

use ramus_catalogue::Answer;
use ramus_model::json::Raw;
use ramus_model::message::{Glance, Message};
use ramus_model::{Kind, Lines as _, Role, Seq};
use sha2::{Digest as _, Sha256};

use crate::error::EngineError;
use crate::session::Session;
use crate::verb::info::UsageTotals;

/// What one pass over the messages of a session finds.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) messages: usize,
    pub(crate) usage: UsageTotals,
    pub(crate) newest: Option<i64>,
    /// The answers in the session's own log.
    pub(crate) answers: Vec<Answer>,
}

impl Session {
    pub(crate) fn survey(&self) -> Result<Survey, EngineError> {
        let mut survey = Survey::default();
        self.survey_more(&mut survey, 0)?;
        Ok(survey)
    }

    /// Goes on behind the first `known` entries.
    pub(crate) fn survey_more(&self, survey: &mut Survey, known: usize) -> Result<(), EngineError> {
        let lines = self.lines();
        let shared = self.log().len() - self.log().own_len();
        for seq in self.log().visible().skip_while(|seq| seq.number() as usize <= known) {
            let Some(record) = self.log().record(seq).filter(|record| record.kind == Kind::Message) else { continue };
            survey.messages += 1;
            if !matches!(record.role, Role::User | Role::Assistant) {
                continue;
            }
            let Some(place) = self.log().place(seq) else { continue };
            let line = lines.line(place)?;
            let Some(glance) = Raw::parse(&line).and_then(Message::glance) else { continue };
            survey.newest = survey.newest.max(glance.timestamp.or(glance.written));
            let Some(answer) = answer(seq, self.log().id(seq), &glance) else { continue };
            survey.usage.add(&glance);
            if seq.number() as usize > shared {
                survey.answers.push(answer);
            }
        }
        Ok(())
    }
}

impl UsageTotals {
    /// Adds up numbers that come from files, which can be any.
    fn add(&mut self, glance: &Glance) {
        let Some(usage) = glance.answer.as_ref().and_then(|answer| answer.usage) else { return };
        let parts = [
            (&mut self.input, usage.input),
            (&mut self.output, usage.output),
            (&mut self.cache_read, usage.cache_read),
            (&mut self.cache_write, usage.cache_write),
            (&mut self.cost_micros, usage.cost_micros),
        ];
        for (total, part) in parts {
            *total = total.saturating_add(part);
        }
    }
}

fn answer(seq: Seq, id: &str, glance: &Glance) -> Option<Answer> {
    let answer = glance.answer.as_ref()?;
    let usage = answer.usage?;
    let millis = glance.timestamp.or(glance.written);
    Some(Answer {
        seq: u64::from(seq.number()),
        millis,
        provider: answer.provider.clone(),
        model: answer.model.clone(),
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        // Programs that do not know the price write 0.
        cost_micros: Some(usage.cost_micros).filter(|cost| *cost > 0 || usage.tokens() == 0),
        identity: identity(id, glance, millis),
    })
}

/// What copies of an answer have in common: what the provider called it, or else everything that is known of it.
fn identity(id: &str, glance: &Glance, millis: Option<i64>) -> i64 {
    let answer = glance.answer.as_ref();
    let model = answer.and_then(|answer| answer.model.as_deref()).unwrap_or_default();
    let told = match &glance.response {
        Some(response) => format!("response\0{model}\0{response}"),
        None => format!("entry\0{model}\0{id}\0{millis:?}\0{:?}", answer.and_then(|answer| answer.usage)),
    };
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(Sha256::digest(told)).for_each(|(to, from)| *to = from);
    i64::from_le_bytes(bytes)
}
