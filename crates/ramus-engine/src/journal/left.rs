//! Journals that were left: what came of an answer becomes an entry, once. Nothing of a journal is believed that does not
//! fit its checksum, its session or the log.

use ramus_agent::{NOT_EXECUTED, Outcome};
use ramus_model::delta::{Answering, Ending};
use ramus_model::{Body, Draft, EntryId};
use ramus_store::StoreError;
use ramus_store::planted::{Bug, is_planted};

use super::{Head, Line};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::recovery::{Action, ActionKind};
use crate::run::result_message;
use crate::session::Session;
use crate::verb::append::{Cursor, Written};

/// What a journal says, as far as it can be read.
#[derive(Default)]
struct Left {
    head: Option<Head>,
    answer: Option<LeftAnswer>,
    /// Where what cannot be read starts.
    unread: Option<usize>,
}

/// An answer that was coming in.
struct LeftAnswer {
    entry: EntryId,
    parent: Option<EntryId>,
    said: Answering,
}

/// A turn that was interrupted.
#[derive(Debug, Default)]
pub(crate) struct Interrupted {
    /// Which turn.
    pub(crate) turn: Option<String>,
    /// What was kept of it.
    pub(crate) kept: Vec<Written>,
}

impl Left {
    fn read(bytes: &[u8]) -> Self {
        let mut left = Self::default();
        let mut offset = 0;
        // What comes behind the last newline was being written when the process ended: nobody counts on it.
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let is_taken = Line::read(line.trim_ascii_end()).is_some_and(|line| left.take(line));
            if !is_taken {
                // Text with a hole in it would be worse than text that ends early.
                left.unread = Some(offset);
                break;
            }
            offset += line.len();
        }
        left
    }

    /// Takes in a line; says whether it can be where it is.
    fn take(&mut self, line: Line) -> bool {
        match (line, &mut self.answer) {
            (Line::Turn(head), _) if self.head.is_none() => self.head = Some(head),
            (Line::Answer { entry, parent }, None) if self.head.is_some() && is_id(&entry) => {
                let (entry, parent) = (EntryId::new(entry), parent.map(EntryId::new));
                self.answer = Some(LeftAnswer { entry, parent, said: Answering::default() });
            }
            (Line::Round, Some(answer)) => answer.said.go_on(),
            (Line::Piece(delta), Some(answer)) => answer.said.take(delta),
            _ => return false,
        }
        true
    }
}

/// Says whether this can be the id of an entry that we made.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl Engine {
    /// Keeps what a turn left whose process is gone, when nobody runs the session now. Looked for once per open session:
    /// whoever runs a turn looks again. Trouble with a journal is no trouble with what is to be written.
    pub(crate) fn keep_what_was_left(&self, session: &mut Session) {
        if std::mem::replace(&mut session.looked_for_journal, true) {
            return;
        }
        let Some(journals) = self.store.journals() else { return };
        match journals.left_journal(session.location()) {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => {
                session.looked_for_journal = false;
                let notice = format!("an answer that was interrupted could not be looked for: {error}");
                return session.notices.push(notice);
            }
        }
        // Whoever has the lease writes the journal, or has just read it.
        let Ok(_lease) = self.store.lease(session.location(), self.now()) else { return };
        if let Err(error) = self.keep_interrupted(session) {
            session.notices.push(format!("an answer that was interrupted could not be kept yet: {error}"));
        }
    }

    /// Keeps what a turn left whose process is gone. The caller has the lease.
    pub(crate) fn keep_interrupted(&self, session: &mut Session) -> Result<Option<Interrupted>, EngineError> {
        session.looked_for_journal = true;
        let store = self.store.clone();
        let Some(journals) = store.journals() else { return Ok(None) };
        let Some(bytes) = journals.left_journal(session.location())? else { return Ok(None) };
        let mut left = Left::read(&bytes);
        let head = left.head.take().filter(|head| head.session == session.id().as_str());
        let mut unread = left.unread;
        let mut interrupted = Interrupted::default();
        match (head, left.answer) {
            (Some(head), answer) => {
                interrupted.turn = Some(head.turn.clone());
                if let Some(answer) = answer {
                    match self.keep_answer(session, &head, answer)? {
                        Some(kept) => interrupted.kept = kept,
                        None => unread = Some(0),
                    }
                }
            }
            (None, _) if bytes.is_empty() => {}
            (None, _) => unread = Some(0),
        }
        if let Some(rest) = unread.and_then(|start| Some((start, bytes.get(start..)?))) {
            self.set_journal_aside(session, rest)?;
        }
        // When this fails it is found again, and its answer is found in the log.
        journals.remove_journal(session.location())?;
        Ok(Some(interrupted))
    }

    /// Appends an answer behind what it followed; none when that is not in the session. One that is there already, or of
    /// which nothing came, is not appended.
    fn keep_answer(
        &self,
        session: &mut Session,
        head: &Head,
        answer: LeftAnswer,
    ) -> Result<Option<Vec<Written>>, EngineError> {
        let LeftAnswer { entry, parent, mut said } = answer;
        let log = session.log();
        let forgets = is_planted(Bug::ForgetJournalId);
        if said.is_empty() || (log.seq_of(entry.as_str()).is_some() && !forgets) {
            return Ok(Some(Vec::new()));
        }
        let cursor = match parent {
            Some(parent) if log.seq_of(parent.as_str()).is_some_and(|seq| log.belongs(seq)) => Cursor::At(parent),
            None if session.leaf().is_none() => Cursor::Leaf,
            _ => return Ok(None),
        };
        // Only what the provider said tells that an answer is complete.
        let ending = if said.finish().is_some() { Ending::Whole } else { Ending::Interrupted };
        let mut number = 0;
        said.name_calls(|| {
            number += 1;
            format!("call_{entry}_{number}")
        });
        let now = self.now();
        let message = said.message(&head.model, &head.api, head.price, &ending, now);
        let mut first = Draft::new(Body::new("message", [("message", message)]));
        first.id = (!forgets).then_some(entry);
        let mut drafts = vec![first];
        if ending == Ending::Whole {
            // An answer is stored before any of its calls starts, and this one was not.
            let result = |call: &ramus_model::delta::Called| {
                let message = result_message(&call.id, &call.name, &Outcome::failed(NOT_EXECUTED), now);
                Draft::new(Body::new("message", [("message", message)]))
            };
            drafts.extend(said.calls().iter().map(result));
        }
        let mut doing = Doing::called("run", self, &head.turn).goes_on();
        let drafts: Vec<Draft> =
            drafts.into_iter().map(|draft| Draft { body: doing.mark(draft.body), ..draft }).collect();
        let appended = self.append(session, &drafts, &cursor)?;
        let detail = "a turn was interrupted: what had come of its answer was kept";
        session.recovered.push(Action::new(ActionKind::AnswerKept, detail));
        Ok(Some(appended.entries))
    }

    fn set_journal_aside(&self, session: &mut Session, (start, bytes): (usize, &[u8])) -> Result<(), StoreError> {
        let reason = "this part of the journal of a turn cannot be read or belongs to no entry of the session";
        let aside = self.store.set_aside(session.location(), start as u64, bytes, reason)?;
        let place = aside.path.as_ref().map(|path| format!(": {}", path.display())).unwrap_or_default();
        let detail =
            format!("{} bytes of the journal of a turn could not be used and were set aside{place}", aside.len);
        let kept = aside.path.into_iter().collect();
        let action = Action { quarantined: aside.len, kept, ..Action::new(ActionKind::JournalSetAside, detail) };
        session.recovered.push(action);
        Ok(())
    }
}
