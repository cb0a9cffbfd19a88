//! What the files of one store know about each other: names of threads, rollouts by id, directories of projects. Each is read
//! once, when somebody asks.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ramus_interchange::Format;
use ramus_model::json::Raw;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::source::{join, parent};
use super::walk::{Bounds, walk};

/// The longest file that only decorates sessions.
const LONGEST: u64 = 64 << 20;

/// What other files of a store say about a session. It counts as part of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
}

/// A directory in which an agent keeps sessions and what belongs to them.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) ground: Ground,
    titles: OnceLock<HashMap<String, String>>,
    rollouts: OnceLock<HashMap<String, String>>,
    projects: OnceLock<HashMap<String, String>>,
}

impl Store {
    pub(crate) fn new(ground: Ground) -> Self {
        Self { ground, titles: OnceLock::new(), rollouts: OnceLock::new(), projects: OnceLock::new() }
    }

    /// Returns what other files say about a session.
    pub(crate) fn told(&self, format: Format, name: &str) -> Told {
        match format {
            Format::Codex => {
                let file = name.rsplit('/').next().unwrap_or(name);
                let thread = file.strip_prefix("rollout-").and_then(|rest| rest.get(20..)?.get(..36));
                let title = thread.and_then(|thread| self.title(thread)).map(str::to_owned);
                Told { title, directory: None }
            }
            Format::Gemini => {
                let project = parent(parent(name));
                let owner = self.text(&join(project, ".project_root")).map(|text| text.trim().to_owned());
                let directory = owner.filter(|owner| !owner.is_empty()).or_else(|| self.project_called(project));
                Told { title: None, directory }
            }
            Format::Shepherd => {
                // Joining nothing to a path would put a slash behind it, and it would be another directory's name.
                let path = self.ground.path().join(name);
                let directory = path.parent().and_then(Path::to_str).map(str::to_owned);
                Told { title: None, directory }
            }
            _ => Told::default(),
        }
    }

    /// Returns what is in a small file; none when it is not there, or not text.
    fn text(&self, name: &str) -> Option<String> {
        let opened = self.ground.file(name).ok()??;
        let mut text = String::new();
        opened.file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Returns the name that a thread of Codex was given. The last one counts.
    fn title(&self, thread: &str) -> Option<&str> {
        let titles = self.titles.get_or_init(|| {
            let text = self.text("session_index.jsonl").unwrap_or_default();
            let named = |line: &str| {
                let record = Raw::parse(line.as_bytes())?.object()?;
                Some((record.text("id")?.into_owned(), record.text("thread_name")?.into_owned()))
            };
            text.lines().filter_map(named).collect()
        });
        titles.get(thread).map(String::as_str).filter(|title| !title.is_empty())
    }

    /// Returns the name of the rollout that others know by this id.
    pub(crate) fn rollout(&self, id: &str) -> Option<&str> {
        let rollouts = self.rollouts.get_or_init(|| {
            let mut found = HashMap::new();
            for directory in ["sessions", "archived_sessions"] {
                // A store that cannot be walked has no rollouts to build on, and the codec says what is missing.
                let bounds = Bounds { depth: 3, ..Bounds::default() };
                let _ = walk(&self.ground, directory, bounds, &|_| true, &mut |met| {
                    if let Some(id) = rollout_id(&met.name) {
                        found.insert(id.to_owned(), met.name.clone());
                    }
                });
            }
            found
        });
        rollouts.get(id).map(String::as_str)
    }

    /// Returns the directory of a project of Gemini CLI, by the name it gave the project.
    fn project_called(&self, name: &str) -> Option<String> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let projects = self.projects.get_or_init(|| {
            let text = self.text("projects.json").unwrap_or_default();
            let registry = Raw::parse(text.as_bytes()).and_then(|raw| raw.field("projects"));
            let fields = registry.into_iter().flat_map(Raw::raw_fields);
            let named = |(directory, name): (Raw<'_>, Raw<'_>)| {
                Some((name.text()?.into_owned(), directory.text()?.into_owned()))
            };
            fields.filter_map(named).collect()
        });
        projects.get(name).cloned()
    }
}

/// The id by which other rollouts refer to this one: the last in its name.
fn rollout_id(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next()?.strip_prefix("rollout-")?;
    let stem = file.strip_suffix(".zst").unwrap_or(file).strip_suffix(".jsonl")?;
    stem.get(stem.len().checked_sub(36)?..)
}

/// The directory that a session of an agent must be looked at from: high enough that everything that belongs to it is beneath.
pub(crate) fn ground_of(format: Format, directory: &Path) -> PathBuf {
    let above = |names: &[&str]| {
        let is_named = |path: &&Path| path.file_name().is_some_and(|name| names.iter().any(|wanted| name == *wanted));
        directory.ancestors().find(is_named).and_then(Path::parent)
    };
    let ground = match format {
        Format::Codex => above(&["sessions", "archived_sessions"]),
        Format::Pi | Format::Omp => above(&["sessions"]),
        Format::Gemini => above(&["tmp"]).or_else(|| above(&["chats"])),
        Format::Opencode => above(&["storage"]),
        _ => None,
    };
    ground.unwrap_or(directory).to_owned()
}
