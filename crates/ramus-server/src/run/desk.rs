//! Questions of a turn that runs, put to whoever watches it. The first answer counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_engine::run::{Answer, Asker};
use ramus_model::delta::Called;
use ramus_model::permission::{Action, Approval, Because, Covered, Permissions, Question, Scope, decide};
use ramus_wire::run::AskedQuestion;
use serde::Deserialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::error::ApiError;

/// What is said to a question.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    /// Whether it may be done, and for how long.
    pub(crate) answer: Verdict,
    /// The question that is answered; whichever is asked about the call when none is named. A call may be asked about more than
    /// once, and whoever names what they saw answers nothing else.
    #[serde(default)]
    pub(crate) question: Option<String>,
    /// Everything that matches this too, not only what is asked; with `session` and `project`.
    #[serde(default)]
    pub(crate) pattern: Option<String>,
    /// Why not; the model is told.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// Whether something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// This time.
    Once,
    /// In this session.
    Session,
    /// In this project.
    Project,
    /// No.
    Deny,
}

/// The questions that wait for an answer, by their ids, which come in the order of time.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<BTreeMap<String, Waiting>>>);

struct Waiting {
    /// The call that it is about.
    call: String,
    name: String,
    question: Question,
    because: String,
    answer: oneshot::Sender<Answer>,
}

/// Takes a question back when nobody waits for its answer any more.
struct Withdraw {
    desk: Desk,
    id: String,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.desk.waiting().remove(&self.id);
    }
}

impl Desk {
    /// Answers a question. Who comes second is told so.
    pub(crate) fn answer(&self, call: &str, reply: &Reply) -> Result<(), ApiError> {
        let mut waiting = self.waiting();
        let gone = || ApiError::conflict(format!("nothing is asked about the call {call:?}, or it was answered"));
        let is_meant = |(id, one): &(&String, &Waiting)| {
            one.call == call && reply.question.as_ref().is_none_or(|question| question == *id)
        };
        let (id, found) = waiting.iter().find(is_meant).ok_or_else(gone)?;
        let (id, answer) = (id.clone(), understand(reply, &found.question)?);
        let sender = waiting.remove(&id).ok_or_else(gone)?.answer;
        sender.send(answer).map_err(|_| gone())
    }

    /// Describes what is asked.
    pub(crate) fn asked(&self) -> Vec<AskedQuestion> {
        let describe = |(id, waiting): (&String, &Waiting)| AskedQuestion {
            question: id.clone(),
            call: waiting.call.clone(),
            name: waiting.name.clone(),
            permission: waiting.question.permission.clone(),
            exact: waiting.question.exact.clone(),
            because: waiting.because.clone(),
        };
        self.waiting().iter().map(describe).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asker for Desk {
    fn ask(&self, id: &str, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let (answer, answered) = oneshot::channel();
        let (call, name) = (call.id.clone(), call.name.clone());
        let waiting = Waiting { call, name, question: question.clone(), because: because.to_string(), answer };
        self.waiting().insert(id.to_owned(), waiting);
        let withdraw = Withdraw { desk: self.clone(), id: id.to_owned() };
        async move {
            let answer = answered.await.unwrap_or(Answer::No(None));
            drop(withdraw);
            answer
        }
        .boxed()
    }
}

/// Makes an answer of a reply; one that would not allow what is asked is refused.
fn understand(reply: &Reply, question: &Question) -> Result<Answer, ApiError> {
    let scope = match reply.answer {
        Verdict::Once => return Ok(Answer::Yes),
        Verdict::Deny => return Ok(Answer::No(reply.reason.clone())),
        Verdict::Session => Scope::Session,
        Verdict::Project => Scope::Project,
    };
    let covered = match &reply.pattern {
        None => Covered::Exact(question.exact.clone()),
        Some(pattern) => Covered::Pattern(pattern.clone()),
    };
    let approval = Approval { scope, permission: question.permission.clone(), covered };
    // Without any rule it is only the approval that can allow.
    let allows = decide(&Permissions::new(), std::slice::from_ref(&approval), question).action == Action::Allow;
    if !allows {
        return Err(ApiError::invalid("the pattern does not match all of what is asked, so it would not allow it"));
    }
    Ok(Answer::Always(approval))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            permission: "bash".into(),
            exact: "make".into(),
            subjects: vec!["make".into()],
            ..Question::default()
        }
    }

    #[test]
    fn the_first_answer_counts() {
        let desk = Desk::default();
        let (answer, mut answered) = oneshot::channel();
        let waiting =
            Waiting { call: "c1".into(), name: "bash".into(), question: question(), because: String::new(), answer };
        desk.waiting().insert("q2".into(), waiting);
        let reply = |answer, question: &str| Reply {
            answer,
            question: Some(question.to_owned()).filter(|question| !question.is_empty()),
            pattern: None,
            reason: None,
        };
        assert!(desk.answer("c1", &reply(Verdict::Once, "q1")).is_err(), "that one was another question");
        assert!(desk.answer("c2", &reply(Verdict::Once, "q2")).is_err(), "and this one is about another call");
        assert!(desk.answer("c1", &reply(Verdict::Once, "")).is_ok());
        assert!(desk.answer("c1", &reply(Verdict::Deny, "q2")).is_err());
        assert_eq!(answered.try_recv(), Ok(Answer::Yes));
    }

    #[test]
    fn a_pattern_that_would_not_allow_it_is_refused_and_the_question_stays() {
        let reply = |pattern: &str| Reply {
            answer: Verdict::Session,
            question: None,
            pattern: Some(pattern.into()),
            reason: None,
        };
        assert!(understand(&reply("cargo *"), &question()).is_err());
        assert!(understand(&reply("mak*"), &question()).is_ok());
    }
}
