//! What a source is among the stores of its agent. opencode and goose had a file for each session before they had a database, and
//! left the files where they were: what is in both is read from the database.

use std::path::Path;

use ramus_interchange::Format;

use super::database::is_database;
use super::ground::Ground;
use super::source::Located;

/// What a source is among the stores of its agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rank {
    /// The only one that there is.
    #[default]
    Alone,
    /// One that the agent may have moved to another.
    Former,
    /// The one that it moved to, and in which its sessions go on.
    Present,
}

impl Rank {
    /// Tells what a file of an agent is by its path.
    pub(super) fn of_path(agent: &str, path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_former = match agent {
            "opencode" => name.starts_with(b"ses_") && path.to_string_lossy().contains("/storage/session/"),
            "goose" => name.ends_with(b".jsonl"),
            _ => false,
        };
        if is_former { Self::Former } else { Self::Alone }
    }

    /// Tells what a source is.
    pub(super) fn of(source: &Located, format: Format) -> Self {
        let rank = Self::of_path(format.name(), &source.path());
        // goose gave messages other names when it moved them: what is here of them does not go on there.
        let may_go_on = format == Format::Opencode && rank == Self::Alone;
        if may_go_on && is_database_at(&source.path()) { Self::Present } else { rank }
    }
}

/// Says whether there is a database at a path. Nothing but a regular file is opened.
pub(super) fn is_database_at(path: &Path) -> bool {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return false;
    };
    let opened = Ground::open(directory).and_then(|ground| ground.file(name));
    opened.ok().flatten().is_some_and(|opened| matches!(is_database(&opened.file), Ok(true)))
}
