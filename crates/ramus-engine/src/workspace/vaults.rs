//! The vaults of a home, one for each directory, and which of their snapshots anything still names.
//!
//! A snapshot is named where its digits stand: in any file of the home that may hold a line, and in the logs of other
//! programs that snapshots were taken for, which are written down beside the vault.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ramus_snapshot::{SnapshotError, SnapshotId, SnapshotInfo, Vault};
use sha2::{Digest as _, Sha256};

use super::named::Named;

/// How much of a log is read at once.
const CHUNK: usize = 1 << 20;

/// What is kept of one directory.
pub(crate) struct Kept {
    pub(crate) vault: Vault,
    pub(crate) snapshots: Vec<SnapshotInfo>,
}

impl Kept {
    /// Opens a vault and lists what is in it.
    pub(crate) fn open(path: &Path) -> Result<Self, SnapshotError> {
        let vault = Vault::open(path)?;
        Ok(Self { snapshots: vault.snapshots()?, vault })
    }
}

/// Returns the snapshots of some vaults.
pub(crate) fn ids<'k>(kept: impl IntoIterator<Item = &'k Kept>) -> HashSet<SnapshotId> {
    kept.into_iter().flat_map(|kept| kept.snapshots.iter().map(|one| one.id)).collect()
}

/// Writes down that a log of another program may name snapshots of a vault.
pub(crate) fn note_outsider(vault: &Path, log: &Path) -> Result<(), SnapshotError> {
    let log = log.canonicalize().unwrap_or_else(|_| log.to_owned());
    let directory = vault.join("logs");
    let path = directory.join(hex::encode(Sha256::digest(log.as_os_str().as_bytes())));
    let write = || {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(log.as_os_str().as_bytes())?;
        // It must be there when the name is: otherwise a collector would not look where it stands.
        file.sync_all()?;
        File::open(&directory)?.sync_all()
    };
    match write() {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result.map_err(|cause| SnapshotError::Io { action: "write", path: path.clone(), cause }),
    }
}

/// Looks through the logs of other programs that may name snapshots of a vault. Fails with the one that cannot be read.
pub(crate) fn look_outside(vault: &Path, named: &mut Named) -> Result<(), (PathBuf, io::Error)> {
    let directory = vault.join("logs");
    let notes = match fs::read_dir(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result.map_err(|error| (directory.clone(), error))?,
    };
    for note in notes {
        let note = note.map_err(|error| (directory.clone(), error))?.path();
        let log = fs::read(&note).map_err(|error| (note, error))?;
        let log = PathBuf::from(OsStr::from_bytes(&log));
        read(&log, named).map_err(|error| (log, error))?;
    }
    Ok(())
}

fn read(log: &Path, named: &mut Named) -> io::Result<()> {
    let mut file = File::open(log)?;
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = file.read(&mut buffer)?;
        // Nothing more ends the file for whoever looks through it too.
        named.feed(buffer.get(..count).unwrap_or_default());
        if count == 0 {
            return Ok(());
        }
    }
}
