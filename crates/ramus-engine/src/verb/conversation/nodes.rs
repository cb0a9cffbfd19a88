//! The messages of a session as a client's tree has them: who said what, under which name, behind which other message.

use ramus_model::json::Raw;
use ramus_model::message::Part;
use ramus_model::{Kind, Record, Role, Seq};

use crate::error::EngineError;
use crate::session::Session;
use crate::verb::messages::View;

/// The member of an entry that holds the name a client gave it, when that could not be its id.
pub(super) const CLIENT_ID: &str = "ramusClientId";

/// A message of a session, as a client knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidMessage {
    /// The entry.
    pub seq: Seq,
    /// What the client calls it: the id of the entry, unless the client chose a name that could not be one.
    pub id: String,
    /// Who said it: `user`, `assistant` or `system`.
    pub role: String,
    /// The text.
    pub text: String,
    /// When, as written.
    pub timestamp: String,
}

impl SaidMessage {
    /// Makes one of a message; none when a client would not call it one: results of tools, and answers that only call tools.
    pub(super) fn of(session: &Session, view: View) -> Result<Option<Self>, EngineError> {
        let text = view.message.text();
        let only_calls = text.is_empty() && view.message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
        if only_calls || !matches!(view.message.role, Role::User | Role::Assistant | Role::System) {
            return Ok(None);
        }
        let line = session.line(view.seq)?;
        let named = Raw::parse(&line).and_then(|raw| raw.field(CLIENT_ID)).and_then(Raw::text);
        let id = named.map_or_else(|| view.id.to_string(), |name| name.into_owned());
        let (role, timestamp) = (view.message.role_name, view.timestamp);
        Ok(Some(Self { seq: view.seq, id, role, text, timestamp }))
    }
}

impl Session {
    /// Returns every message that a client would call one, in the order of the log.
    pub(super) fn said(&self) -> Result<Vec<SaidMessage>, EngineError> {
        let is_message = |record: &Record| record.kind == Kind::Message;
        let mut said = Vec::new();
        for seq in self.log().visible().filter(|seq| self.log().record(*seq).is_some_and(is_message)) {
            if let Some(view) = self.view(seq, None)? {
                said.extend(SaidMessage::of(self, view)?);
            }
        }
        Ok(said)
    }

    /// Returns the messages on the path to the leaf that a client would call messages.
    pub fn said_on_path(&self) -> Result<Vec<SaidMessage>, EngineError> {
        let mut said = Vec::new();
        for view in self.messages(self.log().leaf(), None, None)?.messages {
            let is_message = self.log().record(view.seq).is_some_and(|record| record.kind == Kind::Message);
            if is_message {
                said.extend(SaidMessage::of(self, view)?);
            }
        }
        Ok(said)
    }
}
