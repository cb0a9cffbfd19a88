//! Full text: indexing all of it beside bare inserts of the same words, and searching.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ramus_engine::Search;
use ramus_model::search::{Document, Query, Reading, Splitter, Streams};
use ramus_testkit::home::{COMMON, RARE};
use rusqlite::{Connection, params};

use crate::homes::{LARGE, catalogue_size, engine, files, forget, home_of};
use crate::rows::{list_once, milliseconds, peak};

/// How many bytes of words are made before they are inserted; making them is not counted.
const CHUNK: usize = 64 << 20;
const SEARCHES: usize = 30;

pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    let home = home_of(directory, &LARGE);
    let (documents, raw) = bare(&directory.join("bare.db"), &files(&home)?)?;
    report_rate("raw_fts", documents, raw, 0);
    forget(&home)?;
    let start = Instant::now();
    list_once(&home)?;
    let rows = start.elapsed();
    forget(&home)?;
    let start = Instant::now();
    engine(&home).rebuild_catalogue().map_err(io::Error::other)?;
    // Making everything is making the rows first.
    let text = start.elapsed().saturating_sub(rows);
    report_rate("rebuild_text", documents, text, catalogue_size(&home)?);
    for query in [RARE, COMMON, "hornb*", "quillwort error"] {
        let time = search(&home, query)?;
        println!(r#"{{"op":"search {query}","entries":{},"min_ms":{:.6}}}"#, LARGE.sessions, milliseconds(time));
    }
    let output = Command::new(std::env::current_exe()?).arg("search-once").arg(&home).output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

fn report_rate(operation: &str, documents: usize, time: Duration, bytes: u64) {
    let seconds = time.as_secs_f64();
    println!(
        r#"{{"op":"{operation}","entries":{},"documents":{documents},"seconds":{seconds:.3},"documents_per_second":{:.0},"bytes":{bytes}}}"#,
        LARGE.sessions,
        documents as f64 / seconds
    );
}

/// Inserts the words of every entry into a table like ours, and nothing else. Returns how many there were, and the time
/// that inserting took.
fn bare(database: &Path, files: &[PathBuf]) -> io::Result<(usize, Duration)> {
    let mut connection = Connection::open(database).map_err(io::Error::other)?;
    let table = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
        CREATE VIRTUAL TABLE word USING fts5 (words, parts, paths, content='', contentless_delete=1, tokenize='ascii');";
    connection.execute_batch(table).map_err(io::Error::other)?;
    let (mut document, mut splitter) = (Document::default(), Splitter::default());
    let (mut chunk, mut size, mut count, mut time) = (Vec::new(), 0, 0, Duration::ZERO);
    for file in files {
        let bytes = fs::read(file)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            if !document.read(line) {
                continue;
            }
            let mut streams = Streams::default();
            document.index(&mut splitter, &mut streams);
            size += streams.words.len() + streams.parts.len() + streams.paths.len();
            chunk.push(streams);
        }
        if size > CHUNK {
            count += chunk.len();
            time += insert(&mut connection, &std::mem::take(&mut chunk)).map_err(io::Error::other)?;
            size = 0;
        }
    }
    count += chunk.len();
    time += insert(&mut connection, &chunk).map_err(io::Error::other)?;
    drop(connection);
    fs::remove_file(database)?;
    Ok((count, time))
}

fn insert(connection: &mut Connection, chunk: &[Streams]) -> rusqlite::Result<Duration> {
    let start = Instant::now();
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO word (words, parts, paths) VALUES (?1, ?2, ?3)")?;
        for Streams { words, parts, paths } in chunk {
            insert.execute(params![words, parts, paths])?;
        }
    }
    transaction.commit()?;
    // Ours folds its log into the main file too.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(start.elapsed())
}

/// The first page of hits, by an engine that has searched before.
fn search(home: &Path, query: &str) -> io::Result<Duration> {
    let engine = engine(home);
    let search = Search::new(Query::parse(query, Reading::default()).map_err(io::Error::other)?);
    let mut best = Duration::MAX;
    for _ in 0..SEARCHES {
        let start = Instant::now();
        let hits = engine.search(&search).map_err(io::Error::other)?;
        best = best.min(start.elapsed());
        if hits.index.is_none_or(|index| !index.ready) || hits.hits.is_empty() {
            return Err(io::Error::other(format!("{query}: {} hits, index {:?}", hits.hits.len(), hits.index)));
        }
    }
    Ok(best)
}

/// Searches once, as a process of its own, and says how much memory that took at most.
pub(crate) fn once(home: &Path) -> io::Result<()> {
    let search = Search::new(Query::parse(COMMON, Reading::default()).map_err(io::Error::other)?);
    black_box(engine(home).search(&search).map_err(io::Error::other)?);
    println!(r#"{{"op":"search_memory","entries":{},"peak_kb":{}}}"#, LARGE.sessions, peak()?);
    Ok(())
}
