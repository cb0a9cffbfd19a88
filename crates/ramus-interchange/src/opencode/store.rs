//! The database of opencode: rows for sessions, messages and parts, whose JSON is what an export has.

use std::path::Path;

use ramus_model::json::Raw;
use rusqlite::{Connection, Row, Statement};

use super::read::{Known, session};
use super::{AGENT, TOO_LARGE, unwrapped};
use crate::error::Error;
use crate::limits::Limits;
use crate::record::Pieced;
use crate::sink::{Report, Sink};
use crate::sqlite::{self, Cells, member};

/// Columns of a session, and what an export calls them. A name with a dot is a member of an object.
const COLUMNS: [(&str, &str); 29] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("parent_id", "parentID"),
    ("directory", "directory"),
    ("path", "path"),
    ("title", "title"),
    ("version", "version"),
    ("agent", "agent"),
    ("model", "model"),
    ("metadata", "metadata"),
    ("permission", "permission"),
    ("revert", "revert"),
    ("cost", "cost"),
    ("summary_additions", "summary.additions"),
    ("summary_deletions", "summary.deletions"),
    ("summary_files", "summary.files"),
    ("summary_diffs", "summary.diffs"),
    ("tokens_input", "tokens.input"),
    ("tokens_output", "tokens.output"),
    ("tokens_reasoning", "tokens.reasoning"),
    ("tokens_cache_read", "tokens.cache.read"),
    ("tokens_cache_write", "tokens.cache.write"),
    ("share_url", "share.url"),
    ("time_created", "time.created"),
    ("time_updated", "time.updated"),
    ("time_compacting", "time.compacting"),
    ("time_archived", "time.archived"),
];

/// Reads every session of a store.
pub(super) fn read(path: &Path, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let connection = sqlite::open(path)?;
    for table in ["session", "message", "part"] {
        if !sqlite::has_table(&connection, table)? {
            return Err(Error::NotThisFormat { agent: AGENT, why: format!("the database has no table {table}") });
        }
    }
    let mut report = Report::default();
    let mut cells = Cells::new(limits);
    let mut sessions = connection.prepare("SELECT * FROM session ORDER BY time_created, id")?;
    let columns: Vec<String> = sessions.column_names().map(str::to_owned).collect();
    let mut messages =
        connection.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut parts = Parts::new(&connection)?;
    let mut todos = Todos::new(&connection)?;
    let has_other = sqlite::has_table(&connection, "session_message")?;
    let counted = "SELECT count(*) FROM session_message WHERE session_id = ?1";
    let mut others = if has_other { connection.prepare(counted).ok() } else { None };
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let bytes = info(row, &columns, &mut cells)?;
        let id = Raw::parse(&bytes).and_then(|info| info.field("id")?.text()).unwrap_or_default().into_owned();
        let beside = beside(row, &columns, todos.of(&id, &mut cells)?, &mut cells)?;
        let unread = others.as_mut().map(|rows| rows.query_row([&id], |row| row.get::<_, i64>(0))).transpose()?;
        let unread = unread.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
        let known = Known { info: Pieced { bytes, gaps: cells.gaps() }, beside, unread };
        let mut list = messages.query([&id])?;
        let mut next = || -> Result<Option<Pieced>, Error> {
            let Some(row) = list.next()? else { return Ok(None) };
            let mut message = b"{\"info\":".to_vec();
            let name = cells.value(row, 0)?;
            message.extend(named(&[("id", &name), ("sessionID", &quoted(&id))], cells.json(row, 1)?.as_deref()));
            message.extend_from_slice(b",\"parts\":[");
            message.extend(parts.of(&name, &id, &mut cells)?);
            message.extend_from_slice(b"]}");
            Ok(Some(Pieced { bytes: message, gaps: cells.gaps() }))
        };
        report.add(session(&known, &mut next, sink)?);
    }
    Ok(report)
}

/// What an export says about a session.
fn info(row: &Row<'_>, columns: &[String], cells: &mut Cells) -> Result<Vec<u8>, Error> {
    let mut info = b"{".to_vec();
    let mut objects: Vec<(&str, Vec<u8>)> = Vec::new();
    for (column, name) in COLUMNS {
        let Some(at) = columns.iter().position(|found| found == column) else { continue };
        let is_json = matches!(column, "model" | "metadata" | "permission" | "revert" | "summary_diffs");
        let written = if is_json { cells.json_or_value(row, at)? } else { cells.value(row, at)? };
        if written == b"null" {
            continue;
        }
        let Some((object, inner)) = name.rsplit_once('.') else {
            member(&mut info, name, &written);
            continue;
        };
        match objects.iter_mut().find(|(known, _)| *known == object) {
            Some((_, members)) => member(members, inner, &written),
            None => {
                let mut members = b"{".to_vec();
                member(&mut members, inner, &written);
                objects.push((object, members));
            }
        }
    }
    // An object in an object comes behind the one that it is in.
    while let Some((name, mut members)) = objects.pop() {
        members.push(b'}');
        let outer = name.split_once('.').and_then(|(outer, own)| {
            let (_, outer) = objects.iter_mut().find(|(known, _)| *known == outer)?;
            Some((outer, own))
        });
        match outer {
            Some((outer, own)) => member(outer, own, &members),
            None => member(&mut info, name, &members),
        }
    }
    info.push(b'}');
    Ok(info)
}

