//! One pass over the messages of a session: what they used and when the newest was written.

use std::collections::{HashMap, HashSet};

use ramus_catalogue::Answer;
use ramus_model::json::Raw;
use ramus_model::message::{Glance, Message, Usage};
use ramus_model::usage::{ModelName, UsageTotals};
use ramus_model::{Kind, Lines as _, Record, Role, Seq};
use sha2::{Digest as _, Sha256};

use crate::error::EngineError;
use crate::session::Session;

/// How many answers back another piece of the same answer may be.
const NEAR: usize = 8;

/// What one pass over the messages of a session finds.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) messages: usize,
    pub(crate) usage: UsageTotals,
    pub(crate) newest: Option<i64>,
    /// The answers in the session's own log, replaced ones included: they cost what they cost.
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
        let log = self.log();
        let lines = self.lines();
        let shared = log.len() - log.own_len();
        // An answer may come in several messages. The last one says what all of them used.
        let mut responses: HashMap<String, (ModelName, Usage)> = HashMap::new();
        for seq in log.seqs().skip(known).filter(|seq| log.is_original(*seq) && log.belongs(*seq)) {
            let Some(record) = log.record(seq).filter(|record| record.kind == Kind::Message) else { continue };
            let is_visible = Record::is_visible(record);
            let is_own = seq.number() as usize > shared;
            survey.messages += usize::from(is_visible);
            if !matches!(record.role, Role::User | Role::Assistant) || !(is_visible || is_own) {
                continue;
            }
            let Some(place) = log.place(seq) else { continue };
            let line = lines.line(place)?;
            let Some(glance) = Raw::parse(&line).and_then(Message::glance) else { continue };
            if is_visible {
                survey.newest = survey.newest.max(glance.timestamp.or(glance.written));
                if let Some((answer, usage)) = used(&glance) {
                    match &answer.response {
                        Some(response) => drop(responses.insert(response.clone(), (ModelName::of(answer), usage))),
                        None => survey.usage.add(&ModelName::of(answer), &usage),
                    }
                }
            }
            if is_own {
                survey.answers.extend(answer(seq, log.id(seq), &glance));
            }
        }
        responses.values().for_each(|(model, usage)| survey.usage.add(model, usage));
        Ok(())
    }

    /// Says whether what was found behind the first `known` entries goes on with an answer before them.
    pub(crate) fn goes_on(&self, survey: &Survey, known: usize) -> Result<bool, EngineError> {
        let responses: HashSet<i64> = survey.answers.iter().filter_map(|answer| answer.response).collect();
        if responses.is_empty() {
            return Ok(false);
        }
        let log = self.log();
        let lines = self.lines();
        let is_answer = |seq: &Seq| log.record(*seq).is_some_and(|record| record.role == Role::Assistant);
        let added = log.seqs().skip(known).count();
        for seq in log.seqs().rev().skip(added).filter(is_answer).take(NEAR) {
            let Some(place) = log.place(seq) else { continue };
            let line = lines.line(place)?;
            let glance = Raw::parse(&line).and_then(Message::glance);
            let response = glance.and_then(|glance| glance.answer?.response);
            if response.is_some_and(|response| responses.contains(&hash(&response))) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Who answered, and what that used.
fn used(glance: &Glance) -> Option<(&ramus_model::message::Answer, Usage)> {
    let answer = glance.answer.as_ref()?;
    Some((answer, answer.usage?))
}

/// What the catalogue keeps of an answer.
fn answer(seq: Seq, id: &str, glance: &Glance) -> Option<Answer> {
    let answer = glance.answer.as_ref()?;
    let usage = answer.usage?;
    let millis = glance.timestamp.or(glance.written);
    // As far as the columns of a database reach.
    let count = |number: u64| number.min(i64::MAX as u64);
    let known = format!("{:?}\0{:?}\0{id}\0{millis:?}\0{usage:?}", answer.provider, answer.model);
    Some(Answer {
        seq: u64::from(seq.number()),
        millis,
        provider: answer.provider.clone(),
        model: answer.model.clone(),
        input: count(usage.input),
        output: count(usage.output),
        cache_read: count(usage.cache_read),
        cache_write: count(usage.cache_write),
        cost_micros: usage.cost_micros.map(count),
        identity: hash(&known),
        response: answer.response.as_deref().map(hash),
    })
}

/// Sixty-four bits are enough to tell answers apart: among a billion of them two are alike by chance once in forty homes.
fn hash(text: &str) -> i64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(Sha256::digest(text)).for_each(|(to, from)| *to = from);
    i64::from_le_bytes(bytes)
}
