//! The answers of all logs, each log with what groups them.

use ramus_model::Project;

use crate::change::Answer;
use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::Residence;

/// The answers of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogAnswers {
    /// The name of the file in its home.
    pub name: String,
    /// What kind of place it is in.
    pub residence: Residence,
    /// The session.
    pub id: String,
    /// The title to show.
    pub title: String,
    /// The working directory.
    pub cwd: String,
    /// The repository that was recorded.
    pub project: Option<Project>,
    /// The session that spawned it.
    pub parent: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// Why it could not be read, under the id that the name of the file tells.
    pub unreadable: Option<String>,
    /// In the order of the log.
    pub answers: Vec<Answer>,
}

const LOGS: &str = "SELECT file, name, residence, iif(unreadable IS NULL, id, located), title, cwd, \
                    project_root, project_remote, project_git, parent, created_millis, unreadable \
                    FROM session ORDER BY file";
const ANSWERS: &str = "SELECT file, seq, millis, provider, model, input, output, cache_read, cache_write, cost_micros, \
                       identity, response FROM answer ORDER BY file, seq";

impl Held<'_> {
    /// Returns all logs with their answers.
    pub fn answers(&self) -> Result<Vec<LogAnswers>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(LOGS)?;
            let logs = statement.query_map((), |row| Ok((row.get::<_, i64>(0)?, log(row)?)))?;
            let mut logs: Vec<(i64, LogAnswers)> = logs.collect::<rusqlite::Result<_>>()?;
            let mut statement = connection.prepare(ANSWERS)?;
            let mut rows = statement.query(())?;
            let mut at = logs.iter_mut().peekable();
            while let Some(row) = rows.next()? {
                let file: i64 = row.get(0)?;
                // Both are in the order of files.
                while at.next_if(|(number, _)| *number < file).is_some() {}
                if let Some((_, log)) = at.peek_mut().filter(|(number, _)| *number == file) {
                    log.answers.push(answer(row)?);
                }
            }
            Ok(logs.into_iter().map(|(_, log)| log).collect())
        })
    }
}

fn log(row: &rusqlite::Row<'_>) -> rusqlite::Result<LogAnswers> {
    Ok(LogAnswers {
        name: row.get(1)?,
        residence: row.get(2)?,
        id: row.get(3)?,
        title: row.get(4)?,
        cwd: row.get(5)?,
        project: match row.get(6)? {
            Some(root) => Some(Project { root, remote: row.get(7)?, git: row.get(8)? }),
            None => None,
        },
        parent: row.get(9)?,
        created: row.get(10)?,
        unreadable: row.get(11)?,
        answers: Vec::new(),
    })
}

fn answer(row: &rusqlite::Row<'_>) -> rusqlite::Result<Answer> {
    let count = |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.cast_unsigned());
    Ok(Answer {
        seq: count(1)?,
        millis: row.get(2)?,
        provider: row.get(3)?,
        model: row.get(4)?,
        input: count(5)?,
        output: count(6)?,
        cache_read: count(7)?,
        cache_write: count(8)?,
        cost_micros: row.get::<_, Option<i64>>(9)?.map(i64::cast_unsigned),
        identity: row.get(10)?,
        response: row.get(11)?,
    })
}
