//! What is done about a damaged history: its index is made again, or it is set aside as a whole and what can be read of it
//! goes into a new one.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::Prompt;
use super::database::{Database, Presence, connect};
use super::fold::fold_prompt;
use super::place::Place;
use super::search::prompt;
use crate::error::CatalogueError;

/// Makes the history usable again and says what was done; nothing when another process has done it already.
pub(super) fn mend(place: &Place) -> Result<Option<String>, CatalogueError> {
    let _held = place.hold_alone()?;
    match Database::open(place, Presence::Made) {
        Ok(Some(database)) if is_whole(&database.connection) => match check_index(&database.connection) {
            Ok(()) => return Ok(None),
            Err(_) if remake_index(&database.connection).is_ok() => {
                return Ok(Some("the index of the prompt history was damaged and has been made again".to_owned()));
            }
            Err(_) => {}
        },
        Err(error) if !matches!(error, CatalogueError::Corrupt { .. }) => return Err(error),
        _ => {}
    }
    start_afresh(place).map(Some)
}

/// Sets the database aside and fills a new one with what can be read of it.
fn start_afresh(place: &Place) -> Result<String, CatalogueError> {
    // SQLite would remove what waits beside a file that it takes for a new one.
    let is_legible = !place.is_cut_off()?;
    let aside = place.set_aside()?;
    let prompts = if is_legible { read_on(&aside) } else { Vec::new() };
    let taken = match Database::open(place, Presence::Made)? {
        Some(mut database) => take_over(&mut database, &prompts)?,
        None => 0,
    };
    let name = aside.file_name().unwrap_or_default().to_string_lossy();
    let what = if taken == 1 { "1 prompt".to_owned() } else { format!("{taken} prompts") };
    Ok(format!("the prompt history was damaged; it is kept as {name}, and a new one starts with {what} of it"))
}

/// Says whether everything but the index is in order.
fn is_whole(connection: &Connection) -> bool {
    let checked = connection.query_row("PRAGMA quick_check('history')", [], |row| row.get::<_, String>(0));
    checked.is_ok_and(|said| said == "ok")
}

fn check_index(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("INSERT INTO history_fts(history_fts, rank) VALUES('integrity-check', 1)")
}

fn remake_index(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("INSERT INTO history_fts(history_fts) VALUES('rebuild')")?;
    check_index(connection)
}

/// Reads the prompts of a damaged database from both ends, as far as that goes, in order.
fn read_on(path: &Path) -> Vec<Prompt> {
    let Ok(connection) = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE) else { return Vec::new() };
    let start = read_until_damage(&connection, "ASC", i64::MIN);
    let last = start.last().map_or(i64::MIN, |(id, _)| *id);
    let mut end = read_until_damage(&connection, "DESC", last);
    end.reverse();
    start.into_iter().chain(end).map(|(_, prompt)| prompt).collect()
}

fn read_until_damage(connection: &Connection, order: &str, above: i64) -> Vec<(i64, Prompt)> {
    // Column 3, so that the first three are those of every other statement.
    let sql = format!("SELECT prompt, created_at, cwd, id FROM history WHERE id > ?1 ORDER BY id {order}");
    let Ok(mut statement) = connection.prepare(&sql) else { return Vec::new() };
    let Ok(rows) = statement.query_map([above], |row| Ok((row.get(3)?, prompt(row)?))) else { return Vec::new() };
    let mut found: Vec<(i64, Prompt)> = Vec::new();
    for row in rows {
        match row {
            // Damaged pages can lead in circles, but ids only go one way.
            Ok((id, prompt)) if found.last().is_none_or(|(last, _)| (id > *last) == (order == "ASC")) => {
                found.push((id, prompt));
            }
            _ => break,
        }
    }
    found
}

fn take_over(database: &mut Database, prompts: &[Prompt]) -> Result<usize, CatalogueError> {
    const INSERT: &str = "INSERT INTO history(prompt, created_at, cwd, folded) VALUES(?1, ?2, ?3, ?4)";
    database.with_connection(|connection| {
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare(INSERT)?;
            for prompt in prompts {
                insert.execute(params![prompt.text, prompt.created, prompt.cwd, fold_prompt(&prompt.text)])?;
            }
        }
        transaction.commit()?;
        Ok(prompts.len())
    })
}
