//! Databases for the fuzzer: tables as their readers ask for them, with rows out of any bytes.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::format::Format;
use crate::source::Source;

/// Tables and their columns. A number in front of a row says which it is for.
type Schema = &'static [(&'static str, &'static str)];

const OPENCODE: Schema = &[
    (
        "session",
        "id, project_id, parent_id, directory, title, version, model, revert, time_created, time_archived, other",
    ),
    ("message", "id, session_id, time_created, data"),
    ("part", "id, message_id, session_id, data"),
    ("todo", "session_id, content, status, priority, position"),
    ("session_message", "id, session_id"),
];
const GOOSE: Schema = &[
    (
        "sessions",
        "id, name, description, user_set_name, working_dir, created_at, extension_data, provider_name, \
         model_config_json, parent_session_id, archived_at",
    ),
    ("messages", "id, message_id, session_id, role, content_json, created_timestamp, metadata_json"),
];
const OKCVM: Schema = &[("okc_conversations", "id, title, created_at, workspace_root, payload, client_id")];

/// A database that is there for one reading.
pub(super) struct Tables(PathBuf);

impl Tables {
    /// Makes a database of lines: the number of a table, and what its columns hold, apart by tabs. None when the format has no
    /// database, or none can be made.
    pub(super) fn of(format: Format, rows: &[u8]) -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let schema = match format {
            Format::Opencode => OPENCODE,
            Format::Goose => GOOSE,
            Format::Okcvm => OKCVM,
            _ => return None,
        };
        let name = format!("ramus-fuzz-{}-{}.db", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let tables = Self(std::env::temp_dir().join(name));
        tables.fill(schema, rows).ok()?;
        Some(tables)
    }

    fn fill(&self, schema: Schema, rows: &[u8]) -> rusqlite::Result<()> {
        let connection = Connection::open(&self.0)?;
        connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;")?;
        for (table, columns) in schema {
            connection.execute_batch(&format!("CREATE TABLE {table}({columns})"))?;
        }
        for row in rows.split(|byte| *byte == b'\n') {
            let mut cells = row.split(|byte| *byte == b'\t');
            let number =
                cells.next().and_then(|cell| cell.first()).map_or(0, |digit| usize::from(digit.wrapping_sub(b'0')));
            let Some((table, columns)) = schema.get(number) else { continue };
            let count = columns.split(',').count();
            let values = cells.map(value).chain(std::iter::repeat(Value::Null)).take(count);
            let places = vec!["?"; count].join(",");
            connection.execute(&format!("INSERT INTO {table} VALUES ({places})"), params_from_iter(values))?;
        }
        connection.execute_batch("COMMIT")
    }
}

/// What a cell holds: a number, bytes behind a `#`, nothing when it is empty, and a text otherwise, of any bytes.
fn value(cell: &[u8]) -> Value {
    let text = String::from_utf8_lossy(cell);
    match cell {
        [] => Value::Null,
        [b'#', bytes @ ..] => Value::Blob(bytes.to_vec()),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Value::Integer(number),
            (_, Ok(number)) => Value::Real(number),
            _ => Value::Text(text.into_owned()),
        },
    }
}

impl Source for Tables {
    fn name(&self) -> &'static str {
        "fuzzed.db"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }

    fn database(&self) -> io::Result<Option<PathBuf>> {
        Ok(Some(self.0.clone()))
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::Jsonl;

    #[test]
    fn rows_of_every_database_are_read_as_messages() {
        let seeds: [(Format, &[u8]); 3] = [
            (Format::Opencode, include_bytes!("../../../../fuzz/seeds/opencode/rows")),
            (Format::Goose, include_bytes!("../../../../fuzz/seeds/goose/rows")),
            (Format::Okcvm, include_bytes!("../../../../fuzz/seeds/okcvm/rows")),
        ];
        for (format, seed) in seeds {
            let rows = seed.strip_prefix(super::super::ROWS).unwrap();
            let mut sessions = Jsonl::default();
            format.codec().read(&Tables::of(format, rows).unwrap(), &mut sessions).unwrap();
            let logs: Vec<u8> = sessions.sessions.into_iter().flat_map(|session| session.bytes).collect();
            let log = String::from_utf8(logs).unwrap();
            for role in ["user", "assistant"] {
                assert!(log.contains(&format!("\"role\":\"{role}\"")), "{format:?}: {log}");
            }
            super::super::read(format, seed);
        }
        assert!(Tables::of(Format::Claude, b"").is_none());
    }
}
