//! Stores that are SQLite databases. What is opened is a private copy, so that no program is disturbed by a reader; what is
//! in it is not trusted: only plain tables are asked, and no row may be larger than the limit.

use std::borrow::Cow;
use std::path::Path;

use ramus_model::json::{Raw, quote};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use crate::error::Error;
use crate::limits::{Limits, quoted_len};

/// The first bytes of every database.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// How much work a database may make, in steps of SQLite's machine: so many, and so many more for each of its bytes. A table that
/// is looked up by its index takes far less.
const STEPS: u64 = 100_000_000;
const STEPS_FOR_A_BYTE: u64 = 20;
/// How many steps are counted together.
const STRIDE: i32 = 100_000;

/// Opens a copy of a database. It is opened for writing so that SQLite can take in a write-ahead log that was copied with it,
/// and then told to write nothing.
pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // What is only a little too long is left out; what could fill the memory is not even read.
    let longest = i32::try_from(Limits::default().line.saturating_mul(2)).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
    let bytes: u64 = ["", "-wal"]
        .iter()
        .filter_map(|part| {
            let mut name = path.as_os_str().to_owned();
            name.push(part);
            Some(std::fs::metadata(name).ok()?.len())
        })
        .sum();
    let mut left = STEPS.saturating_add(bytes.saturating_mul(STEPS_FOR_A_BYTE)) / u64::from(STRIDE.unsigned_abs());
    let count = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(STRIDE, Some(count))?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON;")?;
    Ok(connection)
}

/// Says whether there is such a table, and not something that only looks like one: a view may never end, and a column that is
/// computed may be of any size.
pub(crate) fn has_table(connection: &Connection, name: &str) -> Result<bool, Error> {
    let kind: Option<String> =
        connection.query_row("SELECT type FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0)).optional()?;
    if kind.as_deref() != Some("table") {
        return Ok(false);
    }
    let computed = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
    match connection.query_row(computed, [name], |row| row.get(0))? {
        0 => Ok(true),
        _ => Err(Error::Limit(format!("the table {name} has columns that are computed, which no agent makes"))),
    }
}

/// Takes values out of rows, and remembers what could not be taken.
pub(crate) struct Cells {
    pub(crate) limits: Limits,
    gaps: Vec<&'static str>,
}

impl Cells {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, gaps: Vec::new() }
    }

    /// A value of a row as JSON. Text that is too long, and bytes, are left out.
    pub(crate) fn value(&mut self, row: &Row<'_>, column: usize) -> Result<Vec<u8>, Error> {
        Ok(match row.get_ref(column)? {
            ValueRef::Integer(number) => number.to_string().into_bytes(),
            ValueRef::Real(number) if number.is_finite() => serde_json::json!(number).to_string().into_bytes(),
            ValueRef::Text(text) if self.holds(text) => {
                let mut out = Vec::with_capacity(text.len() + 2);
                let read = String::from_utf8_lossy(text);
                if matches!(read, Cow::Owned(_)) {
                    self.miss("a text of the database is no UTF-8; it is kept as what it resembles");
                }
                quote(&read, &mut out);
                out
            }
            ValueRef::Null => b"null".to_vec(),
            ValueRef::Text(_) => self.nothing("a text of the database is too long to be held in memory"),
            ValueRef::Real(_) => self.nothing("a number of the database is none"),
            ValueRef::Blob(_) => self.nothing("a value of the database is bytes"),
        })
    }

    /// The JSON that a column holds as text; none when it holds something else, or too much of it.
    pub(crate) fn json(&mut self, row: &Row<'_>, column: usize) -> Result<Option<Vec<u8>>, Error> {
        let found = row.get_ref(column)?;
        let json = self.parsed(found);
        if json.is_none() && found != ValueRef::Null {
            self.miss("a value of the database is no JSON, or too long to be held in memory; it is left out");
        }
        Ok(json)
    }

    /// The JSON that a column holds as text, or what it holds instead.
    pub(crate) fn json_or_value(&mut self, row: &Row<'_>, column: usize) -> Result<Vec<u8>, Error> {
        match self.parsed(row.get_ref(column)?) {
            Some(json) => Ok(json),
            None => self.value(row, column),
        }
    }

    /// Says whether a text is short enough as JSON. What is no UTF-8 takes three times its bytes at most.
    fn holds(&self, text: &[u8]) -> bool {
        let length = if std::str::from_utf8(text).is_ok() { quoted_len(text) } else { text.len().saturating_mul(3) };
        length <= self.limits.line
    }

    fn parsed(&self, found: ValueRef<'_>) -> Option<Vec<u8>> {
        let ValueRef::Text(text) = found else { return None };
        let is_json = text.len() <= self.limits.line && std::str::from_utf8(text).is_ok() && Raw::parse(text).is_some();
        is_json.then(|| text.trim_ascii().to_vec())
    }

    /// Remembers something that could not be taken.
    pub(crate) fn miss(&mut self, why: &'static str) {
        self.gaps.push(why);
    }

    fn nothing(&mut self, why: &'static str) -> Vec<u8> {
        self.miss(why);
        b"null".to_vec()
    }

    /// Returns what could not be taken since the last time.
    pub(crate) fn gaps(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.gaps)
    }
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
