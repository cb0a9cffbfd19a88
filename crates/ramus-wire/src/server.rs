//! How a server is.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, words};

/// How a server is.
#[derive(Serialize, ToSchema)]
pub struct ServerHealth<'s> {
    #[schema(schema_with = words::fine)]
    status: &'static str,
    version: &'s str,
}

/// A server of this version answers.
pub fn health(version: &str) -> Map<String, Value> {
    object_of(&ServerHealth { status: "ok", version })
}
