//! What was done to a session, and what was taken back.

use ramus_engine::{Audited, EngineError, Operations, Performed, Session, TakenBack};
use ramus_model::EntryId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::files::RestoredFiles;
use crate::object_of;
use crate::preview::{Preview, Signs};

/// How much is said about what an operation was about.
const ABOUT: usize = 200;

/// A page of what was done to a session.
#[derive(Serialize, ToSchema)]
pub struct OperationPage<'p> {
    session: &'p str,
    /// Newest first.
    operations: Vec<OperationJson<'p>>,
    /// Where the next page starts; null when there is none.
    #[schema(required)]
    next_cursor: Option<&'p str>,
}

/// A page of what was done to a session.
pub fn page(session: &Session, page: &Operations, signs: &Signs) -> Result<Map<String, Value>, EngineError> {
    let operations =
        page.operations.iter().map(|done| OperationJson::of(session, done, signs)).collect::<Result<_, _>>()?;
    let next_cursor = page.next_cursor.as_deref();
    Ok(object_of(&OperationPage { session: session.id().as_str(), operations, next_cursor }))
}

/// What was done to a session and to those that come from it.
#[derive(Serialize, ToSchema)]
pub struct FamilyOperations<'p> {
    session: &'p str,
    /// The sessions that are looked at.
    sessions: Vec<&'p str>,
    /// Newest first.
    operations: Vec<FamilyOperation<'p>>,
}

/// An operation, and the session that it was done to.
#[derive(Serialize, ToSchema)]
struct FamilyOperation<'p> {
    #[serde(flatten)]
    operation: OperationJson<'p>,
    session: &'p str,
}

/// What was done: to a session, or to it and to those that come from it.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum OperationLog<'p> {
    /// Of one session.
    Page(OperationPage<'p>),
    /// Of all of them.
    Family(FamilyOperations<'p>),
}

/// What was done to a session and to those that come from it and are shown, the newest of it.
pub fn audited(
    session: &Session,
    audited: &Audited,
    limit: usize,
    signs: &Signs,
    is_shown: impl Fn(&Session) -> bool,
) -> Result<Map<String, Value>, EngineError> {
    let newest = audited.newest(usize::MAX).filter(|(session, _)| is_shown(session)).take(limit);
    let operations = newest
        .map(|(session, done)| {
            let operation = OperationJson::of(session, done, signs)?;
            Ok(FamilyOperation { operation, session: session.id().as_str() })
        })
        .collect::<Result<_, EngineError>>()?;
    let shown = audited.sessions.iter().filter(|session| is_shown(session));
    let sessions = shown.map(|session| session.id().as_str()).collect();
    Ok(object_of(&FamilyOperations { session: session.id().as_str(), sessions, operations }))
}

/// Something that was done to a session.
#[derive(Serialize, ToSchema)]
#[schema(as = Operation)]
struct OperationJson<'o> {
    id: &'o str,
    /// What was done, in one word.
    op: &'o str,
    /// The program that did it, as far as it says so.
    #[schema(required)]
    client: Option<&'o str>,
    time: &'o str,
    /// What was written.
    entries: Vec<OperationEntry<'o>>,
    /// The operation that it takes back.
    #[schema(required)]
    takes_back: Option<&'o str>,
    /// Whether it is taken back itself.
    undone: bool,
    /// The first of its entries that says something, on one line.
    about: String,
}

/// An entry that an operation wrote.
#[derive(Serialize, ToSchema)]
struct OperationEntry<'o> {
    id: &'o str,
    /// Its position in the log.
    seq: u32,
}

impl<'o> OperationJson<'o> {
    fn of(session: &Session, done: &'o Performed, signs: &Signs) -> Result<Self, EngineError> {
        let entries = done.entries.iter().zip(&done.operation.entries);
        Ok(Self {
            id: &done.operation.id,
            op: &done.operation.name,
            client: done.operation.client.as_deref(),
            time: &done.operation.time,
            entries: entries.map(|(id, seq)| OperationEntry { id: id.as_str(), seq: seq.number() }).collect(),
            takes_back: done.operation.takes_back.as_deref(),
            undone: done.is_undone,
            about: about(session, done, ABOUT, signs)?,
        })
    }
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
#[derive(Serialize, ToSchema)]
pub struct TakenBackOperation<'t> {
    #[serde(flatten)]
    files: RestoredFiles<'t>,
    operation: BackOperation<'t>,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<&'t str>,
}

/// The operation that takes another one back, and what that was.
#[derive(Serialize, ToSchema)]
struct BackOperation<'t> {
    id: &'t str,
    /// What was taken back, in one word.
    op: String,
    time: &'t str,
    #[schema(required)]
    takes_back: Option<&'t str>,
}

/// What was undone or redone.
pub fn taken_back(session: &Session, taken: &TakenBack) -> Result<Map<String, Value>, EngineError> {
    let operation = BackOperation {
        id: &taken.operation.id,
        op: name_of(session, taken)?,
        time: &taken.operation.time,
        takes_back: taken.operation.takes_back.as_deref(),
    };
    Ok(object_of(&TakenBackOperation {
        files: RestoredFiles::of(&taken.files, taken.is_done),
        operation,
        leaf: taken.leaf.as_ref().map(EntryId::as_str),
    }))
}

/// What was taken back, in one word. What was taken back to redo something is the undo; people want to know of what.
pub fn name_of(session: &Session, taken: &TakenBack) -> Result<String, EngineError> {
    let own = || taken.operation.name.clone();
    let Some(id) = &taken.operation.takes_back else { return Ok(own()) };
    let all = session.operations(None, None)?.operations;
    Ok(all.into_iter().find(|done| done.operation.id == *id).map_or_else(own, |done| done.operation.name))
}
