//! The prompt history: nothing blocks, nothing is lost silently, everything is found.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod damage;
mod finding;
mod processes;
mod recording;

use std::path::Path;
use std::time::Duration;

use ramus_catalogue::{History, HistoryQuery, Prompt};

pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt { text: text.into(), created: 1_700_000_000_000, cwd: "/work".into() }
}

/// Records prompts and waits for them.
pub(crate) fn record(home: &Path, texts: &[&str]) {
    let history = History::at(home);
    texts.iter().for_each(|text| history.record(prompt(text)));
    history.close(LONG).unwrap();
}

/// The texts of what is found, newest first.
pub(crate) fn found(home: &Path, query: &str) -> Vec<String> {
    let query = HistoryQuery { text: query.into(), cwd: None, limit: usize::MAX };
    History::at(home).search(&query).unwrap().into_iter().map(|prompt| prompt.text).collect()
}

/// Another program's connection.
pub(crate) fn connect(home: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(home.join("history.db")).unwrap()
}
