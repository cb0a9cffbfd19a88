//! Asking the full text: a query becomes an expression of FTS5 and conditions on what else is known.
//!
//! What is answered are proposals. Whoever shows them reads the entries and judges them again.

use std::fmt::Write as _;

use ramus_model::search::{Facets, Phrase, Query, Term, Test};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::saturated;

/// What is asked of the full text.
#[derive(Clone, Debug)]
pub struct Ask<'q> {
    /// The query; its terms about sessions were answered by `files`.
    pub query: &'q Query,
    /// Only documents of these files; all when none is given.
    pub files: Option<&'q [i64]>,
    /// The most proposals, and how many of the best are passed over.
    pub limit: usize,
    /// How many of the best were seen before.
    pub offset: usize,
}

/// A document that has the words, as far as the index knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The number of the file's row.
    pub file: i64,
    /// The name of the file.
    pub name: String,
    /// Where its line starts.
    pub offset: u64,
    /// How long the line is; 0 for a title.
    pub length: u32,
    /// When it was written.
    pub millis: Option<i64>,
    /// The entry a hit opens at.
    pub entry: String,
    /// How good it is; the higher, the better.
    pub score: f64,
}

impl Held<'_> {
    /// Returns documents that should answer a query, best first.
    pub fn propose(&self, ask: &Ask<'_>) -> Result<Vec<Proposal>, CatalogueError> {
        self.read(|connection| {
            let conditions = Conditions::of(connection, ask)?;
            let score = if conditions.has_words { "-bm25(word)" } else { "0.0" };
            let sql = format!(
                "SELECT document.file, session.name, offset, length, millis, entry, {score} AS score
                     FROM {} WHERE {} ORDER BY score DESC, millis DESC, document LIMIT {} OFFSET {}",
                conditions.tables(),
                conditions.sql.join(" AND "),
                saturated(ask.limit as u64),
                saturated(ask.offset as u64),
            );
            let mut statement = connection.prepare(&sql)?;
            let found = statement.query_map(params_from_iter(conditions.values), |row| {
                Ok(Proposal {
                    file: row.get(0)?,
                    name: row.get(1)?,
                    offset: row.get::<_, i64>(2)?.cast_unsigned(),
                    length: row.get(3)?,
                    millis: row.get(4)?,
                    entry: row.get(5)?,
                    score: row.get(6)?,
                })
            })?;
            found.collect()
        })
    }

    /// Counts the documents that should answer a query.
    pub fn count_proposals(&self, ask: &Ask<'_>) -> Result<usize, CatalogueError> {
        self.read(|connection| {
            let conditions = Conditions::of(connection, ask)?;
            let sql = format!("SELECT count(*) FROM {} WHERE {}", conditions.tables(), conditions.sql.join(" AND "));
            let count: i64 = connection.query_row(&sql, params_from_iter(conditions.values), |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or_default())
        })
    }
}

/// Conditions and their parameters, in order.
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
    has_words: bool,
}

impl Conditions {
    fn of(connection: &Connection, ask: &Ask<'_>) -> rusqlite::Result<Self> {
        let mut all = Self { sql: Vec::new(), values: Vec::new(), has_words: false };
        let wanted = expression(ask.query.terms().iter().filter(|term| !term.negated), " AND ");
        if let Some(wanted) = wanted {
            all.has_words = true;
            all.add("word MATCH ?", wanted);
        }
        if let Some(unwanted) = expression(ask.query.terms().iter().filter(|term| term.negated), " OR ") {
            all.add("document NOT IN (SELECT rowid FROM word WHERE word MATCH ?)", unwanted);
        }
        all.facets(connection, ask.query)?;
        all.times(ask.query);
        if let Some(files) = ask.files {
            all.sql.push(format!("document.file IN ({})", numbers(files)));
        }
        all.sql.push("session.generation = document.generation AND session.text_end = session.known_end".to_owned());
        Ok(all)
    }

    fn add(&mut self, sql: &str, value: String) {
        self.sql.push(sql.to_owned());
        self.values.push(value.into());
    }

    fn tables(&self) -> &'static str {
        if self.has_words {
            "word JOIN document ON document.document = word.rowid JOIN session ON session.file = document.file"
        } else {
            "document JOIN session ON session.file = document.file"
        }
    }

    /// What entries have in common is judged once for each combination.
    fn facets(&mut self, connection: &Connection, query: &Query) -> rusqlite::Result<()> {
        let nothing = Facets::default();
        let asked: Vec<&Term> = query.terms().iter().filter(|term| term.test.of_facets(&nothing).is_some()).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let mut statement = connection.prepare("SELECT facet, text FROM facet")?;
        let known = statement.query_map((), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        let mut fitting = Vec::new();
        for (facet, text) in known.collect::<rusqlite::Result<Vec<_>>>()? {
            let facets = Facets::from_text(&text).unwrap_or_default();
            if asked.iter().all(|term| term.test.of_facets(&facets) != Some(term.negated)) {
                fitting.push(facet);
            }
        }
        self.sql.push(format!("facet IN ({})", numbers(&fitting)));
        Ok(())
    }

    fn times(&mut self, query: &Query) {
        for term in query.terms() {
            let (sql, millis) = match (&term.test, term.negated) {
                (Test::Before(millis), false) => ("millis < ?", *millis),
                (Test::Before(millis), true) => ("(millis < ?) IS NOT 1", *millis),
                (Test::After(millis), false) => ("millis >= ?", *millis),
                (Test::After(millis), true) => ("(millis >= ?) IS NOT 1", *millis),
                _ => continue,
            };
            self.sql.push(sql.to_owned());
            self.values.push(millis.into());
        }
    }
}

fn numbers(numbers: &[i64]) -> String {
    let mut list = String::with_capacity(numbers.len() * 7);
    for (at, number) in numbers.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(list, "{}{number}", if at == 0 { "" } else { "," });
    }
    list
}

/// The terms about words as an expression of FTS5; none when there are none.
fn expression<'t>(terms: impl Iterator<Item = &'t Term>, between: &str) -> Option<String> {
    let phrases = terms.filter_map(|term| match &term.test {
        Test::Words(phrase) => Some(ways("{words parts}", phrase, usize::MAX)),
        Test::File(phrase) => Some(ways("paths", phrase, 1)),
        _ => None,
    });
    let all: Vec<String> = phrases.collect();
    (!all.is_empty()).then(|| all.join(between))
}

/// All ways in which a phrase may stand in a text. Words have neither quotes nor spaces in them.
fn ways(columns: &str, phrase: &Phrase, most: usize) -> String {
    let star = if phrase.is_prefix() { " *" } else { "" };
    let ways = phrase.ways().take(most).map(|words| format!("{columns} : \"{}\"{star}", words.join(" ")));
    format!("({})", ways.collect::<Vec<_>>().join(" OR "))
}
