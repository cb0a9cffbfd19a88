//! Breadcrumbs: which session a terminal was last in, and where that was. A convenience: losing one loses nothing.

use std::path::PathBuf;

use ramus_model::SessionId;
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::store::{Location, Removed};

/// The longest name of a terminal that is used as it is.
const LONGEST: usize = 100;

/// A terminal, by a name that is safe to use for a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Terminal(String);

impl Terminal {
    /// Names a terminal. The name may come from the environment, so what could lead elsewhere is replaced: `pts/3` is
    /// `pts-3`, and a name that is long or strange is told by its hash. An empty one names nothing.
    pub fn new(name: &str) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        let dashed = name.replace('/', "-");
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:%@+".contains(&byte);
        let is_tame = dashed.len() <= LONGEST && !dashed.starts_with('.') && dashed.bytes().all(usual);
        Some(Self(if is_tame { dashed } else { format!("x-{}", hex::encode(Sha256::digest(name.as_bytes()))) }))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which session a terminal was last in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breadcrumb {
    /// The directory it was used in.
    pub cwd: String,
    /// The session.
    pub session: SessionId,
    /// Its file, in homes that have files; it may have been published or moved since.
    pub path: Option<PathBuf>,
}

/// The part of a home that keeps breadcrumbs.
pub trait Breadcrumbs {
    /// Replaces the breadcrumb of a terminal. What cannot be written down is not remembered.
    fn leave_breadcrumb(&self, terminal: &Terminal, crumb: &Breadcrumb) -> Result<(), StoreError>;

    /// Returns the breadcrumb of a terminal.
    fn breadcrumb(&self, terminal: &Terminal) -> Result<Option<Breadcrumb>, StoreError>;

    /// Follows directories that moved: `moved` says where a directory is now, if it is elsewhere. Returns how many
    /// breadcrumbs were left in such a one. With `dry_run`, only counts them.
    fn move_breadcrumbs(&self, moved: &dyn Fn(&str) -> Option<String>, dry_run: bool) -> Result<usize, StoreError>;

    /// Removes the breadcrumbs that lead to a session. With `dry_run`, says which.
    fn sweep_breadcrumbs(&self, session: &Location, dry_run: bool) -> Result<Removed, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::Terminal;

    #[test]
    fn names_of_terminals_are_no_paths() {
        for (name, expected) in [("pts/3", "pts-3"), ("tmux-%7", "tmux-%7"), ("../../x", "x-"), ("a\0b", "x-")] {
            let terminal = Terminal::new(name);
            let text = terminal.as_ref().map_or("", Terminal::as_str);
            assert!(text.starts_with(expected) && !text.contains('/') && !text.starts_with('.'), "{name:?}: {text}");
        }
        assert_eq!(Terminal::new(""), None);
        assert!(Terminal::new(&"x".repeat(300)).is_some_and(|terminal| terminal.as_str().len() < 100));
        assert_ne!(Terminal::new(".."), Terminal::new("."));
    }
}
