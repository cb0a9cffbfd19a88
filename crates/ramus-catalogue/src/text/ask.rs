//! Asking the full text: a query becomes an expression of FTS5 and conditions on what else is known.
//!
//! What is answered are proposals. Whoever shows them reads the entries and judges them again.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use ramus_model::search::{Facets, Phrase, Query, Term, Test};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use crate::error::CatalogueError;
use crate::open::Held;

/// What is asked of the full text.
#[derive(Clone, Debug)]
pub struct Ask<'q> {
    /// The query. Its terms about sessions must have been answered by choosing files.
    pub query: &'q Query,
    /// Only documents of these files; all when none are given.
    pub files: Option<Vec<i64>>,
    /// No documents of these files.
    pub except: Vec<i64>,
    /// The most proposals.
    pub limit: usize,
}

/// A document that has the words, as far as the index knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The number of the file's row.
    pub file: i64,
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

/// What the index says to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposals {
    /// The documents that should answer it, best first.
    pub best: Vec<Proposal>,
    /// How many there are in all.
    pub total: usize,
    /// Whether there are more than that: words that so many documents have are neither counted nor weighed, and the
    /// newest come first.
    pub is_broad: bool,
}

/// How many documents are weighed. More of them would take longer than anyone who is typing waits.
const WEIGHED: usize = 20_000;

impl Held<'_> {
    /// Returns documents that should answer a query.
    pub fn propose(&self, ask: &Ask<'_>) -> Result<Proposals, CatalogueError> {
        self.read(|connection| {
            let conditions = Conditions::of(connection, ask)?;
            // There are never more documents than that, and one more must still be a number for the database.
            let most = WEIGHED.max(ask.limit.min(u32::MAX as usize));
            let recent = if conditions.has_words { conditions.recent(connection, most + 1)? } else { Vec::new() };
            let is_broad = recent.len() > most;
            let (mut best, total) = match is_broad {
                true => (newest(connection, &recent, ask.limit)?, most),
                false => conditions.best(connection, ask.limit)?,
            };
            let mut statement =
                connection.prepare("SELECT file, offset, length, millis, entry FROM document WHERE document = ?1")?;
            let mut proposals = Vec::with_capacity(best.len());
            for Ranked { score, document } in best.drain(..) {
                let found = statement.query_row([document], |row| {
                    Ok(Proposal {
                        file: row.get(0)?,
                        offset: row.get::<_, i64>(1)?.cast_unsigned(),
                        length: row.get(2)?,
                        millis: row.get(3)?,
                        entry: row.get(4)?,
                        score,
                    })
                });
                proposals.extend(found.optional()?);
            }
            proposals.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.millis.cmp(&a.millis)));
            Ok(Proposals { best: proposals, total, is_broad })
        })
    }
}

/// The newest of some documents.
fn newest(connection: &Connection, documents: &[i64], limit: usize) -> rusqlite::Result<Vec<Ranked>> {
    let mut statement = connection.prepare("SELECT coalesce(millis, 0) FROM document WHERE document = ?1")?;
    let mut best = Best::new(limit);
    for document in documents {
        let millis: Option<f64> = statement.query_row([document], |row| row.get(0)).optional()?;
        best.extend(millis.map(|score| Ranked { score, document: *document }));
    }
    Ok(best.unweighed())
}

/// The best of many.
struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// Returns them, best first.
    fn ranked(self) -> Vec<Ranked> {
        let mut best: Vec<Ranked> = self.heap.into_iter().map(|Reverse(ranked)| ranked).collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        best
    }

    /// Returns them, best first, when what they were ranked by is no score.
    fn unweighed(self) -> Vec<Ranked> {
        self.ranked().into_iter().map(|ranked| Ranked { score: 0.0, ..ranked }).collect()
    }
}

impl Extend<Ranked> for Best {
    fn extend<I: IntoIterator<Item = Ranked>>(&mut self, ranked: I) {
        for ranked in ranked {
            self.heap.push(Reverse(ranked));
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
    }
}

/// A document and how good it is; the greatest is the best.
#[derive(Clone, Copy, PartialEq)]
struct Ranked {
    score: f64,
    document: i64,
}

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.document.cmp(&other.document))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Conditions and their parameters, in order.
#[derive(Default)]
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
    has_words: bool,
    /// Whether anything but words is asked.
    is_about_documents: bool,
}

impl Conditions {
    fn of(connection: &Connection, ask: &Ask<'_>) -> rusqlite::Result<Self> {
        let mut all = Self::default();
        if let Some(wanted) = expression(ask.query.terms().iter().filter(|term| !term.negated), " AND ") {
            all.has_words = true;
            all.sql.push("word MATCH ?".to_owned());
            all.values.push(wanted.into());
        }
        if let Some(unwanted) = expression(ask.query.terms().iter().filter(|term| term.negated), " OR ") {
            let value = Value::from(unwanted);
            all.add("document.document NOT IN (SELECT rowid FROM word WHERE word MATCH ?)".to_owned(), Some(value));
        }
        all.facets(connection, ask.query)?;
        all.times(ask.query);
        if let Some(files) = &ask.files {
            all.add(format!("document.file IN ({})", numbers(files)), None);
        }
        if !ask.except.is_empty() {
            all.add(format!("document.file NOT IN ({})", numbers(&ask.except)), None);
        }
        if all.sql.is_empty() {
            all.add("1".to_owned(), None);
        }
        Ok(all)
    }

    fn add(&mut self, sql: String, value: Option<Value>) {
        self.is_about_documents = true;
        self.sql.push(sql);
        self.values.extend(value);
    }

    /// Finds the best documents, best first, and counts all. Rows of documents are looked at only when something is asked
    /// that the words do not tell: they are many pages.
    fn best(&self, connection: &Connection, limit: usize) -> rusqlite::Result<(Vec<Ranked>, usize)> {
        let (columns, tables) = match (self.has_words, self.is_about_documents) {
            (true, false) => ("word.rowid, -bm25(word)", "word"),
            (true, true) => ("word.rowid, -bm25(word)", "word JOIN document ON document.document = word.rowid"),
            // The newest are the best when no words say otherwise.
            (false, _) => ("document.document, coalesce(millis, 0)", "document"),
        };
        let sql = format!("SELECT {columns} FROM {tables} WHERE {}", self.sql.join(" AND "));
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(&self.values))?;
        let mut best = Best::new(limit);
        let mut total = 0;
        while let Some(row) = rows.next()? {
            total += 1;
            best.extend([Ranked { document: row.get(0)?, score: row.get(1)? }]);
        }
        Ok((if self.has_words { best.ranked() } else { best.unweighed() }, total))
    }

    /// Finds the documents that were indexed last.
    fn recent(&self, connection: &Connection, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let tables = match self.is_about_documents {
            true => "word JOIN document ON document.document = word.rowid",
            false => "word",
        };
        let condition = self.sql.join(" AND ");
        let sql = format!("SELECT word.rowid FROM {tables} WHERE {condition} ORDER BY word.rowid DESC LIMIT {limit}");
        let mut statement = connection.prepare(&sql)?;
        statement.query_map(params_from_iter(&self.values), |row| row.get(0))?.collect()
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
        self.add(format!("facet IN ({})", numbers(&fitting)), None);
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
            self.add(sql.to_owned(), Some(millis.into()));
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
