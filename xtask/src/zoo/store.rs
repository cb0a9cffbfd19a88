//! What an agent left in its home, found and read the way `ramus import` does: by names, without touching anything.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use ramus_interchange::place::{Environment, Kind, Role, roots};
use ramus_interchange::{Format, Jsonl, Report, Source, Wanted};
use tempfile::TempDir;

/// A file and those that belong to it.
pub(crate) struct Stored {
    pub(crate) path: PathBuf,
    name: String,
    children: BTreeMap<String, PathBuf>,
    rollouts: BTreeMap<String, PathBuf>,
    beside: PathBuf,
    copy: Option<(TempDir, PathBuf)>,
}

impl Stored {
    /// Takes a file alone.
    pub(crate) fn file(path: &Path, kind: Kind) -> Result<Self> {
        let name = path.file_name().context("a session is a file")?.to_string_lossy().into_owned();
        let copy = match kind {
            Kind::Database => Some(copy(path)?),
            _ => None,
        };
        let beside = path.parent().context("a session lies in a folder")?.to_owned();
        Ok(Self { path: path.to_owned(), name, children: BTreeMap::new(), rollouts: BTreeMap::new(), beside, copy })
    }

    /// Adds rollouts by their ids.
    pub(crate) fn with_rollouts(mut self, rollouts: &BTreeMap<String, PathBuf>) -> Self {
        self.rollouts.clone_from(rollouts);
        self
    }

    /// Adds the transcript of a spawned agent.
    pub(crate) fn with_child(mut self, path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.children.insert(name, path.to_owned());
        self
    }

    /// Reads it, and checks that nothing is unaccounted for.
    pub(crate) fn read(&self, format: Format) -> Result<(Jsonl, Report)> {
        let mut sessions = Jsonl::default();
        let report = format.codec().read(self, &mut sessions)?;
        ensure!(report.records == report.kept + report.lost, "records are unaccounted for: {report:?}");
        ensure!(report.lost == 0, "records are lost: {:?}", report.losses);
        Ok((sessions, report))
    }
}

impl Source for Stored {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(&self.path)?))
    }

    fn other(&self, wanted: Wanted<'_>) -> io::Result<Option<Box<dyn Read + '_>>> {
        let path = match wanted {
            Wanted::Child(name) => self.children.get(name).cloned(),
            Wanted::Rollout(id) => self.rollouts.get(id).cloned(),
            Wanted::Beside(name) => Some(self.beside.join(name)),
        };
        let Some(path) = path.filter(|path| path.is_file()) else { return Ok(None) };
        Ok(Some(Box::new(File::open(path)?)))
    }

    fn children(&self) -> io::Result<Vec<String>> {
        Ok(self.children.keys().cloned().collect())
    }

    fn database(&self) -> io::Result<Option<PathBuf>> {
        Ok(self.copy.as_ref().map(|(_, path)| path.clone()))
    }
}

/// Copies a database with its write-ahead log to where nobody writes.
fn copy(path: &Path) -> Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let name = path.file_name().context("a database is a file")?;
    for ending in ["", "-wal", "-shm"] {
        let mut file = name.to_owned();
        file.push(ending);
        let from = path.with_file_name(&file);
        if from.is_file() {
            fs::copy(from, folder.path().join(file))?;
        }
    }
    let copied = folder.path().join(name);
    Ok((folder, copied))
}

/// Finds what an agent stored in a home.
pub(crate) fn find(format: Format, environment: &Environment) -> Result<Vec<Stored>> {
    let mut found: Vec<(String, Stored)> = Vec::new();
    let mut spawned = Vec::new();
    let mut rollouts = BTreeMap::new();
    for root in roots(format, environment) {
        for path in files(&root.directory, root.depth) {
            let Ok(name) = path.strip_prefix(&root.directory) else { continue };
            match root.role(&name.to_string_lossy()) {
                Some(Role::Session { kind, key }) => {
                    if format == Format::Codex {
                        rollouts.insert(key.clone(), path.clone());
                    }
                    found.push((key, Stored::file(&path, kind)?));
                }
                Some(Role::Child { of }) => spawned.push((of, path)),
                None => {}
            }
        }
    }
    let complete = |(key, stored): (String, Stored)| {
        let own = spawned.iter().filter(|(of, _)| *of == key).map(|(_, path)| path);
        own.fold(stored.with_rollouts(&rollouts), |stored, path| stored.with_child(path))
    };
    Ok(found.into_iter().map(complete).collect())
}

/// The files below a folder, so many folders deep, sorted.
fn files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, level)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && level < depth => open.push((entry.path(), level + 1)),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
