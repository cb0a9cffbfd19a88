//! Where written sessions go. A codec names files; whoever made the target decides where they are.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Takes the files of a session that is being written.
pub trait Target {
    /// Makes a file. Names are relative, with `/` between directories, and never lead upwards.
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>>;
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTarget {
    /// The files by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl MemoryTarget {
    /// Returns the only file; none when there are several or none.
    pub fn only(&self) -> Option<&[u8]> {
        let mut files = self.files.values();
        let first = files.next()?;
        files.next().is_none().then_some(first)
    }
}

impl Target for MemoryTarget {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>> {
        let file = self.files.entry(name.to_owned()).or_default();
        file.clear();
        Ok(Box::new(file))
    }
}
