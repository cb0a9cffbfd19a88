//! Stores that are SQLite databases. What is opened is a private copy, so that no program is disturbed by a reader; what is
//! in it is not trusted: only plain tables are asked, and no row may be larger than the limit.

use std::path::Path;

use ramus_model::json::{Raw, quote};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use crate::error::Error;
use crate::limits::Limits;

/// The first bytes of every database.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Opens a copy of a database. It is opened for writing so that SQLite can take in a write-ahead log that was copied with it,
/// and then told to write nothing.
pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON;")?;
    Ok(connection)
}

/// Says whether there is such a table, and not something that only looks like one: a view may never end.
pub(crate) fn has_table(connection: &Connection, name: &str) -> Result<bool, Error> {
    let kind: Option<String> =
        connection.query_row("SELECT type FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0)).optional()?;
    Ok(kind.as_deref() == Some("table"))
}

/// A value of a row as JSON. Text that is too long, and bytes, are left out.
pub(crate) fn value(row: &Row<'_>, column: usize, limits: Limits) -> Result<Vec<u8>, Error> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) if number.is_finite() => serde_json::json!(number).to_string().into_bytes(),
        ValueRef::Text(text) if text.len() <= limits.line => {
            let mut out = Vec::with_capacity(text.len() + 2);
            quote(&String::from_utf8_lossy(text), &mut out);
            out
        }
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => b"null".to_vec(),
    })
}

/// The JSON that a column holds as text; none when it holds something else, or too much of it.
pub(crate) fn json(row: &Row<'_>, column: usize, limits: Limits) -> Result<Option<Vec<u8>>, Error> {
    let ValueRef::Text(text) = row.get_ref(column)? else { return Ok(None) };
    let is_json = text.len() <= limits.line && std::str::from_utf8(text).is_ok() && Raw::parse(text).is_some();
    Ok(is_json.then(|| text.trim_ascii().to_vec()))
}

/// Appends a member to an object in the making, which starts as `{`.
pub(crate) fn member(object: &mut Vec<u8>, name: &str, value: &[u8]) {
    if object.len() > 1 {
        object.push(b',');
    }
    quote(name, object);
    object.push(b':');
    object.extend_from_slice(value);
}
