//! What programs are told: the JSON shapes that the command line prints with `--json` and the server answers with.
//!
//! Each function makes one shape of what the engine returned, and the type it makes it of is the only place where that shape is
//! written down: what is described in OpenAPI is made of the same type. Members may be added, never renamed or removed without
//! a new [`SCHEMA_VERSION`]. What may be null is told as null; only what says so is left out.

pub mod artifact;
pub mod clean;
pub mod collection;
pub mod compare;
pub mod context;
pub mod disk;
pub mod entries;
pub mod facets;
pub mod files;
pub mod foreign;
pub mod health;
pub mod import;
pub mod life;
pub mod model;
pub mod okc;
pub mod operation;
pub mod outline;
pub mod permission;
pub mod place;
pub mod preview;
pub mod removal;
pub mod room;
pub mod run;
pub mod search;
pub mod server;
pub mod session;
pub mod share;
pub mod state;
pub mod todo;
pub mod tree;
pub mod trouble;
pub mod turn;
pub mod usage;
mod words;

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

/// The version of every object.
pub const SCHEMA_VERSION: u32 = 1;

/// Takes the members of a `json!` object.
pub fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// Makes an object of a shape.
pub fn object_of(shape: &impl Serialize) -> Map<String, Value> {
    // What is made of text and numbers always becomes JSON.
    members(serde_json::to_value(shape).unwrap_or_default())
}

/// A path as text. What is no text in it is told as well as can be.
pub(crate) fn path(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// Puts the version in front of the members of an object.
pub fn versioned(members: Map<String, Value>) -> Value {
    let mut object = Map::from_iter([("schema_version".to_owned(), SCHEMA_VERSION.into())]);
    object.extend(members);
    Value::Object(object)
}
