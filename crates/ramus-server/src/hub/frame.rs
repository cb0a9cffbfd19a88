//! Events as they go over the wire. They are written once, however many read them.

use bytes::{Bytes, BytesMut};
use ramus_engine::events::Told;
use ramus_wire::{members, versioned};
use serde_json::Value;

/// How far someone has read: every event of so many entries, and so many of the entry behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The position in the log.
    pub(crate) seq: u64,
    /// How many events of the next entry.
    pub(crate) part: usize,
}

impl Place {
    /// Reads what stands behind `id:`, `12` or `12.1`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.split_once('.') {
            None => Some(Self { seq: text.parse().ok()?, part: 0 }),
            Some((seq, part)) => Some(Self { seq: seq.parse().ok()?, part: part.parse().ok()? }),
        }
    }
}

/// An event, or all events of one entry, spelled out.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The position in the log of what it tells, when that is an entry.
    pub(crate) seq: Option<u64>,
    /// Its lines, and the empty ones behind them.
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

    /// Spells out what an entry tells. Whoever has the last of its events has the position of the entry; whoever has less
    /// of them has the position before it, and how many.
    pub(super) fn of_entry(seq: u64, told: &[Told], skip: usize) -> Self {
        let mut text = BytesMut::new();
        for (at, one) in told.iter().enumerate().skip(skip) {
            let is_last = at + 1 == told.len();
            let id = if is_last { seq.to_string() } else { format!("{}.{}", seq.saturating_sub(1), at + 1) };
            text.extend_from_slice(&spelled(one.name(), Some(&id), &one.to_json().into()));
        }
        Self { seq: Some(seq), text: text.freeze(), is_last: false, ends: None }
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
    use ramus_engine::events::What;
    use ramus_model::SessionId;
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

    #[test]
    fn who_was_cut_off_between_events_of_an_entry_gets_the_rest_of_them() {
        let told = |what| Told { session: SessionId::new("s"), seq: None, what };
        let group = [told(What::Deleted), told(What::Error("x".into())), told(What::Lagged(3))];
        let ids = |skip| {
            let text = Frame::of_entry(7, &group, skip).text;
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(ids(0), ["6.1", "6.2", "7"]);
        let place = Place::parse("6.1").unwrap_or_default();
        assert_eq!((place.seq, ids(place.part)), (6, vec!["6.2".to_owned(), "7".to_owned()]));
        assert_eq!(Place::parse("7"), Some(Place { seq: 7, part: 0 }));
        for wrong in ["", "x", "-1", "1.", ".1", "1.2.3", "1,2"] {
            assert_eq!(Place::parse(wrong), None, "{wrong}");
        }
    }
}
