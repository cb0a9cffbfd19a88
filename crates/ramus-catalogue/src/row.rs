//! One row about one log file, as columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Statement, params};

/// What kind of place a log is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residence {
    /// Among the bases: never listed, but forks stand on it.
    Base,
    /// Among the drafts.
    Draft,
    /// Among the sessions.
    #[default]
    Published,
    /// In memory.
    Memory,
}

impl Residence {
    const ALL: [Self; 4] = [Self::Base, Self::Draft, Self::Published, Self::Memory];
}

impl ToSql for Residence {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl FromSql for Residence {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = usize::try_from(value.as_i64()?).unwrap_or(usize::MAX);
        Self::ALL.get(number).copied().ok_or(FromSqlError::OutOfRange(value.as_i64()?))
    }
}

/// What is known about one log file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The name of the file in its home; no other row has it.
    pub name: String,
    /// In which bucket of files its stamp counts.
    pub bucket: u16,
    /// What kind of place it is in.
    pub residence: Residence,
    /// What the home said about the file before it was read.
    pub stamp: Vec<u8>,
    /// Whether the same stamp must not be taken for the same content.
    pub is_unsettled: bool,
    /// Up to where the file was read.
    pub known_end: u64,
    /// How many entries of its own it had.
    pub known_entries: u64,
    /// The checksum of the last bytes before that.
    pub tail: u32,
    /// The id that the name of the file tells.
    pub located: String,
    /// Why it could not be read. Nothing that follows means anything then.
    pub unreadable: Option<String>,
    /// The id.
    pub id: String,
    /// The working directory.
    pub cwd: String,
    /// The title to show.
    pub title: String,
    /// The owner.
    pub owner: String,
    /// The session that spawned it.
    pub parent: Option<String>,
    /// The session and entry it was forked from.
    pub forked_from: Option<(String, String)>,
    /// The opaque lineage string.
    pub parent_session: Option<String>,
    /// When it was archived.
    pub archived_at: Option<String>,
    /// When its older part was last summarised.
    pub compacted_at: Option<String>,
    /// Whether it is starred.
    pub is_starred: bool,
    /// The tags, a JSON list of strings.
    pub tags: String,
    /// The free metadata, a JSON object.
    pub metadata: String,
    /// The rules of the session, JSON of the caller's.
    pub permission: String,
    /// How many messages there are.
    pub messages: u64,
    /// How many entries there are.
    pub entries: u64,
    /// What all answers used, a JSON object of the caller's.
    pub usage: String,
    /// What they cost, when that is known.
    pub cost: Option<u64>,
    /// How many tokens they used, for sorting.
    pub tokens: u64,
    /// Tokens of the last prompt.
    pub last_prompt_tokens: u64,
    /// Tokens of the last answer.
    pub last_completion_tokens: u64,
    /// The provider of the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The agent and the file that it was read from.
    pub source: Option<(String, String)>,
    /// The version of the engine that made it.
    pub engine_version: Option<String>,
    /// When it was created, as written.
    pub created: String,
    /// The same in milliseconds since 1970.
    pub created_millis: i64,
    /// When it was updated.
    pub updated: String,
    /// The same in milliseconds since 1970.
    pub updated_millis: i64,
    /// Whether the file is damaged.
    pub is_damaged: bool,
    /// Where the workspace is.
    pub workspace_root: Option<String>,
    /// Where the workspace shows.
    pub workspace_mount: Option<String>,
    /// Whose workspace it is.
    pub workspace_session: Option<String>,
    /// The commit the workspace is at.
    pub git_commit: Option<String>,
    /// Whether the workspace has changes.
    pub git_dirty: Option<bool>,
    /// How much the turns changed, as JSON.
    pub summary: String,
    /// The newest snapshot of the files.
    pub latest_snapshot: Option<String>,
    /// The revert that can be taken back, as JSON.
    pub revert: Option<String>,
    /// The directory of the repository.
    pub project_root: Option<String>,
    /// Where the repository comes from.
    pub project_remote: Option<String>,
    /// The git directory.
    pub project_git: Option<String>,
}

/// The columns in the order of [`Row::read`] and [`Row::insert`].
pub(crate) const COLUMNS: &str = "name, bucket, residence, stamp, is_unsettled, known_end, known_entries, tail, \
     located, unreadable, id, cwd, title, owner, parent, forked_session, forked_entry, parent_session, source_agent, source_file, archived_at, \
     compacted_at, is_starred, tags, metadata, permission, messages, entries, usage, cost, tokens, last_prompt_tokens, last_completion_tokens, \
     provider, model, engine_version, created, created_millis, updated, updated_millis, is_damaged, workspace_root, \
     workspace_mount, workspace_session, git_commit, git_dirty, summary, latest_snapshot, revert, project_root, \
     project_remote, project_git";

