//! Sidecars as two files under `index/`: the rows, which only grow, and the checkpoint, which is replaced as a whole and
//! counts on rows that are already there. Nothing is synced: what does not fit after a crash is thrown away.
//!
//! They are named by the session, so that a file keeps its sidecar wherever it goes. Two files may say the same session,
//! when someone copied one: the checkpoint names the place of the file it is about, in its first line.

use std::io;
use std::path::{Path, PathBuf};

use super::make::{read_exactly, unfinished, write_all};
use super::{JsonlStore, lock_name};
use crate::error::StoreError;
use crate::fs::{Access, FileHandle};
use crate::sidecar::{SavedCheckpoint, SidecarUpdate, Sidecars, Subject};
use crate::store::{Location, LogStore as _, Removed, Residence};

/// The length of the checksum in front of a checkpoint: eight hex digits and a newline.
const SEAL: usize = 9;

impl JsonlStore {
    fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// The rows and the checkpoint of a log; none for logs that belong to other programs.
    fn sidecar_of(&self, at: &Location) -> Option<(PathBuf, PathBuf)> {
        let name = lock_name(at);
        let ours = matches!(at.residence, Residence::Draft | Residence::Published);
        ours.then(|| (self.index().join(&name), self.index().join(format!("{name}.checkpoint"))))
    }

    fn read_part(&self, path: &Path, from: u64, len: Option<u64>) -> io::Result<Vec<u8>> {
        let file = self.fs.open(path, Access::Read)?;
        let len = match len {
            Some(len) => len,
            None => file.stat()?.size.saturating_sub(from),
        };
        let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
        read_exactly(file.as_ref(), &mut bytes, from)?;
        Ok(bytes)
    }

    fn write_rows(&self, path: &Path, keep: u64, rows: &[u8]) -> io::Result<()> {
        let mut file: Box<dyn FileHandle> = match self.fs.open(path, Access::Append) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.fs.create_file(path)?,
            result => result?,
        };
        let size = file.stat()?.size;
        if size < keep {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Rows that no checkpoint counts on were left by someone who came no further.
        if size > keep {
            file.truncate(keep)?;
        }
        write_all(file.as_mut(), rows)
    }

    fn write_checkpoint(&self, path: &Path, place: &str, text: &[u8]) -> io::Result<u32> {
        let text = [place.as_bytes(), b"\n", text].concat();
        let mark = crc32fast::hash(&text);
        let new = path.with_file_name(unfinished());
        let mut file = self.fs.create_file(&new)?;
        let sealed = [format!("{mark:08x}\n").as_bytes(), &text].concat();
        let written = write_all(file.as_mut(), &sealed).and_then(|()| self.fs.rename(&new, path));
        if written.is_err() {
            let _ = self.fs.remove(&new);
        }
        written.map(|()| mark)
    }
}

/// The place of a log within its home, on one line. What cannot be said so is nowhere.
fn place(root: &Path, at: &Location) -> String {
    let within = at.path.as_deref().and_then(|path| path.strip_prefix(root).ok()).and_then(Path::to_str);
    within.filter(|place| !place.contains('\n')).unwrap_or_default().to_owned()
}

impl JsonlStore {
    fn subject(&self, at: &Location, place: &str) -> Subject {
        if place == self::place(&self.root, at) {
            return Subject::Here;
        }
        // Only whether something is there is asked, so a place that someone made up tells nothing.
        let is_there = !place.is_empty() && self.fs.stat(&self.root.join(place)).is_ok();
        if is_there { Subject::Elsewhere } else { Subject::Gone }
    }
}

impl Sidecars for JsonlStore {
    fn checkpoint(&self, at: &Location) -> Option<SavedCheckpoint> {
        let (_, path) = self.sidecar_of(at)?;
        let mut text = self.read_part(&path, 0, None).ok()?;
        let seal = std::str::from_utf8(text.get(..SEAL)?).ok()?;
        let mark = u32::from_str_radix(seal.strip_suffix('\n')?, 16).ok()?;
        text.drain(..SEAL);
        if crc32fast::hash(&text) != mark {
            return None;
        }
        let end = text.iter().position(|byte| *byte == b'\n')?;
        let subject = self.subject(at, std::str::from_utf8(text.get(..end)?).ok()?);
        text.drain(..=end);
        Some(SavedCheckpoint { text, mark, subject })
    }

    fn rows(&self, at: &Location, from: u64, len: u64) -> Option<Vec<u8>> {
        let (path, _) = self.sidecar_of(at)?;
        self.read_part(&path, from, Some(len)).ok()
    }

    fn save(&self, at: &Location, update: &SidecarUpdate<'_>) -> Result<Option<u32>, StoreError> {
        let Some((rows, checkpoint)) = self.sidecar_of(at) else { return Ok(None) };
        self.own_dir(&self.index())?;
        let gate = self.gate(at)?;
        let Some(_held) = gate.try_hold()? else { return Ok(None) };
        let present = self.position(at)?;
        if present.incarnation != update.log.incarnation || present.end < update.log.end {
            return Ok(None);
        }
        if update.based_on.is_some() && self.checkpoint(at).map(|present| present.mark) != update.based_on {
            return Ok(None);
        }
        if update.based_on.is_none() {
            self.discard_files(&rows, &checkpoint)?;
        }
        self.write_rows(&rows, update.keep, update.rows).map_err(|error| StoreError::io("index", &rows, error))?;
        let mark = self.write_checkpoint(&checkpoint, &place(&self.root, at), update.checkpoint);
        Ok(Some(mark.map_err(|error| StoreError::io("index", &checkpoint, error))?))
    }

    fn discard(&self, at: &Location) -> Result<(), StoreError> {
        let Some((rows, checkpoint)) = self.sidecar_of(at) else { return Ok(()) };
        if self.checkpoint(at).is_some_and(|present| present.subject == Subject::Elsewhere) {
            return Ok(());
        }
        self.discard_files(&rows, &checkpoint)
    }
}

impl JsonlStore {
    /// Removes what is derived from a log that is deleted; with `dry_run` only says so.
    pub(super) fn delete_sidecar(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let Some((rows, checkpoint)) = self.sidecar_of(at) else { return Ok(Removed::default()) };
        if self.checkpoint(at).is_some_and(|present| present.subject == Subject::Elsewhere) {
            return Ok(Removed::default());
        }
        let mut removed = Removed::default();
        for path in [&rows, &checkpoint] {
            if let Ok(stat) = self.fs.stat(path) {
                removed.take_in(Removed { files: vec![path.clone()], bytes: stat.size });
            }
        }
        if !dry_run {
            self.discard_files(&rows, &checkpoint)?;
        }
        Ok(removed)
    }

    fn discard_files(&self, rows: &Path, checkpoint: &Path) -> Result<(), StoreError> {
        // The checkpoint first: without it the rows mean nothing.
        for path in [checkpoint, rows] {
            match self.fs.remove(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("remove", path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
