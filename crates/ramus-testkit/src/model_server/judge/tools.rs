//! Definitions of tools: what every provider checks about names and schemas.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The names of tools that were defined.
#[derive(Default)]
pub(super) struct Names<'a>(HashSet<&'a str>);

impl<'a> Names<'a> {
    /// Takes in a name, and returns whether it is new.
    pub(super) fn admit(&mut self, name: &'a str) -> bool {
        self.0.insert(name)
    }

    /// Returns whether no tool was defined.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a schema of arguments must not be.
pub(super) enum Fault {
    /// Not the schema of an object.
    NotObject,
    /// An object, but one that is put together at the top.
    Combined,
    /// A list somewhere in it does not say of what.
    List(String),
}

/// Finds what is wrong with the schema of the arguments of a tool.
pub(super) fn schema_fault(schema: Option<&Value>) -> Option<Fault> {
    let Some(object) = schema.and_then(Value::as_object) else {
        return Some(Fault::NotObject);
    };
    if object.get("type").and_then(Value::as_str) != Some("object") {
        return Some(Fault::NotObject);
    }
    if object.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Some(Fault::NotObject);
    }
    if ["oneOf", "anyOf", "allOf", "enum", "not"].into_iter().any(|name| object.contains_key(name)) {
        return Some(Fault::Combined);
    }
    list_without_items(object).map(Fault::List)
}

/// Finds a schema of a list that does not describe its items, however deep it is.
fn list_without_items(schema: &Map<String, Value>) -> Option<String> {
    let mut open = vec![(String::new(), schema)];
    while let Some((path, schema)) = open.pop() {
        if schema.get("type").and_then(Value::as_str) == Some("array") && !schema.contains_key("items") {
            return Some(path);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let inner =
                properties.iter().filter_map(|(name, value)| Some((format!("{path}/{name}"), value.as_object()?)));
            open.extend(inner);
        }
        if let Some(items) = schema.get("items").and_then(Value::as_object) {
            open.push((format!("{path}/items"), items));
        }
    }
    None
}
