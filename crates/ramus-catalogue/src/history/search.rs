//! Finding prompts. The index narrows the search down; every word is then looked for in the prompt itself, so that what is
//! found is what a reading of all prompts would find.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::database::Database;
use super::fold::words;
use super::{HistoryQuery, Prompt};
use crate::error::CatalogueError;

/// The shortest word the index knows.
const SHORTEST: usize = 3;

/// How many words the index is asked for, and how much of each: more would not narrow the search further.
const INDEXED_WORDS: usize = 8;
const INDEXED_LENGTH: usize = 32;

impl Database {
    /// Finds prompts that contain every word of the query, newest first.
    pub(super) fn search(&mut self, query: &HistoryQuery) -> Result<Vec<Prompt>, CatalogueError> {
        let words = words(&query.text);
        let (sql, values) = statement(query, &words);
        self.with_connection(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while found.len() < query.limit
                && let Some(row) = rows.next()?
            {
                let folded: &str = row.get_ref(3)?.as_str()?;
                if words.iter().all(|word| folded.contains(word.as_str())) {
                    found.push(prompt(row)?);
                }
            }
            Ok(found)
        })
    }
}

/// The statement that yields what may be wanted, and its values.
fn statement(query: &HistoryQuery, words: &[String]) -> (String, Vec<Value>) {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    if let Some(expression) = expression(words) {
        conditions.push("id IN (SELECT rowid FROM history_fts WHERE history_fts MATCH ?)");
        values.push(Value::from(expression));
    }
    if let Some(cwd) = &query.cwd {
        conditions.push("cwd = ?");
        values.push(Value::from(cwd.clone()));
    }
    let conditions = if conditions.is_empty() { "1".to_owned() } else { conditions.join(" AND ") };
    (format!("SELECT prompt, created_at, cwd, folded FROM history WHERE {conditions} ORDER BY id DESC"), values)
}

/// What the index is asked for: the longest words, each as one phrase; none when all of them are too short.
fn expression(words: &[String]) -> Option<String> {
    let mut indexed: Vec<&String> = words.iter().filter(|word| word.chars().nth(SHORTEST - 1).is_some()).collect();
    indexed.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let phrase = |word: &&String| {
        let start: String = word.chars().take(INDEXED_LENGTH).collect();
        format!("\"{}\"", start.replace('"', "\"\""))
    };
    let phrases: Vec<String> = indexed.iter().take(INDEXED_WORDS).map(phrase).collect();
    (!phrases.is_empty()).then(|| phrases.join(" "))
}

/// Reads the columns every statement selects.
pub(super) fn prompt(row: &Row<'_>) -> rusqlite::Result<Prompt> {
    Ok(Prompt { text: row.get(0)?, created: row.get(1)?, cwd: row.get(2)? })
}
