//! Stored entries, and where the leaf is. Their lines are spliced in as they are, never decoded and encoded again.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{AnyOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::files::RevertedSession;
use crate::object_of;

/// A page of stored entries.
#[derive(ToSchema)]
pub struct EntryPage {
    /// The session.
    pub session: String,
    /// In the order of the log.
    pub entries: Vec<StoredEntry>,
    /// What is told behind them.
    #[serde(flatten)]
    pub rest: EntryPageEnd,
}

/// A stored entry.
#[derive(ToSchema)]
pub struct StoredEntry {
    /// Its position in the log.
    pub seq: u32,
    /// What it is called; empty for a line that has no id.
    pub id: String,
    /// The stored line; text when it is no JSON.
    pub entry: Value,
}

/// Where a page of entries ends.
#[derive(Serialize, ToSchema)]
pub struct EntryPageEnd {
    /// Where the next page starts; null when there is none.
    #[schema(required)]
    next_cursor: Option<u64>,
    /// How long the log is.
    position: u64,
}

/// What is told behind the entries of a page.
pub fn end(next_cursor: Option<u64>, position: u64) -> Map<String, Value> {
    object_of(&EntryPageEnd { next_cursor, position })
}

/// Where the leaf is.
#[derive(Serialize, ToSchema)]
pub struct LeafMoved<'l> {
    /// The entry; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<&'l str>,
}

/// Where the leaf is now.
pub fn leaf(leaf: Option<&str>) -> Map<String, Value> {
    object_of(&LeafMoved { leaf })
}

/// Where the leaf is, and what became of the files when they came along.
pub struct BranchedSession;

impl PartialSchema for BranchedSession {
    fn schema() -> RefOr<Schema> {
        // Whoever is told of files is told of the leaf too, so that both may describe an answer.
        let either = AnyOfBuilder::new()
            .description(Some("Where the leaf is, and what became of the files when they came along."))
            .item(Ref::from_schema_name(RevertedSession::name()))
            .item(Ref::from_schema_name(LeafMoved::name()));
        RefOr::T(either.build().into())
    }
}

impl ToSchema for BranchedSession {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("BranchedSession")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((RevertedSession::name().into_owned(), RevertedSession::schema()));
        schemas.push((LeafMoved::name().into_owned(), LeafMoved::schema()));
        RevertedSession::schemas(schemas);
        LeafMoved::schemas(schemas);
    }
}
