//! What a server answers: one JSON object.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::Error;

/// An answer: the members of one JSON object, without its version.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    members: Map<String, Value>,
    position: Option<u64>,
    server: String,
}

impl Answer {
    pub(crate) fn new(members: Map<String, Value>, position: Option<u64>, server: &str) -> Self {
        Self { members, position, server: server.to_owned() }
    }

    /// Returns the members.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// Returns the members.
    pub fn into_members(self) -> Map<String, Value> {
        self.members
    }

    /// Returns a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// Returns how many entries the log has that the answer is about: what a write can expect.
    pub fn position(&self) -> Option<u64> {
        self.position
    }

    /// Reads the answer as something.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        let server = self.server;
        serde_json::from_value(Value::Object(self.members)).map_err(|error| Error::Stranger {
            server,
            reason: format!("its answer is not what was expected: {error}"),
        })
    }
}
