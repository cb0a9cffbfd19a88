//! Which rows a list shows, in which order, and how many it leaves out.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::error::CatalogueError;
use crate::open::Held;
use crate::row::{LISTED, Row, folded, saturated};

/// What sessions are called that came from no other agent.
pub const NATIVE: &str = "ramus";

/// What is listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only sessions of these directories; the others count as hidden.
    pub directories: Option<Vec<String>>,
    /// The files, by name, of sessions that count as sessions of these directories though they are recorded elsewhere.
    pub moved: Vec<String>,
    /// Whether drafts are listed too.
    pub drafts: bool,
    /// Whether archived sessions are listed too.
    pub archived: bool,
    /// Only sessions of this owner.
    pub owner: Option<String>,
    /// Only sessions whose title or directory contains this, ignoring case.
    pub text: Option<String>,
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only starred sessions.
    pub starred: bool,
    /// Only sessions that this one spawned.
    pub parent: Option<String>,
    /// Only sessions of the project with this remote or root, or whose remote or root ends in this name.
    pub project: Option<String>,
    /// The directories that are in this project, for sessions that recorded none.
    pub around: Vec<String>,
    /// Only sessions that came from this agent, or from none: [`NATIVE`].
    pub agent: Option<String>,
    /// The order.
    pub sort: Sort,
    /// Only what comes behind this.
    pub after: Option<After>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// An order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub key: SortKey,
    /// Whether the smallest comes first.
    pub is_ascending: bool,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The time of the newest message.
    #[default]
    Updated,
    /// The time of creation.
    Created,
    /// The title, ignoring case.
    Title,
    /// How many messages there are.
    Messages,
    /// What all answers cost; what is not known is less than nothing.
    Cost,
    /// How many tokens all answers used.
    Tokens,
}

impl SortKey {
    fn column(self) -> &'static str {
        match self {
            Self::Updated => "updated_millis",
            Self::Created => "created_millis",
            Self::Title => "folded_title",
            Self::Messages => "messages",
            Self::Cost => "coalesce(cost, -1)",
            Self::Tokens => "tokens",
        }
    }
}

/// What one row is sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortValue {
    /// A time, a count, an amount.
    Number(i64),
    /// A title in lower case.
    Text(String),
}

/// A place in a list, between two rows, which stays there when rows go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// What the last row before it is sorted by.
    pub value: SortValue,
    /// The id of that row.
    pub id: String,
    /// Its name, when others have the same id and value.
    pub name: Option<String>,
}

impl After {
    /// The place behind a row.
    pub fn row(row: &Row, key: SortKey) -> Self {
        let value = match key {
            SortKey::Updated => SortValue::Number(row.updated_millis),
            SortKey::Created => SortValue::Number(row.created_millis),
            SortKey::Title => SortValue::Text(folded(&row.title)),
            SortKey::Messages => SortValue::Number(saturated(row.messages)),
            SortKey::Cost => SortValue::Number(row.cost.map_or(-1, saturated)),
            SortKey::Tokens => SortValue::Number(saturated(row.tokens)),
        };
        Self { value, id: row.id.clone(), name: None }
    }
}

/// What a list found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// Where the next page starts, when there is one.
    pub next: Option<After>,
    /// What was left out.
    pub hidden: Hidden,
    /// The files that cannot be read: the id that the name tells, and why.
    pub unreadable: Vec<(String, String)>,
}

/// How many rows a list left out, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Drafts.
    pub drafts: usize,
    /// Archived sessions.
    pub archived: usize,
    /// Sessions of other directories.
    pub other_directories: usize,
}

impl Held<'_> {
    /// Lists rows.
    pub fn list(&self, filter: &Filter) -> Result<Found, CatalogueError> {
        self.read(|connection| {
            let (rows, next) = page(connection, filter)?;
            Ok(Found { rows, next, hidden: hidden(connection, filter)?, unreadable: unreadable(connection)? })
        })
    }

    /// Finds the first row of this id in the order of a list, whatever the filter hides.
    pub fn find(&self, id: &str, sort: Sort, owner: Option<&str>) -> Result<Option<Row>, CatalogueError> {
        self.read(|connection| {
            let order = order(sort);
            let sql = format!(
                "SELECT {LISTED} FROM session WHERE id = ?1 AND residence <> 0 AND owner = coalesce(?2, owner)
                 ORDER BY {order} LIMIT 1"
            );
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query_map((id, owner), Row::read)?;
            rows.next().transpose()
        })
    }
}

