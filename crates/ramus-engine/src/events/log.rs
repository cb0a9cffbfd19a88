//! Events of a log: what each entry tells, in order.

use ramus_agent::Event;
use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{Kind, Marker, Role, Seq};
use serde_json::{Value, json};

use super::{Told, What};
use crate::error::EngineError;
use crate::run::DURATION;
use crate::session::Session;
use crate::verb::todo::tasks_of;

/// What an entry tells. Every one tells that it was appended.
pub(super) fn of_entry(session: &Session, seq: Seq) -> Result<Vec<Told>, EngineError> {
    let log = session.log();
    let (Some(record), Some(place)) = (log.record(seq), log.stored_place(seq)) else { return Ok(Vec::new()) };
    let line = session.line_at(place)?;
    let told = |what| Told { session: session.id().clone(), seq: Some(seq), what };
    let (entry, parent) = (session.entry_id(seq), record.parent().map(|parent| session.entry_id(parent)));
    let mut events = vec![told(What::Event(Event::EntryAppended { entry, parent, seq }))];
    let Some(raw) = Raw::parse(&line) else { return Ok(events) };
    match (record.kind, record.marker) {
        (Kind::Message, _) => events.extend(of_message(raw, record.role, seq).map(|event| told(What::Event(event)))),
        (Kind::SessionInfo | Kind::TitleChange, _) => {
            events.push(told(What::Event(Event::TitleChanged(title_of(raw, record.kind, session)))));
            events.push(told(What::Updated(info(session))));
        }
        (Kind::Custom, Marker::Meta | Marker::Session) | (Kind::Label, _) => {
            events.push(told(What::Updated(info(session))));
        }
        (Kind::Compaction, _) => events.push(told(What::Event(Event::CompactionEnd { error: None }))),
        (Kind::Custom, _) => events.extend(of_custom(raw, seq).into_iter().map(|event| told(What::Event(event)))),
        _ => {}
    }
    if let Some(tasks) = tasks_of(&line) {
        let tasks = tasks.iter().map(|task| json!(task)).collect();
        events.push(told(What::Event(Event::TodoUpdated(tasks))));
    }
    Ok(events)
}

/// The title that an entry gives, whatever it was changed to since; what is shown when it takes the title away.
fn title_of(raw: Raw<'_>, kind: Kind, session: &Session) -> String {
    let name = if kind == Kind::TitleChange { "title" } else { "name" };
    let title = raw.field(name).and_then(Raw::text).unwrap_or_default();
    if title.trim().is_empty() { session.title() } else { title.into_owned() }
}

fn of_message(raw: Raw<'_>, role: Role, seq: Seq) -> Option<Event> {
    let message = raw.field("message")?;
    let text = |name| message.field(name).and_then(Raw::text).map(|text| text.into_owned());
    match role {
        Role::Assistant => {
            Some(Event::MessageEnd { stop_reason: text("stopReason").unwrap_or_default(), seq: Some(seq) })
        }
        Role::ToolResult => {
            let whole = Message::of_entry(raw)?;
            let result = whole.result.as_ref()?;
            let parts = message.field("content").and_then(|content| serde_json::from_slice(content.bytes()).ok());
            let details = message.field("details").and_then(|details| serde_json::from_slice(details.bytes()).ok());
            Some(Event::ToolEnd {
                call: result.call.clone(),
                name: text("toolName").unwrap_or_default(),
                result: parts.unwrap_or_default(),
                is_error: result.is_error,
                details,
                duration_ms: raw.field(DURATION).and_then(Raw::unsigned),
                seq: Some(seq),
            })
        }
        _ => None,
    }
}

/// What the end of a turn tells.
fn of_custom(raw: Raw<'_>, seq: Seq) -> Vec<Event> {
    let is_turn = raw.field("customType").and_then(Raw::text).is_some_and(|name| name == "ramus.turn");
    let Some(data) = raw.field("data").filter(|_| is_turn) else { return Vec::new() };
    let text = |name| data.field(name).and_then(Raw::text).map(|text| text.into_owned());
    let turn = text("opOf").or_else(|| text("opId")).unwrap_or_default();
    let told = data.field("diff").and_then(|diff| serde_json::from_slice::<Vec<Value>>(diff.bytes()).ok());
    let diff = told.unwrap_or_else(|| {
        // Earlier versions wrote down the paths alone.
        let changed = data.field("changed").into_iter().flat_map(Raw::items).filter_map(Raw::text);
        changed.map(|path| json!({"path": path})).collect()
    });
    let mut events = Vec::new();
    if !diff.is_empty() {
        events.push(Event::SessionDiff { diff, seq: Some(seq) });
    }
    events.push(match text("end").unwrap_or_default() {
        end if end == "cancelled" => Event::TurnCancelled { turn, seq: Some(seq) },
        end => Event::TurnEnd { turn, finish_reason: end, error: None, seq: Some(seq) },
    });
    events
}

/// What a session is, in few words: as much as needs no message to be read.
pub(super) fn info(session: &Session) -> Value {
    let lineage = session.lineage();
    json!({
        "id": session.id().as_str(),
        "title": session.title(),
        "cwd": session.cwd(),
        "path": session.location().path,
        "owner": session.owner(),
        "tags": session.tags(),
        "starred": session.starred(),
        "archived_at": session.archived_at(),
        "archived": session.archived_at().is_some(),
        "parent": lineage.parent.map(|parent| parent.to_string()),
        "forked_from": lineage.forked_from.map(|from| json!({"session": from.session.as_str(), "entry": from.entry.as_str()})),
        "leaf": session.leaf().map(|leaf| leaf.to_string()),
        "entries": session.log().own_len(),
    })
}
