//! How fast FTS5 takes the words of session files, and nothing else: what indexing is measured against.
//!
//! `cargo run --release -p ramus-catalogue --example raw_text -- DIRECTORY` reads every `.jsonl` below a directory, makes
//! the streams of all messages, and inserts them into an FTS5 table in one transaction. Only the inserting is timed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ramus_model::search::{Document, Splitter, Streams};
use rusqlite::{Connection, params};

type Error = Box<dyn std::error::Error>;

/// How many documents are made before they are inserted.
const BATCH: usize = 50_000;

fn main() -> Result<(), Error> {
    let directory = std::env::args().nth(1).ok_or("say which directory")?;
    let file = tempfile::Builder::new().prefix("raw").tempdir()?;
    let connection = Connection::open(file.path().join("raw.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
         CREATE VIRTUAL TABLE word USING fts5 (words, parts, paths, content='', contentless_delete=1, tokenize='ascii');
         BEGIN;",
    )?;
    let (mut inserting, mut making, mut reading) = (Duration::ZERO, Duration::ZERO, 0_u64);
    let mut batch: Vec<Streams> = Vec::new();
    let (mut documents, mut words) = (0_i64, 0_usize);
    let mut document = Document::default();
    let mut splitter = Splitter::default();
    let mut flush = |batch: &mut Vec<Streams>, inserting: &mut Duration| -> Result<(), Error> {
        let started = Instant::now();
        let mut insert = connection.prepare("INSERT INTO word (rowid, words, parts, paths) VALUES (?1, ?2, ?3, ?4)")?;
        for streams in batch.drain(..) {
            documents += 1;
            words += streams.words.len();
            insert.execute(params![documents, streams.words, streams.parts, streams.paths])?;
        }
        *inserting += started.elapsed();
        Ok(())
    };
    for path in files(Path::new(&directory))? {
        let bytes = std::fs::read(path)?;
        reading += bytes.len() as u64;
        let started = Instant::now();
        for line in bytes.split(|byte| *byte == b'\n') {
            if document.read(line) {
                let mut streams = Streams::default();
                document.index(&mut splitter, &mut streams);
                batch.push(streams);
            }
        }
        making += started.elapsed();
        if batch.len() >= BATCH {
            flush(&mut batch, &mut inserting)?;
        }
    }
    flush(&mut batch, &mut inserting)?;
    let started = Instant::now();
    connection.execute_batch("COMMIT")?;
    inserting += started.elapsed();
    let megabytes = reading as f64 / 1e6;
    #[expect(clippy::print_stdout, reason = "an example tells its result")]
    {
        println!("{documents} documents, {megabytes:.0} MB of lines, {:.0} MB of words", words as f64 / 1e6);
        println!("making words: {:.1} s, {:.0} MB/s of lines", making.as_secs_f64(), megabytes / making.as_secs_f64());
        let seconds = inserting.as_secs_f64();
        println!("inserting: {seconds:.1} s, {:.0} documents/s", documents as f64 / seconds);
    }
    Ok(())
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
