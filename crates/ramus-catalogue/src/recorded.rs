//! Which sessions were recorded with a repository that may be elsewhere now.

use crate::error::CatalogueError;
use crate::open::Held;

/// A session as it was recorded: its directory, and the repository around that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The name of its file.
    pub name: String,
    /// Its working directory.
    pub cwd: String,
    /// The directory that held the repository.
    pub root: String,
    /// Where the repository comes from.
    pub remote: Option<String>,
    /// The git directory.
    pub git: Option<String>,
}

impl Held<'_> {
    /// Returns the sessions that were recorded with the same remote or the same git directory as a repository, at another
    /// root than the one it has.
    pub fn recorded(&self, repository: &Recorded) -> Result<Vec<Recorded>, CatalogueError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT name, cwd, project_root, project_remote, project_git FROM session
                 WHERE (project_remote = ?1 OR project_git = ?2) AND project_root <> ?3
                     AND residence IN (1, 2, 3) AND unreadable IS NULL",
            )?;
            let of_row = |row: &rusqlite::Row<'_>| {
                Ok(Recorded {
                    name: row.get(0)?,
                    cwd: row.get(1)?,
                    root: row.get(2)?,
                    remote: row.get(3)?,
                    git: row.get(4)?,
                })
            };
            statement.query_map((&repository.remote, &repository.git, &repository.root), of_row)?.collect()
        })
    }
}
