//! The seal: how the main database file looked when we wrote to it last.
//!
//! SQLite checks the frames of its write-ahead log and believes its main file. That one changes only in checkpoints, which
//! are ours alone, so how the system describes it afterwards tells whether it is still what we left: another file, a
//! shorter one, one that was written to all differ. `ctime` cannot be set back.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::CatalogueError;
use crate::files::{check_owner, failed};

const KIND: &str = "ramus catalogue seal 1";

/// What the system says about a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Look {
    /// Looks at a file; none when there is none. A link or a foreign file is refused.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>, CatalogueError> {
        let metadata = match std::fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(failed("inspect", path, cause)),
        };
        check_owner(&metadata, path)?;
        Ok(Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }))
    }

    /// Says whether both are about one file, whatever is in it.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// How the main file looked, and the mark that its write-ahead log must bear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) look: Look,
    pub(crate) mark: String,
}

impl Seal {
    /// Reads a seal; none when there is none that makes sense.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut words = text.strip_prefix(KIND)?.strip_suffix('\n')?.split_whitespace();
        let mut number = || words.next()?.parse::<i64>().ok();
        let [device, inode, size] = [number()?, number()?, number()?].map(i64::cast_unsigned);
        let [modified, changed] = [(number()?, number()?), (number()?, number()?)];
        let mark = words.next()?.to_owned();
        let is_whole = words.next() == Some("end");
        is_whole.then_some(Self { look: Look { device, inode, size, modified, changed }, mark })
    }

    /// Replaces the seal.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CatalogueError> {
        let Look { device, inode, size, modified, changed } = self.look;
        let [device, inode, size] = [device, inode, size].map(u64::cast_signed);
        let text = format!(
            "{KIND} {device} {inode} {size} {} {} {} {} {} end\n",
            modified.0, modified.1, changed.0, changed.1, self.mark
        );
        let unfinished = path.with_extension("seal.new");
        // Whoever was interrupted left one; we hold the lock alone.
        let _ = std::fs::remove_file(&unfinished);
        write_new(&unfinished, text.as_bytes()).map_err(|cause| failed("write", &unfinished, cause))?;
        std::fs::rename(&unfinished, path).map_err(|cause| failed("replace", path, cause))
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_read_as_it_was_written_and_only_whole() {
        let home = tempfile::tempdir().unwrap();
        let [file, path] = ["catalogue.db", "catalogue.seal"].map(|name| home.path().join(name));
        std::fs::write(&file, "x").unwrap();
        let seal = Seal { look: Look::at(&file).unwrap().unwrap(), mark: "ab12".into() };
        seal.write(&path).unwrap();
        assert_eq!(Seal::read(&path), Some(seal));
        let text = std::fs::read_to_string(&path).unwrap();
        for cut in 0..text.len() {
            std::fs::write(&path, &text[..cut]).unwrap();
            assert_eq!(Seal::read(&path), None, "{cut}");
        }
    }
}
