//! Questions of a turn that runs, put to whoever watches it. The first answer counts.

use std::collections::HashMap;
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

/// The questions that wait for an answer, by the call they are about.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<HashMap<String, Waiting>>>);

struct Waiting {
    name: String,
    question: Question,
    because: String,
    answer: oneshot::Sender<Answer>,
}

/// Takes a question back when nobody waits for its answer any more.
struct Withdraw {
    desk: Desk,
    call: String,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.desk.waiting().remove(&self.call);
    }
}

impl Desk {
    /// Answers a question. Who comes second is told so.
    pub(crate) fn answer(&self, call: &str, reply: &Reply) -> Result<(), ApiError> {
        let mut waiting = self.waiting();
        let gone = || ApiError::conflict(format!("nothing is asked about the call {call:?}, or it was answered"));
        let question = &waiting.get(call).ok_or_else(gone)?.question;
        let answer = understand(reply, question)?;
        let sender = waiting.remove(call).ok_or_else(gone)?.answer;
        sender.send(answer).map_err(|_| gone())
    }

    /// Describes what is asked.
    pub(crate) fn asked(&self) -> Vec<AskedQuestion> {
        let describe = |(call, waiting): (&String, &Waiting)| AskedQuestion {
            call: call.clone(),
            name: waiting.name.clone(),
            permission: waiting.question.permission.clone(),
            exact: waiting.question.exact.clone(),
            because: waiting.because.clone(),
        };
        self.waiting().iter().map(describe).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asker for Desk {
    fn ask(&self, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let (answer, answered) = oneshot::channel();
        let waiting =
            Waiting { name: call.name.clone(), question: question.clone(), because: because.to_string(), answer };
        self.waiting().insert(call.id.clone(), waiting);
        let withdraw = Withdraw { desk: self.clone(), call: call.id.clone() };
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
        let waiting = Waiting { name: "bash".into(), question: question(), because: String::new(), answer };
        desk.waiting().insert("c1".into(), waiting);
        let reply = |answer| Reply { answer, pattern: None, reason: None };
        assert!(desk.answer("c1", &reply(Verdict::Once)).is_ok());
        assert!(desk.answer("c1", &reply(Verdict::Deny)).is_err());
        assert_eq!(answered.try_recv(), Ok(Answer::Yes));
    }

    #[test]
    fn a_pattern_that_would_not_allow_it_is_refused_and_the_question_stays() {
        let reply = |pattern: &str| Reply { answer: Verdict::Session, pattern: Some(pattern.into()), reason: None };
        assert!(understand(&reply("cargo *"), &question()).is_err());
        assert!(understand(&reply("mak*"), &question()).is_ok());
    }
}
