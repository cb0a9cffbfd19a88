//! One event as it goes over the wire. It is written once, however many read it.

use bytes::Bytes;
use ramus_wire::{members, versioned};
use serde_json::Value;

/// An event, spelled out.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The position in the log of what it tells, when that is an entry.
    pub(crate) seq: Option<u64>,
    /// Its lines, and the empty one behind them.
    pub(crate) text: Bytes,
    /// Whether nothing comes behind it.
    pub(crate) is_last: bool,
    /// The turn whose end it tells.
    pub(crate) ends: Option<String>,
}

impl Frame {
    pub(crate) fn last(mut self) -> Self {
        self.is_last = true;
        self
    }

    pub(crate) fn ending(mut self, run: &str) -> Self {
        self.ends = Some(run.to_owned());
        self
    }
}

/// Spells an event out. The position is what a reader names to go on from.
pub(crate) fn event(name: &str, seq: Option<u64>, told: &Value) -> Frame {
    let id = seq.map(|seq| seq.to_string());
    Frame { seq, text: spelled(name, id.as_deref(), told), is_last: false, ends: None }
}

/// JSON has no line breaks of its own, so one line of data is enough.
pub(super) fn spelled(name: &str, id: Option<&str>, told: &Value) -> Bytes {
    let data = versioned(members(told.clone()));
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line_of_data_whatever_it_holds() {
        let frame = event("entry.appended", Some(7), &json!({"text": "a\nb\r\n\u{2028}c"}));
        let text = String::from_utf8_lossy(&frame.text).into_owned();
        assert_eq!(
            text,
            "id: 7\nevent: entry.appended\ndata: {\"schema_version\":1,\"text\":\"a\\nb\\r\\n\u{2028}c\"}\n\n"
        );
    }
}