/// Conditions and their parameters, in order.
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push(sql.to_owned());
        self.values.extend(values);
    }

    /// Sessions that the filter is about, shown or hidden. `is_indexed` says whether they are found by what they are, or
    /// by their order.
    fn of(filter: &Filter, is_indexed: bool) -> Self {
        let plus = if is_indexed { "" } else { "+" };
        let listed = format!("{plus}residence IN (1, 2, 3) AND {plus}unreadable IS NULL");
        let mut all = Self { sql: vec![listed], values: Vec::new() };
        if let Some(owner) = &filter.owner {
            all.add("owner = ?", [owner.clone().into()]);
        }
        if let Some(text) = &filter.text {
            let text = Value::from(folded(text));
            all.add("(instr(folded_title, ?) > 0 OR instr(folded_cwd, ?) > 0)", [text.clone(), text]);
        }
        if let Some(tag) = &filter.tag {
            all.add("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", [tag.clone().into()]);
        }
        if filter.starred {
            all.add("is_starred", []);
        }
        if let Some(parent) = &filter.parent {
            all.add("parent = ?", [parent.clone().into()]);
        }
        if let Some(project) = &filter.project {
            let whole = Value::from(project.clone());
            let part = Value::from(format!("/{project}"));
            let is_called = |column| format!("{column} = ? OR substr({column}, -length(?)) = ?");
            all.add(
                &format!(
                    "({} OR {} OR project_root IS NULL AND cwd IN (SELECT value FROM json_each(?)))",
                    is_called("project_remote"),
                    is_called("project_root")
                ),
                [whole.clone(), part.clone(), part.clone(), whole, part.clone(), part],
            );
            all.values.push(serde_json::Value::from(filter.around.clone()).to_string().into());
        }
        if let Some(agent) = &filter.agent {
            all.add("coalesce(source_agent, ?) = ?", [NATIVE.to_owned().into(), agent.clone().into()]);
        }
        all
    }

    /// Is among the directories, as an expression.
    fn in_directories(filter: &Filter) -> (String, Vec<Value>) {
        match &filter.directories {
            None => ("1".into(), Vec::new()),
            Some(directories) => {
                let places = vec!["?"; directories.len()].join(", ");
                let mut values: Vec<Value> = directories.iter().cloned().map(Value::from).collect();
                if filter.moved.is_empty() {
                    return (format!("cwd IN ({places})"), values);
                }
                values.push(serde_json::Value::from(filter.moved.clone()).to_string().into());
                (format!("(cwd IN ({places}) OR name IN (SELECT value FROM json_each(?)))"), values)
            }
        }
    }

    fn sql(&self) -> String {
        self.sql.join(" AND ")
    }
}

fn order(sort: Sort) -> String {
    let direction = if sort.is_ascending { "ASC" } else { "DESC" };
    format!("{} {direction}, id {direction}, name {direction}", sort.key.column())
}

fn page(connection: &Connection, filter: &Filter) -> rusqlite::Result<(Vec<Row>, Option<After>)> {
    let mut conditions = Conditions::of(filter, false);
    let (directories, values) = Conditions::in_directories(filter);
    conditions.add(&directories, values);
    if !filter.archived {
        conditions.add("archived_at IS NULL", []);
    }
    if !filter.drafts {
        conditions.add("residence <> 1", []);
    }
    let key = filter.sort.key;
    if let Some(After { value, id, name }) = &filter.after {
        let beyond = if filter.sort.is_ascending { ">" } else { "<" };
        let value = match value {
            SortValue::Number(number) => Value::from(*number),
            SortValue::Text(text) => Value::from(text.clone()),
        };
        let place = [value, id.clone().into()];
        match name {
            Some(name) => {
                conditions.add(&format!("({}, id, name) {beyond} (?, ?, ?)", key.column()), place);
                conditions.values.push(name.clone().into());
            }
            None => conditions.add(&format!("({}, id) {beyond} (?, ?)", key.column()), place),
        }
    }
    // One more tells whether there is more.
    let limit = filter.limit.map_or(-1, |limit| saturated(limit as u64).saturating_add(1));
    let sql = format!(
        "SELECT {LISTED} FROM session WHERE {} ORDER BY {} LIMIT {limit}",
        conditions.sql(),
        order(filter.sort)
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows: Vec<Row> =
        statement.query_map(params_from_iter(conditions.values), Row::read)?.collect::<rusqlite::Result<_>>()?;
    let Some(more) = filter.limit.and_then(|limit| rows.get(limit).map(|more| After::row(more, key))) else {
        return Ok((rows, None));
    };
    rows.truncate(filter.limit.unwrap_or_default());
    let next = rows.last().map(|last| {
        let after = After::row(last, key);
        let name = (after == more).then(|| last.name.clone());
        After { name, ..after }
    });
    Ok((rows, next))
}

/// Counts what a list leaves out, each session for one reason: the directory, then the archive, then the drafts.
fn hidden(connection: &Connection, filter: &Filter) -> rusqlite::Result<Hidden> {
    let mut here = Conditions::of(filter, true);
    let all = if filter.directories.is_some() { count(connection, &here, &[])? } else { 0 };
    let (directories, values) = Conditions::in_directories(filter);
    here.add(&directories, values);
    let other_directories = match filter.directories {
        Some(_) => all.saturating_sub(count(connection, &here, &[])?),
        None => 0,
    };
    let archived = if filter.archived { 0 } else { count(connection, &here, &["archived_at IS NOT NULL"])? };
    let drafts = match (filter.drafts, filter.archived) {
        (true, _) => 0,
        (false, true) => count(connection, &here, &["residence = 1"])?,
        (false, false) => count(connection, &here, &["residence = 1", "archived_at IS NULL"])?,
    };
    Ok(Hidden { drafts, archived, other_directories })
}

fn count(connection: &Connection, conditions: &Conditions, more: &[&str]) -> rusqlite::Result<usize> {
    let sql: String = more.iter().map(|more| format!(" AND {more}")).collect();
    let sql = format!("SELECT count(*) FROM session WHERE {}{sql}", conditions.sql());
    let count =
        connection.prepare(&sql)?.query_row(params_from_iter(&conditions.values), |row| row.get::<_, i64>(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

fn unreadable(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(
        "SELECT located, unreadable FROM session
             WHERE residence IN (1, 2, 3) AND unreadable IS NOT NULL ORDER BY name",
    )?;
    statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
