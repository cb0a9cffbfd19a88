//! Sessions of other agents, imported into an empty home and once more when nothing changed: `import SIZE DIRECTORY`. Prints one
//! JSON object per measurement.
#![allow(clippy::print_stdout, missing_docs, reason = "stdout is how the harness is told")]

mod corpus;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ramus_engine::{Engine, ForeignImport, ForeignImported};
use ramus_interchange::Format;
use ramus_interchange::place::{Environment, roots};
use ramus_store::{JsonlStore, Layout};
use serde_json::json;

use corpus::Corpus;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (size, directory) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let directory = Path::new(&directory);
    let root = directory.join(&size);
    match size.as_str() {
        "small" => measure(&Corpus { root, sessions: 1_000, bytes: 500 << 20 }, directory),
        "large" => measure(&Corpus { root, sessions: 10_000, bytes: 5 << 30 }, directory),
        _ => Err(io::Error::other("usage: import small|large DIRECTORY")),
    }
}

fn measure(corpus: &Corpus, directory: &Path) -> io::Result<()> {
    let bytes = corpus.make()?;
    let home = directory.join("home");
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    // What making the corpus took is not counted.
    fs::write("/proc/self/clear_refs", "5")?;
    for operation in ["import", "unchanged"] {
        let began = Instant::now();
        let done = import(&corpus.root, &home)?;
        let seconds = began.elapsed().as_secs_f64();
        let expected = if operation == "import" { done.imported.len() } else { done.unchanged };
        if expected != corpus.sessions || !done.failed.is_empty() {
            return Err(io::Error::other(format!("{expected} of {} sessions: {:?}", corpus.sessions, done.failed)));
        }
        let rate = bytes as f64 / 1e6 / seconds;
        println!(
            "{}",
            json!({"op": operation, "entries": corpus.sessions, "bytes": bytes, "ms": seconds * 1e3,
                "mb_per_s": rate, "peak_mb": peak()?})
        );
    }
    fs::remove_dir_all(&home)
}

fn import(root: &Path, home: &Path) -> io::Result<ForeignImported> {
    let engine = Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "bench").with_foreign(home);
    let environment = Environment::new(root, "/tmp");
    let roots: Vec<_> = Format::ALL.iter().flat_map(|format| roots(*format, &environment)).collect();
    let stores = engine.find_foreign(&roots);
    engine.import_foreign(&stores, ForeignImport::default(), &mut |_| {}).map_err(io::Error::other)
}

/// The most memory that this process has had, in megabytes.
fn peak() -> io::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").trim().parse().map_err(io::Error::other)?;
    Ok(kilobytes / 1e3)
}
