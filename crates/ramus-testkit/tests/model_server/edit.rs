//! Small changes to JSON, by pointers.

use serde_json::Value;

/// Returns `body` with the value at `pointer` replaced, or put there.
pub(crate) fn set(body: &Value, pointer: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} has no parent")) {
        Value::Object(object) => {
            object.insert(name.replace("~1", "/").replace("~0", "~"), value.into());
        }
        Value::Array(list) => list[name.parse::<usize>().unwrap()] = value.into(),
        other => panic!("{pointer} is in {other}"),
    }
    body
}

/// Returns `body` without what is at `pointer`.
pub(crate) fn without(body: &Value, pointer: &str) -> Value {
    let mut body = body.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.shift_remove(name).unwrap()),
        Value::Array(list) => drop(list.remove(name.parse().unwrap())),
        other => panic!("{pointer} is in {other}"),
    }
    body
}

/// Returns `body` with `value` put in front of what is at `pointer`, in a list.
pub(crate) fn before(body: &Value, pointer: &str, value: Value) -> Value {
    let mut body = body.clone();
    let (parent, index) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_array_mut().unwrap().insert(index.parse().unwrap(), value);
    body
}

/// Returns `body` with `value` at the end of the list at `pointer`.
pub(crate) fn push(body: &Value, pointer: &str, value: Value) -> Value {
    let mut body = body.clone();
    body.pointer_mut(pointer).unwrap().as_array_mut().unwrap().push(value);
    body
}

/// Returns `body` with two neighbours of a list swapped: the one at `pointer` and the next.
pub(crate) fn swapped(body: &Value, pointer: &str) -> Value {
    let mut body = body.clone();
    let (parent, index) = pointer.rsplit_once('/').unwrap();
    let index: usize = index.parse().unwrap();
    body.pointer_mut(parent).unwrap().as_array_mut().unwrap().swap(index, index + 1);
    body
}

/// Returns every pointer into `body`, with what is there.
pub(crate) fn pointers(body: &Value) -> Vec<(String, &Value)> {
    let mut open = vec![(String::new(), body)];
    let mut found = Vec::new();
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(object) => {
                open.extend(object.iter().map(|(name, value)| (format!("{pointer}/{name}"), value)));
            }
            Value::Array(list) => {
                open.extend(list.iter().enumerate().map(|(index, value)| (format!("{pointer}/{index}"), value)));
            }
            _ => {}
        }
        found.push((pointer, value));
    }
    found
}
