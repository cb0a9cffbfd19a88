//! What programs are told: the JSON shapes that the command line prints with `--json` and the server answers with.
//!
//! Each function makes one shape of what the engine returned, and is the only place where that shape is written down.
//! Members may be added, never renamed or removed without a new [`SCHEMA_VERSION`].

pub mod artifact;
pub mod clean;
pub mod collection;
pub mod compare;
pub mod context;
pub mod disk;
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
pub mod search;
pub mod session;
pub mod share;
pub mod todo;
pub mod tree;
pub mod turn;
pub mod usage;

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

/// Puts the version in front of the members of an object.
pub fn versioned(members: Map<String, Value>) -> Value {
    let mut object = Map::from_iter([("schema_version".to_owned(), SCHEMA_VERSION.into())]);
    object.extend(members);
    Value::Object(object)
}
