//! Which sessions a search is about.

use ramus_model::search::SessionFacts;

use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::{COLUMNS, Row};

/// The sessions that a search is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The numbers of their rows.
    pub files: Vec<i64>,
    /// The ids of those that are damaged.
    pub damaged: Vec<String>,
    /// The files that cannot be read, whatever is asked: the id that the name tells, and why.
    pub unreadable: Vec<(String, String)>,
    /// How many sessions there are.
    pub sessions: usize,
}

impl Held<'_> {
    /// Chooses sessions by what is known of them.
    pub fn choose(&self, admits: &dyn Fn(&SessionFacts<'_>) -> bool) -> Result<Chosen, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT session.file, id, cwd, tags, project_root, project_remote, archived_at IS NOT NULL,
                        forked_session IS NOT NULL, is_starred, residence = 1,
                        session.is_damaged, unreadable, located, coalesce(text.is_damaged, 0),
                        project_git, owner
                     FROM session LEFT JOIN text USING (file) WHERE residence <> 0 ORDER BY name",
            )?;
            let mut chosen = Chosen::default();
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                chosen.sessions += 1;
                if let Some(reason) = row.get::<_, Option<String>>(11)? {
                    chosen.unreadable.push((row.get(12)?, reason));
                    continue;
                }
                let text =
                    |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default());
                let tags: Vec<String> = serde_json::from_str(text(3)?).unwrap_or_default();
                let is_damaged: bool = row.get(10)?;
                let facts = SessionFacts {
                    cwd: text(2)?,
                    project_root: text(4)?,
                    project_remote: text(5)?,
                    project_git: text(14)?,
                    tags: &tags,
                    archived: row.get(6)?,
                    fork: row.get(7)?,
                    starred: row.get(8)?,
                    draft: row.get(9)?,
                    damaged: is_damaged,
                    owner: text(15)?,
                };
                if admits(&facts) {
                    chosen.files.push(row.get(0)?);
                    if is_damaged || row.get(13)? {
                        chosen.damaged.push(row.get(1)?);
                    }
                }
            }
            Ok(chosen)
        })
    }

    /// Says what [`Held::choose`] says when every session is chosen, but for the files: those that are damaged, those that
    /// cannot be read, how many there are.
    pub fn choose_all(&self) -> Result<Chosen, CatalogueError> {
        self.read(|connection| {
            let sessions: i64 =
                connection.query_row("SELECT count(*) FROM session WHERE residence <> 0", (), |row| row.get(0))?;
            let pairs = |sql: &str| -> rusqlite::Result<Vec<(String, String)>> {
                let mut statement = connection.prepare(sql)?;
                statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            };
            let unreadable =
                pairs("SELECT located, unreadable FROM session WHERE unreadable IS NOT NULL AND residence <> 0")?;
            let damaged = pairs(
                "SELECT id, '' FROM session WHERE is_damaged AND residence <> 0 AND unreadable IS NULL
                 UNION SELECT id, '' FROM session WHERE file IN (SELECT file FROM text WHERE is_damaged)
                     AND residence <> 0 AND unreadable IS NULL",
            )?;
            Ok(Chosen {
                files: Vec::new(),
                damaged: damaged.into_iter().map(|(id, _)| id).collect(),
                unreadable,
                sessions: usize::try_from(sessions).unwrap_or_default(),
            })
        })
    }

    /// Returns the number of a file's row.
    pub fn numbered(&self, name: &str) -> Result<Option<i64>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare("SELECT file FROM session WHERE name = ?1")?;
            let mut rows = statement.query_map([name], |row| row.get(0))?;
            rows.next().transpose()
        })
    }

    /// Returns the row of a file by its number.
    pub fn numbered_row(&self, file: i64) -> Result<Option<Row>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM session WHERE file = ?1"))?;
            let mut rows = statement.query_map([file], Row::read)?;
            rows.next().transpose()
        })
    }
}
