//! Where bytes come from. A codec never opens a path: whoever made the source decides which files belong to it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;

/// A session as its agent stored it: one file, and others that belong to it.
///
/// Names that a codec asks for may come from what it read. Whoever opens files refuses those that lead out of the store, by
/// `..` or by a link.
pub trait Source {
    /// Returns the name of the main file, without directories.
    fn name(&self) -> &str;

    /// Opens the main file from its start. A codec may read it more than once.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;

    /// Opens another file of the same store; none when it is not there.
    fn other(&self, wanted: Wanted<'_>) -> io::Result<Option<Box<dyn Read + '_>>> {
        let _ = wanted;
        Ok(None)
    }

    /// Returns the names of files that [`Wanted::Child`] opens: the transcripts of agents that this session spawned.
    fn children(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns the names of the files in a directory of the store, without their directories.
    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        let _ = directory;
        Ok(Vec::new())
    }

    /// Returns where a private copy of the main file is, when it is a database. A codec opens it as a whole, so the caller has
    /// copied it, with its write-ahead log, to where nobody else writes.
    fn database(&self) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Returns the working directory, for stores whose files do not say it.
    fn directory(&self) -> Option<String> {
        None
    }

    /// Returns the title, for stores that keep titles elsewhere.
    fn title(&self) -> Option<String> {
        None
    }

    /// Returns when the main file was changed last, in milliseconds since 1970, for files that say no time. It is known once
    /// the file was opened.
    fn modified(&self) -> Option<i64> {
        None
    }
}

/// A file that belongs to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// The transcript of a spawned agent, by the name that [`Source::children`] gave.
    Child(&'a str),
    /// The rollout of a thread that this one builds on (Codex).
    Rollout(&'a str),
    /// A file of a store with several, by its name beside the main one.
    Beside(&'a str),
}

/// A source in memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySource {
    name: String,
    bytes: Vec<u8>,
    children: BTreeMap<String, Vec<u8>>,
    rollouts: BTreeMap<String, Vec<u8>>,
    beside: BTreeMap<String, Vec<u8>>,
    directory: Option<String>,
    title: Option<String>,
    modified: Option<i64>,
}

impl MemorySource {
    /// Makes a source of one file.
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        Self { name: name.to_owned(), bytes: bytes.to_vec(), ..Self::default() }
    }

    /// Adds the transcript of a spawned agent.
    #[must_use]
    pub fn child(mut self, name: &str, bytes: &[u8]) -> Self {
        self.children.insert(name.to_owned(), bytes.to_vec());
        self
    }

    /// Adds the rollout of another thread.
    #[must_use]
    pub fn rollout(mut self, id: &str, bytes: &[u8]) -> Self {
        self.rollouts.insert(id.to_owned(), bytes.to_vec());
        self
    }

    /// Adds a file of the same store.
    #[must_use]
    pub fn beside(mut self, name: &str, bytes: &[u8]) -> Self {
        self.beside.insert(name.to_owned(), bytes.to_vec());
        self
    }

    /// Says the working directory.
    #[must_use]
    pub fn directory(mut self, directory: &str) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Says the title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Says when it was changed last.
    #[must_use]
    pub fn modified(mut self, milliseconds: i64) -> Self {
        self.modified = Some(milliseconds);
        self
    }
}

impl Source for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.bytes.as_slice()))
    }

    fn other(&self, wanted: Wanted<'_>) -> io::Result<Option<Box<dyn Read + '_>>> {
        let found = match wanted {
            Wanted::Child(name) => self.children.get(name),
            Wanted::Rollout(id) => self.rollouts.get(id),
            Wanted::Beside(name) => self.beside.get(name),
        };
        Ok(found.map(|bytes| Box::new(bytes.as_slice()) as Box<dyn Read>))
    }

    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        let inside = |name: &String| name.strip_prefix(directory)?.strip_prefix('/').map(str::to_owned);
        Ok(self.beside.keys().filter_map(inside).filter(|name| !name.contains('/')).collect())
    }

    fn children(&self) -> io::Result<Vec<String>> {
        Ok(self.children.keys().cloned().collect())
    }

    fn directory(&self) -> Option<String> {
        self.directory.clone()
    }

    fn title(&self) -> Option<String> {
        self.title.clone()
    }

    fn modified(&self) -> Option<i64> {
        self.modified
    }
}
