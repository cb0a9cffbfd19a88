//! Sessions that were just made or changed, in few words.

use std::borrow::Cow;

use ramus_engine::{Forked, Session};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{OriginJson, state};
use crate::{object_of, path, words};

/// A session that was just made or changed.
#[derive(Serialize, ToSchema)]
#[schema(as = BriefSession)]
pub struct BriefJson<'i> {
    id: &'i str,
    /// The file; null when the home has none.
    #[schema(required)]
    path: Option<Cow<'i, str>>,
    cwd: &'i str,
    title: &'i str,
    #[schema(schema_with = words::residences)]
    state: &'static str,
    #[schema(required)]
    forked_from: Option<OriginJson<'i>>,
}

/// A session that was just made.
#[derive(Serialize, ToSchema)]
pub struct MadeSession {
    /// What is told of it.
    #[schema(value_type = BriefJson)]
    pub session: Map<String, Value>,
}

/// A session that was just made or changed.
pub fn brief_session(session: &Session) -> Map<String, Value> {
    object_of(&BriefJson {
        id: session.id().as_str(),
        path: session.location().path.as_deref().map(path),
        cwd: session.cwd(),
        title: &session.title(),
        state: state(session.residence()),
        forked_from: session.lineage().forked_from.as_ref().map(OriginJson::from),
    })
}

/// Makes of a session as it is described what is told of one that was just changed.
pub fn brief(described: &Map<String, Value>) -> Map<String, Value> {
    let kept = ["id", "path", "cwd", "title", "state", "forked_from"];
    kept.into_iter().filter_map(|name| Some((name.to_owned(), described.get(name)?.clone()))).collect()
}

/// What is told about a session that was just forked.
pub fn forked(fork: &Forked) -> Map<String, Value> {
    object_of(&BriefJson {
        id: fork.id.as_str(),
        path: fork.location.path.as_deref().map(path),
        cwd: &fork.cwd,
        title: &fork.title,
        state: state(fork.location.residence),
        forked_from: Some(OriginJson::from(&fork.origin)),
    })
}
