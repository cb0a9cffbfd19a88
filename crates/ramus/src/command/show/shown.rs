//! What of an entry is shown.

use ramus_engine::{Session, View};
use ramus_model::json::Raw;
use ramus_model::{EntryId, Kind, Role, Seq};
use serde_json::{Map, Value, json};

use crate::render::conversation::Turn;
use crate::render::preview::{self, Preview};
use crate::render::{glyphs, json};

/// How much of an entry that is no message is shown.
const NOTE: usize = 300;

/// One thing to show: a message, or with --all any other entry.
pub(super) struct Shown {
    seq: Seq,
    id: EntryId,
    parent: Option<EntryId>,
    timestamp: String,
    label: Option<String>,
    kind: Kind,
    hidden: bool,
    preview: Preview,
    view: Option<View>,
}

impl Shown {
    /// Describes a message.
    pub(super) fn message(session: &Session, view: View) -> anyhow::Result<Self> {
        let record = session.log().record(view.seq);
        let kind = record.map_or(Kind::Unknown, |record| record.kind);
        let speaker = match record {
            // Only its line knows what a custom message is about.
            Some(record) if kind == Kind::CustomMessage => {
                Preview::of_entry(&session.line(view.seq)?, record, 0, &glyphs::of_terminal().signs()).speaker
            }
            _ => preview::of_role(&view.message),
        };
        Ok(Self {
            seq: view.seq,
            id: view.id.clone(),
            parent: view.parent.clone(),
            timestamp: view.timestamp.clone(),
            label: view.label.clone(),
            kind,
            hidden: false,
            preview: Preview {
                type_name: kind.wire().unwrap_or_default().to_owned(),
                role: Some(view.message.role_name.clone()),
                speaker,
                text: String::new(),
            },
            view: Some(view),
        })
    }

    /// Describes any entry of the log; none when it is gone.
    pub(super) fn entry(session: &Session, seq: Seq) -> anyhow::Result<Option<Self>> {
        let log = session.log();
        let Some(record) = log.record(seq) else { return Ok(None) };
        let line = session.line(seq)?;
        let parent = record.parent();
        let mut shown = match session.view(seq, parent)? {
            Some(view) => Self::message(session, view)?,
            None => Self {
                seq,
                id: session.entry_id(seq),
                parent: parent.map(|parent| session.entry_id(parent)),
                timestamp: timestamp(&line),
                label: log.facts().label(log.id(seq)).map(str::to_owned),
                kind: record.kind,
                hidden: false,
                preview: Preview::of_entry(&line, record, NOTE, &glyphs::of_terminal().signs()),
                view: None,
            },
        };
        shown.hidden = !record.is_visible();
        Ok(Some(shown))
    }

    /// Describes it for programs.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        let mut object = match &self.view {
            Some(view) => json::message(view),
            None => json::members(json!({
                "id": self.id.as_str(),
                "seq": self.seq.number(),
                "parent": self.parent.as_ref().map(EntryId::as_str),
                "role": self.preview.role,
                "text": self.preview.text,
                "parts": [],
                "tokens": 0,
                "timestamp": self.timestamp,
                "label": self.label,
            })),
        };
        object.insert("type".into(), self.preview.type_name.clone().into());
        object.insert("hidden".into(), self.hidden.into());
        object
    }

    /// Says whether it stands apart from what comes before. Results of tools follow their calls closely.
    pub(super) fn starts_paragraph(&self) -> bool {
        self.view.as_ref().is_some_and(|view| !self.hidden && view.message.role != Role::ToolResult)
    }

    /// Describes it for people.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn {
            seq: self.seq,
            id: self.id.as_str(),
            speaker: &self.preview.speaker,
            kind: self.kind,
            label: self.label.as_deref(),
            timestamp: &self.timestamp,
            message: self.view.as_ref().filter(|_| !self.hidden).map(|view| &view.message),
            note: &self.preview.text,
            changed: self.view.as_ref().and_then(|view| view.changed),
        }
    }
}

fn timestamp(line: &[u8]) -> String {
    let stored = Raw::parse(line).and_then(|raw| raw.field("timestamp")).and_then(Raw::text);
    stored.unwrap_or_default().into_owned()
}
