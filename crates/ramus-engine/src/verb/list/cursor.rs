//! Places in a list as text: what the list is sorted by, the value and the id of the session before the place, and, when
//! that does not tell it from others, its name. They say where to go on even when that session is gone.

use ramus_catalogue::{After, SortKey, SortValue};

use crate::error::EngineError;

/// What an id that is not plain starts with.
const SPELLED: &str = "~";

pub(super) fn write(after: &After, key: SortKey) -> String {
    let value = match &after.value {
        SortValue::Number(number) => number.to_string(),
        SortValue::Text(text) => hex::encode(text),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let id = if !after.id.is_empty() && after.id.bytes().all(is_plain) {
        after.id.clone()
    } else {
        format!("{SPELLED}{}", hex::encode(&after.id))
    };
    let name = after.name.as_ref().map(|name| format!(".{}", hex::encode(name))).unwrap_or_default();
    format!("{}{value}.{id}{name}", letter(key))
}

/// Reads a place in a list that is sorted by `key`; none when it is no such place.
pub(super) fn read(cursor: &str, key: SortKey) -> Option<After> {
    let mut parts = cursor.strip_prefix(letter(key))?.split('.');
    let value = parts.next()?;
    let value = match key {
        SortKey::Title => SortValue::Text(text(value)?),
        _ => SortValue::Number(value.parse().ok()?),
    };
    let id = parts.next()?;
    let id = match id.strip_prefix(SPELLED) {
        Some(spelled) => text(spelled)?,
        None => id.to_owned(),
    };
    let name = match parts.next() {
        Some(name) => Some(text(name)?),
        None => None,
    };
    parts.next().is_none().then_some(After { value, id, name })
}

pub(super) fn unknown(cursor: &str) -> EngineError {
    EngineError::Invalid(format!("{cursor:?} is not a cursor of this list"))
}

fn letter(key: SortKey) -> char {
    match key {
        SortKey::Updated => 'u',
        SortKey::Created => 'c',
        SortKey::Title => 't',
        SortKey::Messages => 'm',
        SortKey::Cost => 'p',
        SortKey::Tokens => 'k',
    }
}

fn text(spelled: &str) -> Option<String> {
    String::from_utf8(hex::decode(spelled).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written() {
        let title = SortValue::Text("a.b\n日本".into());
        for (value, key) in [(SortValue::Number(-5), SortKey::Updated), (title, SortKey::Title)] {
            for id in ["", "0190aaaa-bbbb", "a.b", "~x", "日本"] {
                for name in [None, Some("sessions/--a--/x.jsonl".to_owned())] {
                    let after = After { value: value.clone(), id: id.into(), name };
                    let cursor = write(&after, key);
                    assert_eq!(read(&cursor, key), Some(after), "{cursor}");
                    assert_eq!(read(&cursor, SortKey::Tokens), None);
                    assert_eq!(read(&format!("{cursor}.00.00"), key), None);
                }
            }
        }
        assert_eq!(read("u", SortKey::Updated), None);
    }
}
