//! What a list can be narrowed to: the agents, projects and tags that there are, and how many sessions each has.

use rusqlite::{Connection, params};

use crate::error::CatalogueError;
use crate::list::NATIVE;
use crate::open::Held;

/// Something that a list can be narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facet {
    /// What it is called.
    pub name: String,
    /// How many sessions it has.
    pub sessions: u64,
}

/// Everything that a list can be narrowed to, in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// The agents that sessions came from, [`NATIVE`] among them.
    pub agents: Vec<Facet>,
    /// The projects that sessions recorded: where they come from, or else where they are.
    pub projects: Vec<Facet>,
    /// The directories of sessions that recorded no project.
    pub directories: Vec<Facet>,
    /// The tags.
    pub tags: Vec<Facet>,
}

/// Sessions that a list can show, archived and draft or not. The second parameter is the owner; all when there is none.
const SHOWN: &str = "residence IN (1, 2, 3) AND unreadable IS NULL AND (?2 IS NULL OR owner = ?2)";

impl Held<'_> {
    /// Counts what a list can be narrowed to, among the sessions of an owner or of all.
    pub fn facets(&self, owner: Option<&str>) -> Result<Facets, CatalogueError> {
        self.read(|connection| {
            let count = |what: &str, from: &str| count(connection, what, from, owner);
            Ok(Facets {
                agents: count("coalesce(source_agent, ?1)", "session")?,
                projects: count("coalesce(project_remote, project_root)", "session")?,
                directories: count("iif(project_root IS NULL, cwd, NULL)", "session")?,
                tags: count("value", "session, json_each(tags)")?,
            })
        })
    }
}

fn count(connection: &Connection, what: &str, from: &str, owner: Option<&str>) -> rusqlite::Result<Vec<Facet>> {
    // Every question has both parameters, whether it is about agents or not.
    let sql = format!(
        "SELECT {what}, count(*) FROM {from} WHERE {SHOWN} AND ?1 IS NOT NULL AND {what} IS NOT NULL
         GROUP BY 1 ORDER BY 1"
    );
    let mut statement = connection.prepare(&sql)?;
    let facet = |row: &rusqlite::Row<'_>| {
        Ok(Facet { name: row.get(0)?, sessions: u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default() })
    };
    statement.query_map(params![NATIVE, owner], facet)?.collect()
}
