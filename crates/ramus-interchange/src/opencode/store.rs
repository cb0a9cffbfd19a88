//! The database of opencode: rows for sessions, messages and parts, whose JSON is what an export has.

use std::path::Path;

use ramus_model::json::Raw;
use rusqlite::{Connection, Row, Statement};

use super::AGENT;
use super::read::session;
use crate::error::Error;
use crate::limits::Limits;
use crate::sink::{Report, Sink};
use crate::sqlite::{self, json, member, value};

/// Columns of a session, and what an export calls them. A name with a dot is a member of an object.
const COLUMNS: [(&str, &str); 28] = [
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
    let mut sessions = connection.prepare("SELECT * FROM session ORDER BY time_created, id")?;
    let columns: Vec<String> = sessions.column_names().map(str::to_owned).collect();
    let mut messages =
        connection.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut parts = Parts::new(&connection)?;
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let info = info(row, &columns, limits)?;
        let Some(info) = Raw::parse(&info) else { continue };
        let id = info.field("id").and_then(Raw::text).unwrap_or_default().into_owned();
        let mut list = messages.query([&id])?;
        let mut next = || -> Result<Option<Vec<u8>>, Error> {
            let Some(row) = list.next()? else { return Ok(None) };
            let mut message = b"{\"info\":".to_vec();
            let name = value(row, 0, limits)?;
            message.extend(named(&[("id", &name), ("sessionID", &quoted(&id))], json(row, 1, limits)?.as_deref()));
            message.extend_from_slice(b",\"parts\":[");
            message.extend(parts.of(&name, &id, limits)?);
            message.extend_from_slice(b"]}");
            Ok(Some(message))
        };
        report.add(session(info, &mut next, sink)?);
    }
    Ok(report)
}

/// What an export says about a session.
fn info(row: &Row<'_>, columns: &[String], limits: Limits) -> Result<Vec<u8>, Error> {
    let mut info = b"{".to_vec();
    let mut objects: Vec<(&str, Vec<u8>)> = Vec::new();
    for (column, name) in COLUMNS {
        let Some(at) = columns.iter().position(|found| found == column) else { continue };
        let is_json = matches!(column, "model" | "metadata" | "permission" | "revert");
        let written = match json(row, at, limits)?.filter(|_| is_json) {
            Some(object) => object,
            None => value(row, at, limits)?,
        };
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
    fn of(&mut self, message: &[u8], session: &str, limits: Limits) -> Result<Vec<u8>, Error> {
        let id = Raw::parse(message).and_then(Raw::text).unwrap_or_default().into_owned();
        let mut rows = self.0.query([&id])?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            if !parts.is_empty() {
                parts.push(b',');
            }
            let names: [(&str, &[u8]); 3] =
                [("id", &value(row, 0, limits)?), ("sessionID", &quoted(session)), ("messageID", message)];
            parts.extend(named(&names, json(row, 1, limits)?.as_deref()));
            if parts.len() > limits.line {
                return Err(Error::Limit(format!("a message is larger than {} MiB", limits.line >> 20)));
            }
        }
        Ok(parts)
    }
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
