//! Small lists that the home keeps for the user: what is trusted, what was approved. They say what may happen without asking,
//! so nobody else may read or write them, links are not followed, a change is whole or not at all, and two processes that
//! change one at the same time both have their way.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ramus_store::StoreError;
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;

/// The longest list that is read.
const LONGEST: u64 = 8 << 20;

/// A list in a file of the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    path: PathBuf,
}

impl Kept {
    /// Names a list.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Reads all of it; a file that is not there is empty.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, EngineError> {
        let file = OpenOptions::new().read(true).custom_flags(flags()).open(&self.path);
        let file = match file {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed("read", error)),
        };
        self.check(&file)?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(|error| self.failed("read", error))?;
        serde_json::from_str(&text).map_err(|error| EngineError::Setting {
            message: format!("{} is damaged: {error}", self.path.display()),
            hint: Some("nothing in it counts until it is repaired or deleted".into()),
        })
    }

    /// Makes another list of it. Nothing is written when `change` says that nothing changed.
    pub(crate) fn change<T: Serialize + DeserializeOwned>(
        &self,
        change: impl FnOnce(&mut Vec<T>) -> bool,
    ) -> Result<(), EngineError> {
        let lock = self.beside(".lock");
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags()).open(&lock);
        let held = opened.map_err(|error| self.failed("lock", error))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|error| self.failed("lock", error.into()))?;
        let mut list = self.read()?;
        if !change(&mut list) {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&list).map_err(|error| self.failed("write", error.into()))?;
        self.replace(text.as_bytes()).map_err(|error| self.failed("write", error))
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let new = self.beside(&format!(".{}", uuid::Uuid::new_v4().simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&new, &self.path))
            .and_then(|()| File::open(self.path.parent().unwrap_or(Path::new("/")))?.sync_all());
        if written.is_err() {
            // It may have its new name already; then there is nothing to take away.
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    /// What someone else could have written is not ours.
    fn check(&self, file: &File) -> Result<(), EngineError> {
        let found = file.metadata().map_err(|error| self.failed("inspect", error))?;
        let is_ours =
            found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        if is_ours {
            return Ok(());
        }
        Err(self.failed("trust", io::Error::new(io::ErrorKind::PermissionDenied, "it can be written by others")))
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    fn failed(&self, action: &'static str, source: io::Error) -> EngineError {
        EngineError::Store(StoreError::Io { action, path: self.path.clone(), source })
    }
}

fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits() as i32
}
