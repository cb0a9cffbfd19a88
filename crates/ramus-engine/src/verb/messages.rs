//! `messages`: the conversation along a path, in pages.

use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{EntryId, Kind, Record, Role, Seq, tokens};
use serde_json::json;

use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::{Name, Summary};

/// One message as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The entry.
    pub seq: Seq,
    /// Its id.
    pub id: EntryId,
    /// The nearest entry above that shows.
    pub parent: Option<EntryId>,
    /// The message.
    pub message: Message,
    /// Its tokens: reported for an answer, estimated for the rest.
    pub tokens: u64,
    /// When it was written, as written.
    pub timestamp: String,
    /// Its label.
    pub label: Option<String>,
    /// What the call changed in files whose result it is.
    pub changed: Option<Summary>,
}

/// One page of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The messages, oldest first.
    pub messages: Vec<View>,
    /// Where the next page starts, when there is one.
    pub next_cursor: Option<String>,
}

/// Which messages a page holds, before any of them is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The entries, oldest first, each with the nearest one above that shows.
    pub entries: Vec<(Seq, Option<Seq>)>,
    /// Where the next page starts, when there is one.
    pub next_cursor: Option<String>,
}

impl Session {
    /// Returns the messages on the path to `leaf`, at most `limit` after `cursor`.
    pub fn messages(&self, leaf: Option<Seq>, limit: Option<usize>, cursor: Option<&str>) -> Result<Page, EngineError> {
        let selection = self.select_messages(leaf, limit, cursor)?;
        let mut messages = Vec::with_capacity(selection.entries.len());
        for (seq, parent) in selection.entries {
            messages.extend(self.view(seq, parent)?);
        }
        Ok(Page { messages, next_cursor: selection.next_cursor })
    }

    /// Says which messages [`Session::messages`] would return, for whoever wants to read them one by one.
    pub fn select_messages(
        &self,
        leaf: Option<Seq>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Selection, EngineError> {
        let mut shown: Vec<Seq> = self.log().path(leaf).into_iter().filter(|seq| self.shows(*seq)).collect();
        // A conversation that was cut short says so at its end.
        if leaf == self.log().leaf() {
            shown.extend(self.revert_in_force()?.map(|revert| revert.pointer));
        }
        self.page_of(shown, limit, cursor)
    }

    /// Cuts a page out of a list of entries.
    pub fn page_of(
        &self,
        shown: Vec<Seq>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Selection, EngineError> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let at = shown.iter().position(|seq| self.log().id(*seq) == cursor);
                1 + at.ok_or_else(|| EngineError::Invalid(format!("{cursor:?} is not a cursor of this path")))?
            }
        };
        let rest = shown.get(start..).unwrap_or_default();
        let page = rest.get(..limit.unwrap_or(rest.len())).unwrap_or(rest);
        let before = start.checked_sub(1).and_then(|at| shown.get(at)).copied();
        let parents = std::iter::once(before).chain(page.iter().copied().map(Some));
        let next_cursor = page.last().filter(|_| page.len() < rest.len()).map(|seq| self.log().id(*seq).to_owned());
        Ok(Selection { entries: page.iter().copied().zip(parents).collect(), next_cursor })
    }

    /// Returns the last thing a person said on the path to the leaf.
    pub fn last_user_message(&self) -> Result<Option<View>, EngineError> {
        let is_user = |seq: &Seq| self.log().record(*seq).is_some_and(|record| record.role == Role::User);
        let last = self.log().ancestors(self.log().leaf()).find(is_user);
        last.map_or(Ok(None), |seq| self.view(seq, self.log().record(seq).and_then(Record::parent)))
    }

    /// Returns what the call changed whose result an entry is.
    fn changed_by(&self, result: Seq) -> Result<Option<Summary>, EngineError> {
        let notes = self.notes_behind(result)?;
        Ok(notes.into_iter().find(|(_, note)| note.name == Name::Files).map(|(_, note)| note.summary))
    }

    fn shows(&self, seq: Seq) -> bool {
        self.log().record(seq).is_some_and(|record| {
            record.is_visible()
                && matches!(record.kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary | Kind::Compaction)
        })
    }

    /// Returns one entry as a message under `parent`; none when it does not show as one.
    pub fn view(&self, seq: Seq, parent: Option<Seq>) -> Result<Option<View>, EngineError> {
        let line = self.restored(self.line(seq)?.into(), Restore::Everything);
        let Some((message, timestamp)) = Message::of_line(&line).or_else(|| revert_notice(&line)) else {
            return Ok(None);
        };
        let reported = message.answer.as_ref().and_then(|answer| answer.usage).map(|usage| usage.output);
        let tokens = reported.filter(|tokens| *tokens > 0).unwrap_or_else(|| tokens::estimate(&message));
        let id = self.entry_id(seq);
        let changed = if message.role == Role::ToolResult { self.changed_by(seq)? } else { None };
        Ok(Some(View {
            seq,
            changed,
            parent: parent.map(|parent| self.entry_id(parent)),
            tokens,
            timestamp,
            label: self.log().facts().label(id.as_str()).map(str::to_owned),
            message,
            id,
        }))
    }
}

/// What a conversation that was reverted ends with, and since when. No model is told.
fn revert_notice(pointer: &[u8]) -> Option<(Message, String)> {
    let pointer = Raw::parse(pointer)?;
    let data =
        pointer.field("data").filter(|data| data.field("op").and_then(Raw::text).is_some_and(|op| op == "revert"))?;
    let target = data.field("target").and_then(Raw::text)?;
    let line = json!({
        "type": "message",
        "message": {"role": "system", "content": [{"type": "text", "text": format!("Reverted to {target}")}]},
    });
    let message = Raw::parse(line.to_string().as_bytes()).and_then(Message::of_entry)?;
    Some((message, pointer.field("timestamp").and_then(Raw::text).unwrap_or_default().into_owned()))
}
