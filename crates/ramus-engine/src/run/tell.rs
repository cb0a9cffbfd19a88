//! Telling whoever watches: the driver adds to what the turn tells what only the driver knows.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_agent::{End, Event};
use ramus_model::Seq;
use ramus_model::delta::Called;
use ramus_model::permission::{Because, Question};

use super::inbox::{Inbox, Message};
use super::{Answer, Asker, Running, TurnResult};
use crate::verb::append::Written;

impl Running<'_> {
    pub(super) fn tell(&mut self, mut event: Event) {
        if let Event::ToolEnd { call, duration_ms, .. } = &mut event {
            *duration_ms = self.timing.take(call);
        }
        if let Event::QueueChanged { texts, .. } = &event {
            self.inbox.note_waiting(texts.iter());
        }
        self.engine.bus.tell(self.session.id(), &event);
        (self.watcher)(&event);
    }

    pub(super) fn tell_start(&mut self) {
        let model = format!("{}/{}", self.model().provider, self.model().model);
        self.tell(Event::TurnStart { turn: self.name.clone(), model });
    }

    pub(super) fn tell_appended(&mut self, written: &Written) {
        let Written { id, seq, parent } = written.clone();
        self.tell(Event::EntryAppended { entry: id, parent, seq });
    }

    pub(super) fn tell_end(&mut self, result: &TurnResult, seq: Option<Seq>) {
        let turn = self.name.clone();
        let error = if let End::Failed(reason) = &result.end { Some(reason.clone()) } else { None };
        self.tell(match &result.end {
            End::Cancelled => Event::TurnCancelled { turn, seq },
            _ => Event::TurnEnd { turn, finish_reason: result.finish_reason().to_owned(), error, seq },
        });
    }
}

/// Nobody can be asked.
pub(super) struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &str, _: &Called, _: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let reason = format!("it must be asked for ({because}), and nobody can be asked");
        std::future::ready(Answer::Unasked(reason)).boxed()
    }
}

/// Asks, and tells that it asks.
struct Telling {
    asker: Arc<dyn Asker>,
    inbox: Inbox,
}

/// Makes an asker tell what it asks and what the answer is.
pub(super) fn asker(asker: Arc<dyn Asker>, inbox: Inbox) -> Arc<dyn Asker> {
    Arc::new(Telling { asker, inbox })
}

impl Asker for Telling {
    fn ask(&self, id: &str, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let (id, called, name) = (id.to_owned(), call.id.clone(), call.name.clone());
        // Whoever hears of the question may answer at once: it must be known by then that it is asked.
        let (asked, inbox) = (self.asker.ask(&id, call, question, because), self.inbox.clone());
        inbox.post(Message::Tell(Event::PermissionAsked {
            question: id.clone(),
            call: called.clone(),
            name: name.clone(),
            permission: question.permission.clone(),
            exact: question.exact.clone(),
            because: because.to_string(),
        }));
        async move {
            let answer = asked.await;
            let is_allowed = !matches!(answer, Answer::No(_) | Answer::Unasked(_));
            inbox.post(Message::Tell(Event::PermissionAnswered { question: id, call: called, name, is_allowed }));
            answer
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ramus_model::permission::Because;

    use super::super::inbox::inbox;
    use super::*;

    /// Leaves a mark when it is asked.
    struct Marks(Inbox);

    impl Asker for Marks {
        fn ask(&self, _: &str, _: &Called, _: &Question, _: &Because) -> BoxFuture<'static, Answer> {
            self.0.post(Message::Ran(7, Duration::ZERO));
            std::future::ready(Answer::Yes).boxed()
        }
    }

    /// A client that answers the moment it hears of a question was told that nothing is asked, and the turn waited for ever.
    #[test]
    fn a_question_can_be_answered_when_it_is_heard_of() {
        let (inbox, letters) = inbox();
        let telling = asker(Arc::new(Marks(inbox.clone())), inbox);
        let call = Called { id: "c".into(), name: "bash".into(), arguments: None, spelled: String::new() };
        drop(telling.ask("q", &call, &Question::default(), &Because::NoSubject));
        assert!(matches!(letters.next(None), Message::Ran(7, _)), "it is asked first");
        assert!(matches!(letters.next(None), Message::Tell(Event::PermissionAsked { .. })), "then told");
    }
}
