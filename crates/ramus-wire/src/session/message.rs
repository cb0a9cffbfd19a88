//! Messages, and pages of them.

use std::borrow::Cow;

use ramus_engine::{Session, View};
use ramus_model::EntryId;
use ramus_model::json::quote;
use ramus_model::message::Part;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{ChangedLines, WholeJson};
use crate::object_of;

/// One message of a conversation.
// There may be thousands, so it is written as it is, not built up first.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionMessage)]
pub struct MessageJson<'v> {
    id: &'v str,
    /// Its position in the log.
    seq: u32,
    #[schema(required)]
    parent: Option<&'v str>,
    /// Who speaks, as it is stored.
    role: &'v str,
    /// What it says, without anything else.
    text: Cow<'v, str>,
    #[schema(value_type = Vec<MessagePart>)]
    parts: Vec<PartJson<'v>>,
    /// How many there are about.
    tokens: u64,
    timestamp: &'v str,
    #[schema(required)]
    label: Option<&'v str>,
    /// How much the call changed that it is the result of.
    #[schema(required)]
    changed: Option<ChangedLines>,
    /// What kind of entry it is; only told where nothing else is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required)]
    kind: Option<&'static str>,
    /// Whether it is one that nobody is shown; told with its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required)]
    hidden: Option<bool>,
}

/// A part of a message.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum MessagePart {
    /// One of a kind that this version knows.
    Known(KnownPart),
    /// One of another kind.
    Unknown(UnknownPart),
}

/// A part of a message, of a kind that this version knows.
#[derive(ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum KnownPart {
    /// Words.
    Text {
        /// What they are.
        text: String,
    },
    /// What a model thought.
    Thinking {
        /// What it was.
        text: String,
    },
    /// A picture.
    Image {
        /// What kind of picture.
        mime: String,
        /// The bytes, in base64.
        data: String,
    },
    /// A call of a tool.
    ToolRequest {
        /// What the call is named.
        call_id: String,
        /// The tool.
        name: String,
        /// What it is given; the text itself when that is no JSON.
        arguments: Value,
    },
}

/// A part of a message, of a kind that this version does not know.
#[derive(ToSchema)]
pub struct UnknownPart {
    /// What it is, as it is stored.
    #[serde(rename = "type")]
    pub kind: String,
    /// The part, as it is stored.
    pub raw: Value,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PartJson<'v> {
    /// The usual one, without building it up.
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: &'v str,
    },
    Other(Value),
}

impl<'v> MessageJson<'v> {
    /// Describes a message.
    pub fn of(view: &'v View) -> Self {
        let part = |part: &'v Part| match part {
            Part::Text(text) => PartJson::Text { kind: "text", text },
            other => PartJson::Other(other.to_json()),
        };
        let text = match view.message.parts.as_slice() {
            [Part::Text(text)] => Cow::Borrowed(text.as_str()),
            _ => Cow::Owned(view.message.text()),
        };
        Self {
            id: view.id.as_str(),
            seq: view.seq.number(),
            parent: view.parent.as_ref().map(EntryId::as_str),
            role: &view.message.role_name,
            text,
            parts: view.message.parts.iter().map(part).collect(),
            tokens: view.tokens,
            timestamp: &view.timestamp,
            label: view.label.as_deref(),
            changed: view.changed.map(ChangedLines::from),
            kind: None,
            hidden: None,
        }
    }

    /// Writes it as it is serialised, for whoever writes thousands: a text that is told twice is spelled once.
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(b"{\"id\":");
        quote(self.id, out);
        member(out, "seq", &self.seq)?;
        member(out, "parent", &self.parent)?;
        member(out, "role", &self.role)?;
        out.extend_from_slice(b",\"text\":");
        let text = out.len();
        quote(&self.text, out);
        let text = text..out.len();
        out.extend_from_slice(b",\"parts\":[");
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match part {
                PartJson::Text { text: said, .. } => {
                    out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
                    if *said == self.text {
                        out.extend_from_within(text.clone());
                    } else {
                        quote(said, out);
                    }
                    out.push(b'}');
                }
                PartJson::Other(value) => serde_json::to_writer(&mut *out, value)?,
            }
        }
        out.push(b']');
        member(out, "tokens", &self.tokens)?;
        member(out, "timestamp", &self.timestamp)?;
        member(out, "label", &self.label)?;
        member(out, "changed", &self.changed)?;
        if let Some(kind) = self.kind {
            member(out, "type", &kind)?;
        }
        if let Some(hidden) = self.hidden {
            member(out, "hidden", &hidden)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Says what kind of entry it is.
    pub fn in_session(mut self, session: &Session, view: &View) -> Self {
        self.kind = Some(session.log().record(view.seq).and_then(|record| record.kind.wire()).unwrap_or_default());
        self.hidden = Some(false);
        self
    }
}

