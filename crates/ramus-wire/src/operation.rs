//! What was done to a session, and what was taken back.

use ramus_engine::{Audited, EngineError, Operations, Performed, Session, TakenBack};
use ramus_model::EntryId;
use serde_json::{Map, Value, json};

use crate::preview::{Preview, Signs};
use crate::{files, members};

/// How much is said about what an operation was about.
const ABOUT: usize = 200;

/// A page of what was done to a session.
pub fn page(session: &Session, page: &Operations, signs: &Signs) -> Result<Map<String, Value>, EngineError> {
    let operations: Vec<Value> =
        page.operations.iter().map(|done| performed(session, done, signs)).collect::<Result<_, _>>()?;
    Ok(members(json!({
        "session": session.id().as_str(), "operations": operations, "next_cursor": page.next_cursor,
    })))
}

/// What was done to a session and to those that come from it and are shown, the newest of it.
pub fn audited(
    session: &Session,
    audited: &Audited,
    limit: usize,
    signs: &Signs,
    is_shown: impl Fn(&Session) -> bool,
) -> Result<Map<String, Value>, EngineError> {
    let one = |(session, done): (&Session, &Performed)| {
        let mut operation = members(performed(session, done, signs)?);
        operation.insert("session".into(), session.id().as_str().into());
        Ok::<_, EngineError>(Value::Object(operation))
    };
    let newest = audited.newest(usize::MAX).filter(|(session, _)| is_shown(session)).take(limit);
    let operations: Vec<Value> = newest.map(one).collect::<Result<_, _>>()?;
    let shown = audited.sessions.iter().filter(|session| is_shown(session));
    let sessions: Vec<&str> = shown.map(|session| session.id().as_str()).collect();
    Ok(members(json!({"session": session.id().as_str(), "sessions": sessions, "operations": operations})))
}

/// One operation.
pub fn performed(session: &Session, done: &Performed, signs: &Signs) -> Result<Value, EngineError> {
    let entries: Vec<Value> = done
        .entries
        .iter()
        .zip(&done.operation.entries)
        .map(|(id, seq)| json!({"id": id.as_str(), "seq": seq.number()}))
        .collect();
    Ok(json!({
        "id": done.operation.id,
        "op": done.operation.name,
        "client": done.operation.client,
        "time": done.operation.time,
        "entries": entries,
        "takes_back": done.operation.takes_back,
        "undone": done.is_undone,
        "about": about(session, done, ABOUT, signs)?,
    }))
}

/// What an operation was about: the first of its entries that says something.
pub fn about(session: &Session, done: &Performed, limit: usize, signs: &Signs) -> Result<String, EngineError> {
    let log = session.log();
    for seq in &done.operation.entries {
        let Some(record) = log.record(*seq) else { continue };
        let preview = Preview::of_entry(&session.line(*seq)?, record, limit, signs);
        if !preview.text.is_empty() {
            return Ok(preview.text);
        }
    }
    Ok(String::new())
}

/// What was undone or redone.
pub fn taken_back(session: &Session, taken: &TakenBack) -> Result<Map<String, Value>, EngineError> {
    let mut answer = files::restored(&taken.files);
    let operation = json!({
        "id": taken.operation.id, "op": name_of(session, taken)?, "time": taken.operation.time,
        "takes_back": taken.operation.takes_back,
    });
    answer.insert("applied".into(), taken.is_done.into());
    answer.insert("operation".into(), operation);
    answer.insert("leaf".into(), json!(taken.leaf.as_ref().map(EntryId::as_str)));
    Ok(answer)
}

/// What was taken back, in one word. What was taken back to redo something is the undo; people want to know of what.
pub fn name_of(session: &Session, taken: &TakenBack) -> Result<String, EngineError> {
    let own = || taken.operation.name.clone();
    let Some(id) = &taken.operation.takes_back else { return Ok(own()) };
    let all = session.operations(None, None)?.operations;
    Ok(all.into_iter().find(|done| done.operation.id == *id).map_or_else(own, |done| done.operation.name))
}
