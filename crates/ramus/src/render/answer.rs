//! Reading answers: the objects that programs are told, wherever they come from. What is not there is empty.

use serde_json::{Map, Value};

/// An object of JSON.
pub(crate) trait Answer {
    /// Returns a member.
    fn member(&self, name: &str) -> Option<&Value>;

    /// Returns a member that is text, if it is.
    fn maybe(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_str()
    }

    /// Returns a member that is text.
    fn word(&self, name: &str) -> &str {
        self.maybe(name).unwrap_or_default()
    }

    /// Returns a member that is a number.
    fn number(&self, name: &str) -> u64 {
        self.member(name).and_then(Value::as_u64).unwrap_or_default()
    }

    /// Returns a member that counts something.
    fn count(&self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    /// Returns a member that is a list.
    fn items(&self, name: &str) -> &[Value] {
        self.member(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the texts of a list.
    fn words(&self, name: &str) -> Vec<&str> {
        self.items(name).iter().filter_map(Value::as_str).collect()
    }

    /// Says whether a member is true.
    fn says(&self, name: &str) -> bool {
        self.member(name).and_then(Value::as_bool).unwrap_or_default()
    }
}

impl Answer for Map<String, Value> {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Answer for Value {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}