/// The same, without what only comparing files needs.
pub(crate) const LISTED: &str = "name, 0, residence, x'', 0, 0, 0, 0, '', NULL, id, cwd, title, owner, parent, \
     forked_session, forked_entry, parent_session, source_agent, source_file, archived_at, compacted_at, is_starred, tags, metadata, permission, messages, entries, usage, \
     cost, tokens, last_prompt_tokens, last_completion_tokens, provider, model, engine_version, created, \
     created_millis, updated, updated_millis, is_damaged, workspace_root, workspace_mount, workspace_session, \
     git_commit, git_dirty, summary, latest_snapshot, revert, project_root, project_remote, project_git";

/// The columns that are made of others.
pub(crate) const DERIVED: &str = "folded_title, folded_cwd, generation";

/// The text that a search for a part of a title or directory looks at.
pub(crate) fn folded(text: &str) -> String {
    text.to_lowercase()
}

impl Row {
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let mut column = 0..;
        macro_rules! next {
            () => {
                row.get(column.next().unwrap_or_default())?
            };
            (unsigned) => {
                row.get::<_, i64>(column.next().unwrap_or_default())?.cast_unsigned()
            };
        }
        Ok(Self {
            name: next!(),
            bucket: next!(),
            residence: next!(),
            stamp: next!(),
            is_unsettled: next!(),
            known_end: next!(unsigned),
            known_entries: next!(unsigned),
            tail: next!(),
            located: next!(),
            unreadable: next!(),
            id: next!(),
            cwd: next!(),
            title: next!(),
            owner: next!(),
            parent: next!(),
            forked_from: {
                let (session, entry): (Option<String>, Option<String>) = (next!(), next!());
                session.zip(entry)
            },
            parent_session: next!(),
            source: {
                let (agent, file): (Option<String>, Option<String>) = (next!(), next!());
                agent.zip(file)
            },
            archived_at: next!(),
            compacted_at: next!(),
            is_starred: next!(),
            tags: next!(),
            metadata: next!(),
            permission: next!(),
            messages: next!(unsigned),
            entries: next!(unsigned),
            usage: next!(),
            cost: row.get::<_, Option<i64>>(column.next().unwrap_or_default())?.map(i64::cast_unsigned),
            tokens: next!(unsigned),
            last_prompt_tokens: next!(unsigned),
            last_completion_tokens: next!(unsigned),
            provider: next!(),
            model: next!(),
            engine_version: next!(),
            created: next!(),
            created_millis: next!(),
            updated: next!(),
            updated_millis: next!(),
            is_damaged: next!(),
            workspace_root: next!(),
            workspace_mount: next!(),
            workspace_session: next!(),
            git_commit: next!(),
            git_dirty: next!(),
            summary: next!(),
            latest_snapshot: next!(),
            revert: next!(),
            project_root: next!(),
            project_remote: next!(),
            project_git: next!(),
        })
    }

    /// Runs a statement whose parameters are [`COLUMNS`] and then [`DERIVED`].
    pub(crate) fn insert(&self, statement: &mut Statement<'_>, generation: i64) -> rusqlite::Result<()> {
        let (session, entry) = self.forked_from.as_ref().map(|(session, entry)| (session, entry)).unzip();
        let (agent, file) = self.source.as_ref().map(|(agent, file)| (agent, file)).unzip();
        statement.execute(params![
            self.name,
            self.bucket,
            self.residence,
            self.stamp,
            self.is_unsettled,
            self.known_end.cast_signed(),
            self.known_entries.cast_signed(),
            self.tail,
            self.located,
            self.unreadable,
            self.id,
            self.cwd,
            self.title,
            self.owner,
            self.parent,
            session,
            entry,
            self.parent_session,
            agent,
            file,
            self.archived_at,
            self.compacted_at,
            self.is_starred,
            self.tags,
            self.metadata,
            self.permission,
            self.messages.cast_signed(),
            self.entries.cast_signed(),
            self.usage,
            self.cost.map(saturated),
            saturated(self.tokens),
            self.last_prompt_tokens.cast_signed(),
            self.last_completion_tokens.cast_signed(),
            self.provider,
            self.model,
            self.engine_version,
            self.created,
            self.created_millis,
            self.updated,
            self.updated_millis,
            self.is_damaged,
            self.workspace_root,
            self.workspace_mount,
            self.workspace_session,
            self.git_commit,
            self.git_dirty,
            self.summary,
            self.latest_snapshot,
            self.revert,
            self.project_root,
            self.project_remote,
            self.project_git,
            folded(&self.title),
            folded(&self.cwd),
            generation,
        ])?;
        Ok(())
    }
}

/// A number of a file, which can be any, as one that sorts.
pub(crate) fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
