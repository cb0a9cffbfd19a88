//! Events as they go over the wire. They are written once, however many read them.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use ramus_engine::Session;
use ramus_engine::events::Told;
use ramus_wire::{members, versioned};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// How much of the hash of a name is told, in bytes.
const SHORT: usize = 4;

/// How far someone has read: every event of so many entries, and so many of the entry behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The position in the log.
    pub(crate) seq: u64,
    /// How many events of the next entry.
    pub(crate) part: usize,
}

impl Place {
    /// Where a log begins, whichever it is.
    const START: Self = Self { seq: 0, part: 0 };

    fn parse(text: &str) -> Option<Self> {
        match text.split_once('.') {
            None => Some(Self { seq: text.parse().ok()?, part: 0 }),
            Some((seq, part)) => Some(Self { seq: seq.parse().ok()?, part: part.parse().ok()? }),
        }
    }
}

/// Tells the log of a session from others that had its id, before a reset or a deletion: places in one are none in another.
/// Most sessions never had another log, and need none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epoch(Option<Arc<str>>);

impl Epoch {
    pub(crate) fn of(session: &Session) -> Self {
        Self::named(session.epoch().as_deref())
    }

    /// Names come from files of any origin, so only their hash is told.
    pub(super) fn named(name: Option<&str>) -> Self {
        let hash = |name: &str| hex::encode(Sha256::digest(name).get(..SHORT).unwrap_or_default()).into();
        Self(name.map(hash))
    }

    /// Returns the id of an event: what a reader names to go on from.
    pub(crate) fn id(&self, place: Place) -> String {
        let Place { seq, part } = place;
        let part = if part > 0 { format!(".{part}") } else { String::new() };
        let epoch = self.0.as_ref().map(|epoch| format!("@{epoch}")).unwrap_or_default();
        format!("{seq}{part}{epoch}")
    }
}

/// What a reader names as the last thing it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct After {
    place: Place,
    /// The log that the place is in; none for the one that is there now.
    epoch: Option<Epoch>,
}

impl After {
    /// Reads the id of an event, `12` or `12.1`, and what tells the log if there were others: `12@1a2b3c4d`.
    pub(crate) fn event(id: &str) -> Option<Self> {
        let (place, epoch) = match id.split_once('@') {
            None => (id, None),
            Some((_, "")) => return None,
            Some((place, epoch)) => (place, Some(epoch.into())),
        };
        Some(Self { place: Place::parse(place)?, epoch: Some(Epoch(epoch)) })
    }

    /// Reads the id of an event, or a position of the log that is there now.
    pub(crate) fn position(text: &str) -> Option<Self> {
        let after = Self::event(text)?;
        Some(Self { epoch: after.epoch.filter(|epoch| epoch.0.is_some()), ..after })
    }

    /// Returns the place, if it is one in this log, which is so long.
    pub(super) fn within(&self, epoch: &Epoch, len: u64) -> Option<Place> {
        let Place { seq, part } = self.place;
        let is_there = seq < len || (seq == len && part == 0);
        let is_same = self.epoch.as_ref().is_none_or(|known| known == epoch) || self.place == Place::START;
        Some(self.place).filter(|_| is_there && is_same)
    }
}

/// An event, or all events of one entry, spelled out.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The position in the log of what it tells, when that is an entry; the last one, when there is another log.
    pub(crate) seq: Option<u64>,
    /// Its lines, and the empty ones behind them.
    pub(crate) text: Bytes,
    /// The log that it tells of: the one that an entry is in, or the one that there is now.
    pub(super) epoch: Option<Epoch>,
    /// Whether nothing comes behind it.
    pub(crate) is_last: bool,
    /// The turn whose end it tells.
    pub(crate) ends: Option<String>,
    /// The question that it asks.
    pub(crate) asks: Option<String>,
}

