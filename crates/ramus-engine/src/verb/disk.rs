//! What a home takes on disk, part by part. It only looks, and what goes away meanwhile counts for nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ramus_snapshot::{Usage, Vault};
use ramus_store::{StoreError, Tally};

use crate::engine::Engine;
use crate::error::EngineError;

/// The parts of a home that are told apart, with the names of files and directories in it that belong to them.
const PARTS: [(&str, &[&str]); 9] = [
    ("sessions", &["sessions"]),
    ("drafts", &["drafts"]),
    ("bases", &["bases"]),
    ("blobs", &["blobs"]),
    ("snapshots", &["snapshots"]),
    ("quarantine", &["quarantine"]),
    ("journals", &["journals"]),
    ("indexes", &["index"]),
    ("catalogue", &["catalogue.db", "catalogue.db-wal", "catalogue.db-shm", "catalogue.seal", "catalogue.lock"]),
];

/// What a home takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskReport {
    /// Its parts by name, all of them, and what is in none of them as `other`.
    pub parts: Vec<(&'static str, Tally)>,
    /// What of the blobs waits in the trash.
    pub trash: Tally,
    /// What is kept of each directory.
    pub directories: Vec<DirectoryUsage>,
    /// The workspaces that were made for sessions, which are not in the home.
    pub workspaces: Vec<WorkspaceUsage>,
}

/// What is kept of one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryUsage {
    /// The directory; none when that is not known.
    pub directory: Option<PathBuf>,
    /// Whether it is still there.
    pub is_there: bool,
    /// Where its snapshots are kept.
    pub path: PathBuf,
    /// What they take; none when they cannot be read.
    pub usage: Option<Usage>,
}

/// A workspace that was made for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceUsage {
    /// The session.
    pub session: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it takes.
    pub tally: Tally,
}

impl DiskReport {
    /// Returns how many bytes the home has in all.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|(_, tally)| tally.bytes).sum()
    }
}

impl Engine {
    /// Says what the home takes on disk. A home without files takes nothing.
    pub fn disk(&self) -> Result<DiskReport, EngineError> {
        let Some(snapshots) = &self.snapshots else { return Ok(DiskReport::default()) };
        let home = snapshots.parent().unwrap_or(snapshots);
        let mut report =
            DiskReport { parts: PARTS.map(|(name, _)| (name, Tally::default())).to_vec(), ..DiskReport::default() };
        let mut other = Tally::default();
        for (name, path) in listed(home)? {
            let part = PARTS.iter().position(|(_, names)| names.contains(&name.as_str()));
            let tally = part.and_then(|part| report.parts.get_mut(part)).map_or(&mut other, |(_, tally)| tally);
            measure(&path, tally)?;
        }
        report.parts.push(("other", other));
        measure(&home.join("blobs").join(".trash"), &mut report.trash)?;
        for path in Vault::list(snapshots)? {
            let vault = Vault::open(&path).ok();
            let directory = vault.as_ref().and_then(Vault::directory);
            let usage = vault.and_then(|vault| vault.usage().ok());
            let is_there = directory.as_ref().is_some_and(|directory| directory.is_dir());
            report.directories.push(DirectoryUsage { directory, is_there, path, usage });
        }
        for (session, note) in listed(&home.join("workspaces"))? {
            let Ok(path) = fs::read_to_string(&note) else { continue };
            let path = PathBuf::from(path.trim_end_matches('\n'));
            let mut tally = Tally::default();
            measure(&path, &mut tally)?;
            report.workspaces.push(WorkspaceUsage { session, path, tally });
        }
        Ok(report)
    }
}

/// What is in a directory, by name; nothing when there is none.
fn listed(directory: &Path) -> Result<Vec<(String, PathBuf)>, EngineError> {
    let list = || -> io::Result<Vec<(String, PathBuf)>> {
        let name = |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
        fs::read_dir(directory)?.map(|entry| entry.map(name)).collect()
    };
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        result => {
            let mut found = result.map_err(|source| refused(directory, source))?;
            found.sort();
            Ok(found)
        }
    }
}

/// Counts the files of a directory, or the one file that it is. Links are not followed.
fn measure(path: &Path, tally: &mut Tally) -> Result<(), EngineError> {
    let mut rest = vec![path.to_owned()];
    while let Some(path) = rest.pop() {
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(&path, error)),
            Ok(found) if found.is_dir() => rest.extend(listed(&path)?.into_iter().map(|(_, path)| path)),
            Ok(found) => tally.add(found.len()),
        }
    }
    Ok(())
}

fn refused(path: &Path, source: io::Error) -> EngineError {
    StoreError::Io { action: "measure", path: path.to_owned(), source }.into()
}
