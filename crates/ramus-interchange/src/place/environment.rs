//! What decides where agents keep things: the home, and the variables that move parts of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The surroundings that agents are started in. The caller reads [`Environment::VARIABLES`] from wherever they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    home: PathBuf,
    temporary: PathBuf,
    working: Option<PathBuf>,
    variables: BTreeMap<String, PathBuf>,
}

impl Environment {
    /// The variables that matter.
    pub const VARIABLES: &[&str] = &[
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "GOOSE_PATH_ROOT",
        "OKCVM_DB_URL",
        "OPENCODE_DB",
        "PI_CODING_AGENT_DIR",
        "PI_CODING_AGENT_SESSION_DIR",
        "PI_CONFIG_DIR",
        "XDG_DATA_HOME",
    ];

    /// Makes surroundings without variables. The temporary directory is the system's, where some agents name things
    /// otherwise.
    pub fn new(home: impl Into<PathBuf>, temporary: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), temporary: temporary.into(), ..Self::default() }
    }

    /// Says the working directory: some agents keep sessions beside the work.
    #[must_use]
    pub fn working(mut self, directory: impl Into<PathBuf>) -> Self {
        self.working = Some(directory.into());
        self
    }

    /// Sets a variable. An empty one is as good as none, which is how the agents see it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<PathBuf>) -> Self {
        let value = value.into();
        if value.as_os_str().is_empty() {
            self.variables.remove(name);
        } else {
            self.variables.insert(name.to_owned(), value);
        }
        self
    }

    /// Returns the home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    pub(super) fn working_directory(&self) -> Option<&Path> {
        self.working.as_deref()
    }

    /// A directory that a variable names. `~` is the home: variables come from files that no shell has read.
    pub(super) fn variable(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(name)?;
        match value.strip_prefix("~") {
            Ok(rest) => Some(self.home.join(rest)),
            Err(_) => Some(value.clone()),
        }
    }

    /// A directory that a variable names, or one in the home.
    pub(super) fn variable_or(&self, name: &str, otherwise: &str) -> PathBuf {
        self.variable(name).unwrap_or_else(|| self.home.join(otherwise))
    }

    /// Where programs keep their data. The specification has relative values ignored.
    pub(super) fn data(&self) -> PathBuf {
        let given = self.variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
        given.unwrap_or_else(|| self.home.join(".local/share"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_a_directory_unless_it_is_empty() {
        let plain = Environment::new("/home/ada", "/tmp");
        assert_eq!(plain.data(), Path::new("/home/ada/.local/share"));
        assert_eq!(plain.clone().with("XDG_DATA_HOME", "/data").data(), Path::new("/data"));
        assert_eq!(plain.clone().with("XDG_DATA_HOME", "data").data(), Path::new("/home/ada/.local/share"));
        assert_eq!(plain.clone().with("CODEX_HOME", "~/x").variable_or("CODEX_HOME", "y"), Path::new("/home/ada/x"));
        assert_eq!(plain.with("CODEX_HOME", "").variable_or("CODEX_HOME", "y"), Path::new("/home/ada/y"));
    }
}
