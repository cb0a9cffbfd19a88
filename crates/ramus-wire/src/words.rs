//! Words that are one of a fixed set, as they are described.

use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

fn one_of(words: &[&str]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied())).build()
}

fn one_of_or_null(words: &[&str]) -> Object {
    let words = words.iter().map(|word| Some(*word)).chain([None]);
    ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])).enum_values(Some(words)).build()
}

/// What becomes of a file.
pub(crate) fn file_actions() -> Object {
    one_of(&["create", "overwrite", "delete"])
}

/// Why a file is not put back.
pub(crate) fn conflicts() -> Object {
    one_of_or_null(&["changed", "uncovered", "forbidden"])
}

/// How a file differs.
pub(crate) fn differences() -> Object {
    one_of(&["added", "modified", "deleted", "renamed"])
}

/// Why a snapshot was taken.
pub(crate) fn causes() -> Object {
    one_of(&["asked", "turn", "safety", "restored", "call", "before"])
}

/// Where a session stands.
pub(crate) fn residences() -> Object {
    one_of(&["draft", "published", "in-place", "ephemeral", "base"])
}

/// What goes on in a session.
pub(crate) fn standings() -> Object {
    one_of(&["idle", "running", "damaged", "degraded"])
}

/// How far a task is.
pub(crate) fn progress() -> Object {
    one_of(&["pending", "in_progress", "completed", "cancelled"])
}

/// Where a rule comes from.
pub(crate) fn layers() -> Object {
    one_of(&["agent", "user", "project", "session"])
}

/// What a rule says.
pub(crate) fn verdicts() -> Object {
    one_of(&["allow", "ask", "deny"])
}

/// How long an approval holds.
pub(crate) fn scopes() -> Object {
    one_of(&["once", "session", "project"])
}

/// How a session is.
pub(crate) fn conditions() -> Object {
    one_of(&["clean", "repaired", "damaged", "unreadable"])
}

/// How bad something is.
pub(crate) fn severities() -> Object {
    one_of(&["damage", "notice"])
}

/// What a crash may leave.
pub(crate) fn leftovers() -> Object {
    one_of(&["unfinished", "lock", "import"])
}

/// What an event of the end of a turn is called.
pub(crate) fn turn_end() -> Object {
    one_of(&["turn_end"])
}

/// What kind of node the root is.
pub(crate) fn root() -> Object {
    one_of(&["root"])
}

/// What kind of node something is that a tool made.
pub(crate) fn artifact() -> Object {
    one_of(&["artifact"])
}

/// How a server is that answers.
pub(crate) fn fine() -> Object {
    one_of(&["ok"])
}
