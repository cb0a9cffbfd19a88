//! The tables. A catalogue with other tables is made anew: its version is made of the text below.

/// Returns what tells these tables from any others.
pub(crate) fn version() -> u64 {
    // FNV-1a: the same in every build, which the hashes of the standard library do not promise.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    TABLES.bytes().chain(crate::text::TABLES.bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}

/// What a new catalogue is made with. Every table is derived from the logs.
pub(crate) const TABLES: &str = "
-- One row that every transaction writes, so that the newest page of it tells which seal a write-ahead log belongs to.
-- No two transactions leave the same state.
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version TEXT NOT NULL,
    mark TEXT NOT NULL,
    generations INTEGER NOT NULL,
    state INTEGER NOT NULL
);

-- One row per log file, bases included. A number is never given twice: text of a file that is gone belongs to nobody.
-- When it was summarised and what its last answer used is that of the path to the leaf.
CREATE TABLE session (
    file INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    bucket INTEGER NOT NULL,
    residence INTEGER NOT NULL,
    stamp BLOB NOT NULL,
    is_unsettled INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    known_end INTEGER NOT NULL,
    known_entries INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    located TEXT NOT NULL,
    unreadable TEXT,
    id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT NOT NULL,
    folded_title TEXT NOT NULL,
    folded_cwd TEXT NOT NULL,
    owner TEXT NOT NULL,
    parent TEXT,
    forked_session TEXT,
    forked_entry TEXT,
    parent_session TEXT,
    source_agent TEXT,
    source_file TEXT,
    archived_at TEXT,
    compacted_at TEXT,
    is_starred INTEGER NOT NULL,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    permission TEXT NOT NULL,
    messages INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    usage TEXT NOT NULL,
    cost INTEGER,
    tokens INTEGER NOT NULL,
    last_prompt_tokens INTEGER NOT NULL,
    last_completion_tokens INTEGER NOT NULL,
    provider TEXT,
    model TEXT,
    engine_version TEXT,
    created TEXT NOT NULL,
    created_millis INTEGER NOT NULL,
    updated TEXT NOT NULL,
    updated_millis INTEGER NOT NULL,
    is_damaged INTEGER NOT NULL,
    workspace_root TEXT,
    workspace_mount TEXT,
    workspace_session TEXT,
    git_commit TEXT,
    git_dirty INTEGER,
    summary TEXT NOT NULL,
    latest_snapshot TEXT,
    revert TEXT,
    project_root TEXT,
    project_remote TEXT,
    project_git TEXT
);
CREATE INDEX session_bucket ON session (bucket);
CREATE INDEX session_updated ON session (updated_millis, id, name);
CREATE INDEX session_directory ON session (cwd, updated_millis, id, name);
-- A repository that moved is looked for by what it is.
CREATE INDEX session_remote ON session (project_remote) WHERE project_remote IS NOT NULL;
CREATE INDEX session_git ON session (project_git) WHERE project_git IS NOT NULL;
-- What is counted as hidden is counted here, without touching the rows.
CREATE INDEX session_shown ON session (residence, unreadable, archived_at, cwd, owner);

-- What the stamps of a bucket of files came to when all its rows were current.
CREATE TABLE bucket (
    number INTEGER PRIMARY KEY,
    digest INTEGER
);

-- The logs that a fork stands on.
CREATE TABLE rests (
    file INTEGER NOT NULL,
    level INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    generation INTEGER NOT NULL,
    PRIMARY KEY (file, level)
) WITHOUT ROWID;
CREATE INDEX rests_name ON rests (name);
CREATE INDEX rests_id ON rests (id);

-- The answers of models, each in the log that it was written to.
CREATE TABLE answer (
    file INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    millis INTEGER,
    provider TEXT,
    model TEXT,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost_micros INTEGER,
    identity INTEGER NOT NULL,
    response INTEGER,
    PRIMARY KEY (file, seq)
) WITHOUT ROWID;

CREATE VIEW okc_conversations AS
SELECT
    id,
    owner AS client_id,
    title,
    strftime('%Y-%m-%d %H:%M:%f', created_millis / 1000.0, 'unixepoch') || '000' AS created_at,
    strftime('%Y-%m-%d %H:%M:%f', updated_millis / 1000.0, 'unixepoch') || '000' AS updated_at,
    json_object(
        'id', id,
        'title', title,
        'createdAt', created,
        'updatedAt', updated,
        'messageCount', messages,
        'model', model,
        'usage', json(usage),
        'metadata', json(metadata),
        'workspace', json_object(
            'paths', json_object(
                'internal_root', workspace_root, 'mount', workspace_mount, 'session_id', workspace_session),
            'git', json_object(
                'commit', git_commit, 'is_dirty', json(iif(git_dirty IS NULL, 'null', iif(git_dirty, 'true', 'false')))),
            'latest_snapshot', latest_snapshot
        )
    ) AS payload,
    workspace_root,
    workspace_mount,
    workspace_session,
    git_commit,
    CASE git_dirty WHEN 1 THEN '1' WHEN 0 THEN '0' END AS git_dirty
FROM session
WHERE residence <> 0 AND unreadable IS NULL;
";
