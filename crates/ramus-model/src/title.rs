//! The title of a session: the latest word of the log, the title slot and the header.

use crate::log::Log;
use crate::time;

/// Returns the title that was given, if any.
pub fn given(log: &Log) -> Option<&str> {
    let slot = log.title_slot().filter(|slot| !slot.title.is_empty());
    let slot_time = slot.and_then(|slot| time::parse(&slot.updated_at));
    match (log.facts().title(), slot) {
        // The slot is rewritten in place, so it can be newer than anything in the log.
        (Some((_, entry_time)), Some(slot)) if slot_time > entry_time => Some(&slot.title),
        (Some((title, _)), _) => Some(title),
        (None, Some(slot)) => Some(&slot.title),
        (None, None) => log.header()?.title.as_deref(),
    }
}

/// Returns the title to show: the given one, or one made from the time of creation.
pub fn shown(log: &Log) -> String {
    match given(log) {
        Some(title) => title.to_owned(),
        None => format!("New session - {}", log.header().map_or("", |header| &header.timestamp)),
    }
}