/// The parts of messages.
struct Parts<'c>(Statement<'c>);

impl<'c> Parts<'c> {
    fn new(connection: &'c Connection) -> Result<Self, Error> {
        Ok(Self(connection.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?))
    }

    /// Writes the parts of a message, commas between them.
    fn of(&mut self, message: &[u8], session: &str, cells: &mut Cells) -> Result<Vec<u8>, Error> {
        let id = Raw::parse(message).and_then(Raw::text).unwrap_or_default().into_owned();
        let mut rows = self.0.query([&id])?;
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        let mut length = 0;
        while let Some(row) = rows.next()? {
            let name = cells.value(row, 0)?;
            let names: [(&str, &[u8]); 3] = [("id", &name), ("sessionID", &quoted(session)), ("messageID", message)];
            let part = named(&names, cells.json(row, 1)?.as_deref());
            if length + part.len() > cells.limits.line {
                cells.miss(TOO_LARGE);
                continue;
            }
            length += part.len() + 1;
            found.push((Raw::parse(&name).and_then(Raw::text).unwrap_or_default().into_owned(), part));
        }
        unwrapped(&mut found, |(id, _)| id);
        let parts: Vec<_> = found.into_iter().map(|(_, part)| part).collect();
        Ok(parts.join(&b','))
    }
}

/// What is to be done in a session. An export has nothing of it.
struct Todos<'c>(Option<Statement<'c>>);

impl<'c> Todos<'c> {
    fn new(connection: &'c Connection) -> Result<Self, Error> {
        // Versions that have no such table, or another one, have nothing to be done.
        let has_table = sqlite::has_table(connection, "todo")?;
        let asked = "SELECT content, status, priority FROM todo WHERE session_id = ?1 ORDER BY position";
        Ok(Self(if has_table { connection.prepare(asked).ok() } else { None }))
    }

    /// Writes the list of a session; none when it is empty.
    fn of(&mut self, session: &str, cells: &mut Cells) -> Result<Option<Vec<u8>>, Error> {
        let Some(asked) = &mut self.0 else { return Ok(None) };
        let mut rows = asked.query([session])?;
        let mut list = b"[".to_vec();
        while let Some(row) = rows.next()? {
            let mut todo = b"{".to_vec();
            for (at, name) in ["content", "status", "priority"].into_iter().enumerate() {
                member(&mut todo, name, &cells.value(row, at)?);
            }
            if list.len() + todo.len() > cells.limits.line {
                cells.miss("the list of what is to be done is too long to be held in memory");
                break;
            }
            if list.len() > 1 {
                list.push(b',');
            }
            list.extend(todo);
            list.push(b'}');
        }
        list.push(b']');
        Ok(Some(list).filter(|list| list != b"[]"))
    }
}

/// What a store knows about a session and an export has no word for: what is to be done, and columns of other versions.
fn beside(
    row: &Row<'_>,
    columns: &[String],
    todos: Option<Vec<u8>>,
    cells: &mut Cells,
) -> Result<Option<Vec<u8>>, Error> {
    let mut others = b"{".to_vec();
    for (at, column) in
        columns.iter().enumerate().filter(|(_, column)| COLUMNS.iter().all(|(known, _)| column != known))
    {
        let written = cells.value(row, at)?;
        if written != b"null" {
            member(&mut others, column, &written);
        }
    }
    others.push(b'}');
    let mut beside = b"{".to_vec();
    if let Some(todos) = todos {
        member(&mut beside, "todos", &todos);
    }
    if others != b"{}" {
        member(&mut beside, "columns", &others);
    }
    beside.push(b'}');
    Ok(Some(beside).filter(|beside| beside != b"{}"))
}

/// An object with names in front of what a column holds.
fn named(names: &[(&str, &[u8])], data: Option<&[u8]>) -> Vec<u8> {
    let mut object = b"{".to_vec();
    for (name, value) in names {
        member(&mut object, name, value);
    }
    let rest = data.and_then(|data| data.strip_prefix(b"{")).map(<[u8]>::trim_ascii_start);
    match rest {
        Some(b"}") | None => object.push(b'}'),
        Some(rest) => {
            object.push(b',');
            object.extend_from_slice(rest);
        }
    }
    object
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    ramus_model::json::quote(text, &mut out);
    out
}
