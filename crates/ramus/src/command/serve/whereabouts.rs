//! Where the server of a home is: a file that the server holds locked while it runs. A file that nobody holds tells nothing, so
//! nobody is sent, with a token, to where some other program listens by now.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The file in the home.
const FILE: &str = "server";

/// The longest address.
const LONGEST: u64 = 1024;

/// What is told as long as this value lives.
#[derive(Debug)]
pub(crate) struct Whereabouts(File);

impl Whereabouts {
    /// Says where a server is; none when another server of the home does already.
    pub(super) fn tell(home: &Path, address: &str) -> io::Result<Option<Self>> {
        let path = home.join(FILE);
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        writeln!(file, "{address}")?;
        Ok(Some(Self(file)))
    }

    /// Finds the server of a home that runs now and can be reached with a browser.
    pub(crate) fn find(home: &Path) -> io::Result<Option<String>> {
        let file = match File::open(home.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        match file.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        let address = text.trim_end();
        Ok(Some(address.to_owned()).filter(|address| address.starts_with("http")))
    }
}

impl Drop for Whereabouts {
    fn drop(&mut self) {
        // The lock goes with the file; what stands in it means nothing without.
        let _ = self.0.set_len(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_runs_is_found_and_the_first_one_counts() -> io::Result<()> {
        let home = tempfile::tempdir()?;
        assert_eq!(Whereabouts::find(home.path())?, None);
        let first = Whereabouts::tell(home.path(), "http://127.0.0.1:1")?;
        assert!(first.is_some() && Whereabouts::tell(home.path(), "http://127.0.0.1:2")?.is_none());
        assert_eq!(Whereabouts::find(home.path())?.as_deref(), Some("http://127.0.0.1:1"));
        drop(first);
        assert_eq!(Whereabouts::find(home.path())?, None);
        std::fs::write(home.path().join(FILE), "http://127.0.0.1:3\n")?;
        assert_eq!(Whereabouts::find(home.path())?, None);
        Ok(())
    }
}