fn member(out: &mut Vec<u8>, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
    out.push(b',');
    quote(name, out);
    out.push(b':');
    serde_json::to_writer(out, value)
}

/// One message of a conversation, to be shown with more.
pub fn message(view: &View) -> Map<String, Value> {
    object_of(&MessageJson::of(view))
}

/// The same, with what kind of entry it is.
pub fn message_of(session: &Session, view: &View) -> Map<String, Value> {
    object_of(&MessageJson::of(view).in_session(session, view))
}

/// A page of messages. Each is written as soon as it is read, behind the rest.
#[derive(Serialize, ToSchema)]
pub struct MessagePage<'p> {
    /// The session.
    #[schema(value_type = WholeJson)]
    pub session: Map<String, Value>,
    /// Where the next page starts; null when there is none.
    #[schema(required)]
    pub next_cursor: Option<&'p str>,
    /// The messages, which the writer of the rest leaves out.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required)]
    pub messages: Vec<MessageJson<'p>>,
}

#[cfg(test)]
mod tests {
    use ramus_engine::Summary;
    use ramus_model::Seq;
    use ramus_model::json::Raw;
    use ramus_model::message::Message;

    use super::*;

    fn view(content: &str) -> View {
        let entry = format!(r#"{{"type":"message","message":{{"role":"assistant","content":{content}}}}}"#);
        let (seq, id) = (Seq::new(7).unwrap(), EntryId::from("a1"));
        let message = Message::of_entry(Raw::parse(entry.as_bytes()).unwrap()).unwrap();
        let timestamp = "2026-01-01T00:00:00.000Z".to_owned();
        View { seq, id, parent: None, message, tokens: 12, timestamp, label: None, changed: None }
    }

    #[test]
    fn what_is_written_is_what_is_serialised() {
        let contents = [
            r#""""#,
            r#""one \"line\"\nand \u0001\u0008\u000c\u007f\u2028 \ud83d\ude00 \\""#,
            "[]",
            r#"[{"type":"text","text":"alone"}]"#,
            r#"[{"type":"text","text":"one"},{"type":"text","text":"two"}]"#,
            r#"[{"type":"text","text":"one"},{"type":"thinking","thinking":"hm"},{"type":"image","mimeType":"image/png","data":"AA=="}]"#,
            r#"[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls","n":1e3}},{"type":"other","x":[null]}]"#,
        ];
        for content in contents {
            let bare = view(content);
            let changed = Some(Summary { additions: 1, deletions: 2, files: 3 });
            let parent = Some(EntryId::from("a0"));
            let full = View { parent, label: Some("a \"name\"".to_owned()), changed, ..bare.clone() };
            for view in [bare, full] {
                let plain = MessageJson::of(&view);
                let told = MessageJson { kind: Some("message"), hidden: Some(false), ..MessageJson::of(&view) };
                for json in [plain, told] {
                    let mut written = Vec::new();
                    json.write(&mut written).unwrap();
                    let written: Value = serde_json::from_slice(&written).unwrap();
                    assert_eq!(written, serde_json::to_value(&json).unwrap(), "{content}");
                    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
                    assert_eq!(names(&written), names(&serde_json::to_value(&json).unwrap()));
                }
            }
        }
    }
}
