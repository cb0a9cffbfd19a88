//! Which project a session belongs to, as its header records it. A recorded project is truth: it says what a directory
//! held when the session was made, so that a directory that moved since can be recognised.

use serde_json::{Map, Value};

use crate::json::Raw;

/// A working copy of a repository, as it was found around a working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Project {
    /// The directory that holds the repository.
    pub root: String,
    /// Where the repository comes from: host and path, without credentials.
    pub remote: Option<String>,
    /// The git directory itself, which a rename keeps.
    pub git: Option<String>,
}

impl Project {
    /// Reads what [`Project::to_json`] writes; none when it does not say where the project is.
    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { root: text("root")?, remote: text("remote"), git: text("git") })
    }

    /// Says whether this is the project's name: its remote or root, or the end of one of them.
    pub fn is_called(&self, name: &str) -> bool {
        let is = |text: &str| text == name || text.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
        is(&self.root) || self.remote.as_deref().is_some_and(is)
    }

    /// Writes the project the way headers and metadata hold it.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("root".into(), self.root.as_str().into());
        let known = [("remote", &self.remote), ("git", &self.git)];
        for (name, value) in known.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            object.insert(name.into(), value.as_str().into());
        }
        object.into()
    }

    /// Returns what a person would call the project: where it comes from, or else where it is.
    pub fn name(&self) -> &str {
        self.remote.as_deref().unwrap_or(&self.root)
    }

    pub(crate) fn read(raw: Raw<'_>) -> Option<Self> {
        let text = |name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
        Some(Self { root: text("root")?, remote: text("remote"), git: text("git") })
    }
}