impl Frame {
    pub(crate) fn last(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// Says that there is another log now, which holds so many entries.
    pub(super) fn resetting(mut self, epoch: &Epoch, len: u64) -> Self {
        (self.epoch, self.seq) = (Some(epoch.clone()), Some(len));
        self.last()
    }

    pub(crate) fn ending(mut self, run: &str) -> Self {
        self.ends = Some(run.to_owned());
        self
    }

    pub(super) fn asking(mut self, question: &str) -> Self {
        self.asks = Some(question.to_owned());
        self
    }

    /// Spells out what an entry tells. Whoever has the last of its events has the position of the entry; whoever has less
    /// of them has the position before it, and how many.
    pub(super) fn of_entry(epoch: &Epoch, seq: u64, told: &[Told], skip: usize) -> Self {
        let mut text = BytesMut::new();
        for (at, one) in told.iter().enumerate().skip(skip) {
            let is_last = at + 1 == told.len();
            let place =
                if is_last { Place { seq, part: 0 } } else { Place { seq: seq.saturating_sub(1), part: at + 1 } };
            text.extend_from_slice(&spelled(one.name(), Some(&epoch.id(place)), &one.to_json().into()));
        }
        let epoch = Some(epoch.clone());
        Self { seq: Some(seq), text: text.freeze(), epoch, is_last: false, ends: None, asks: None }
    }
}

/// Spells an event out that tells no entry. The id is what a reader names to go on from.
pub(crate) fn event(name: &str, id: Option<&str>, told: &Value) -> Frame {
    Frame { seq: None, text: spelled(name, id, told), epoch: None, is_last: false, ends: None, asks: None }
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
        let frame = event("entry.appended", Some("7"), &json!({"text": "a\nb\r\n\u{2028}c"}));
        let text = String::from_utf8_lossy(&frame.text).into_owned();
        assert_eq!(
            text,
            "id: 7\nevent: entry.appended\ndata: {\"schema_version\":1,\"text\":\"a\\nb\\r\\n\u{2028}c\"}\n\n"
        );
    }

    #[test]
    fn who_was_cut_off_between_events_of_an_entry_gets_the_rest_of_them() {
        let told = |what| Told { session: SessionId::new("s"), seq: None, what };
        let group = [told(What::Deleted(json!({"id": "s"}))), told(What::Error("x".into())), told(What::Lagged(3))];
        let ids = |skip| {
            let text = Frame::of_entry(&Epoch::default(), 7, &group, skip).text;
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(ids(0), ["6.1", "6.2", "7"]);
        let place = Place::parse("6.1").unwrap_or_default();
        assert_eq!((place.seq, ids(place.part)), (6, vec!["6.2".to_owned(), "7".to_owned()]));
        assert_eq!(Place::parse("7"), Some(Place { seq: 7, part: 0 }));
        for wrong in ["", "x", "-1", "1.", ".1", "1.2.3", "1,2", "1@", "@a"] {
            assert_eq!(After::event(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_place_in_another_log_of_the_session_is_no_place_in_this_one() {
        let (first, second, third) = (Epoch::default(), Epoch::named(Some("a")), Epoch::named(Some("b\n")));
        let place = Place { seq: 3, part: 1 };
        let within = |id: &str, epoch: &Epoch| After::event(id).and_then(|after| after.within(epoch, 4));
        for epoch in [&first, &second, &third] {
            for told in [&first, &second, &third] {
                assert_eq!(within(&told.id(place), epoch), (told == epoch).then_some(place), "{told:?} {epoch:?}");
            }
            assert_eq!(within("0", epoch), Some(Place::START), "who has nothing misses nothing");
            let position = After::position("3").and_then(|after| after.within(epoch, 4));
            assert_eq!(position, Some(Place { seq: 3, part: 0 }), "a position is one of the log that is there");
        }
        assert_eq!(within("5", &first), None, "the log does not reach that far");
        assert_eq!(After::position(&second.id(place)).and_then(|after| after.within(&third, 4)), None);
    }
}
