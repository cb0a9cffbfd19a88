//! The database of goose, versions 13 to 16: a row for each session and each message.

use std::path::Path;

use ramus_model::json::Raw;

use super::AGENT;
use super::read::session;
use crate::error::Error;
use crate::limits::Limits;
use crate::record::Pieced;
use crate::sink::{Report, Sink};
use crate::sqlite::{self, Cells, member};

/// Reads every session of a store.
pub(super) fn read(path: &Path, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let connection = sqlite::open(path)?;
    if !sqlite::has_table(&connection, "sessions")? || !sqlite::has_table(&connection, "messages")? {
        return Err(Error::NotThisFormat {
            agent: AGENT,
            why: "the database has no tables sessions and messages".into(),
        });
    }
    let mut report = Report::default();
    let mut cells = Cells::new(limits);
    let mut sessions = connection.prepare("SELECT * FROM sessions ORDER BY id")?;
    let columns: Vec<String> = sessions.column_names().map(str::to_owned).collect();
    let mut messages = connection.prepare(
        "SELECT id, message_id, role, content_json, created_timestamp, metadata_json FROM messages \
         WHERE session_id = ?1 ORDER BY id",
    )?;
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let mut info = b"{".to_vec();
        let mut id = String::new();
        for (at, column) in columns.iter().enumerate() {
            // What the export has as an object, the table has as its text.
            let is_json = column.ends_with("_json") || column == "extension_data";
            let name = column.strip_suffix("_json").unwrap_or(column);
            let written = if is_json { cells.json_or_value(row, at)? } else { cells.value(row, at)? };
            // An older word for the name, which an import would take for a second one.
            if column == "description" && columns.iter().any(|other| other == "name") {
                continue;
            }
            let written = exported(column, written);
            if column == "id" {
                id = Raw::parse(&written).and_then(Raw::text).unwrap_or_default().into_owned();
            }
            member(&mut info, name, &written);
        }
        info.push(b'}');
        let info = Pieced { bytes: info, gaps: cells.gaps() };
        let mut list = messages.query([&id])?;
        let mut next = || -> Result<Option<Pieced>, Error> {
            let Some(row) = list.next()? else { return Ok(None) };
            let mut message = b"{".to_vec();
            let named = cells.value(row, 1)?;
            let number = cells.value(row, 0)?;
            let fallback = format!("\"row-{}\"", String::from_utf8_lossy(&number));
            member(&mut message, "id", if named == b"null" { fallback.as_bytes() } else { &named });
            member(&mut message, "role", &cells.value(row, 2)?);
            member(&mut message, "created", &cells.value(row, 4)?);
            member(&mut message, "content", &cells.json_or_value(row, 3)?);
            if let Some(metadata) = cells.json(row, 5)? {
                member(&mut message, "metadata", &metadata);
            }
            message.push(b'}');
            Ok(Some(Pieced { bytes: message, gaps: cells.gaps() }))
        };
        report.add(session(&info, None, &mut next, sink)?);
    }
    Ok(report)
}

/// A value as an export has it: times in one word, flags as flags.
fn exported(column: &str, value: Vec<u8>) -> Vec<u8> {
    match (column, value.as_slice()) {
        ("user_set_name", b"0") => b"false".to_vec(),
        ("user_set_name", b"1") => b"true".to_vec(),
        // "YYYY-MM-DD hh:mm:ss"
        (_, [b'"', text @ .., b'"']) if column.ends_with("_at") && text.len() == 19 && text.get(10) == Some(&b' ') => {
            let mut time = value.clone();
            if let Some(between) = time.get_mut(11) {
                *between = b'T';
            }
            time.pop();
            time.extend_from_slice(b"Z\"");
            time
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::exported;

    #[test]
    fn a_row_says_what_an_export_says() {
        let said = |column, value: &str| String::from_utf8(exported(column, value.as_bytes().to_vec())).unwrap();
        assert_eq!(said("created_at", "\"2026-11-15 07:11:35\""), "\"2026-11-15T07:11:35Z\"");
        assert_eq!(said("created_at", "\"2026-11-15T07:11:35Z\""), "\"2026-11-15T07:11:35Z\"");
        assert_eq!(said("archived_at", "null"), "null");
        assert_eq!((said("user_set_name", "1"), said("name", "1")), ("true".to_owned(), "1".to_owned()));
    }
}
