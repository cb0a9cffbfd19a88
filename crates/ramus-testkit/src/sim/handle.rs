//! Open files and locks of a [`SimFs`].

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ramus_store::fs::{Access, FileHandle, Hold, LockFile, Stat};
use rustix::io::Errno;

use super::disk::{DataChange, Event, Inode};
use super::fault::OperationKind;
use super::system::SimFs;

/// An open file. It stays the same file when its name goes to another one.
pub(super) struct SimFile {
    fs: SimFs,
    path: PathBuf,
    inode: Inode,
    access: Access,
    /// Whether this handle was once told that the disk did not confirm.
    sync_failed: bool,
}

impl SimFile {
    pub(super) fn new(fs: SimFs, path: PathBuf, inode: Inode, access: Access) -> Self {
        Self { fs, path, inode, access, sync_failed: false }
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.access == Access::Append { Ok(()) } else { Err(Errno::BADF.into()) }
    }
}

impl FileHandle for SimFile {
    fn stat(&self) -> io::Result<Stat> {
        let (state, _) = self.fs.begin(OperationKind::Inspect, &self.path, 0)?;
        Ok(state.stat_of(self.inode))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (state, _) = self.fs.begin(OperationKind::Read, &self.path, 0)?;
        let Some(file) = state.disk.files.get(&self.inode) else { return Ok(0) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(file.live.len());
        let rest = file.live.get(start..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_writable()?;
        let (mut state, allowed) = self.fs.begin(OperationKind::Write, &self.path, bytes.len())?;
        let offset = state.disk.files.get(&self.inode).map_or(0, |file| file.live.len());
        let bytes = Arc::new(bytes.get(..allowed).unwrap_or(bytes).to_vec());
        state.happen(Event::Data(self.inode, DataChange::Append { offset, bytes }));
        Ok(allowed)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        let (mut state, _) = self.fs.begin(OperationKind::Truncate, &self.path, 0)?;
        let len = usize::try_from(len).map_err(|_| io::Error::from(Errno::FBIG))?;
        state.happen(Event::Data(self.inode, DataChange::Truncate { len }));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.sync_failed {
            self.fs.state().syncs_after_failure += 1;
        }
        match self.fs.begin(OperationKind::Sync, &self.path, 0) {
            Ok((mut state, _)) => {
                state.happen(Event::Synced(self.inode));
                Ok(())
            }
            Err(error) => {
                self.sync_failed = true;
                self.fs.state().happen(Event::SyncFailed(self.inode));
                Err(error)
            }
        }
    }
}

/// A handle on a lock file.
pub(super) struct SimLock {
    fs: SimFs,
    path: PathBuf,
    holder: u64,
}

impl SimLock {
    pub(super) fn new(fs: SimFs, path: PathBuf, holder: u64) -> Self {
        Self { fs, path, holder }
    }
}

impl LockFile for SimLock {
    /// Nobody lets go while a simulation waits, so waiting is over at once.
    fn acquire(&self, hold: Hold, _patience: Duration) -> io::Result<bool> {
        let (mut state, _) = self.fs.begin(OperationKind::Lock, &self.path, 0)?;
        Ok(state.locks.take(&self.path, self.holder, hold))
    }

    fn release(&self) -> io::Result<()> {
        let (mut state, _) = self.fs.begin(OperationKind::Lock, &self.path, 0)?;
        state.locks.free(&self.path, self.holder);
        Ok(())
    }

    fn write_note(&self, note: &[u8]) -> io::Result<()> {
        let (mut state, _) = self.fs.begin(OperationKind::Lock, &self.path, 0)?;
        *state.locks.note(&self.path) = note.to_vec();
        Ok(())
    }

    fn read_note(&self) -> io::Result<Vec<u8>> {
        let (mut state, _) = self.fs.begin(OperationKind::Lock, &self.path, 0)?;
        Ok(state.locks.note(&self.path).clone())
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.fs.state().locks.free(&self.path, self.holder);
    }
}
