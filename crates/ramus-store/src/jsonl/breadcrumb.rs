//! Breadcrumbs as files: `terminal-sessions/<terminal>` holds the directory and the session file, a line each.

use std::io;
use std::path::{Path, PathBuf};

use ramus_model::SessionId;

use super::make::{unfinished, write_all};
use super::{JsonlStore, layout};
use crate::breadcrumb::{Breadcrumb, Breadcrumbs, Terminal};
use crate::error::StoreError;
use crate::fs::Access;
use crate::store::{Location, Removed};

/// More than two lines with the longest paths have.
const LONGEST: usize = 1 << 14;

impl JsonlStore {
    fn breadcrumbs(&self) -> PathBuf {
        self.root.join("terminal-sessions")
    }

    fn read_breadcrumb(&self, path: &Path) -> Result<Option<Breadcrumb>, StoreError> {
        let file = match self.fs.open(path, Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result.map_err(|error| StoreError::io("open", path, error))?,
        };
        let mut bytes = vec![0; LONGEST];
        let read = file.read_at(&mut bytes, 0).map_err(|error| StoreError::io("read", path, error))?;
        let text = String::from_utf8_lossy(bytes.get(..read).unwrap_or_default());
        let mut lines = text.lines();
        let (Some(cwd), Some(file)) = (lines.next(), lines.next()) else { return Ok(None) };
        let file = PathBuf::from(file);
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let session = layout::id_in_file_name(name).unwrap_or_else(|| SessionId::from(name));
        Ok(Some(Breadcrumb { cwd: cwd.to_owned(), session, path: Some(file) }))
    }

    fn write_breadcrumb(&self, path: &Path, crumb: &Breadcrumb) -> Result<(), StoreError> {
        let file = crumb.path.as_deref().and_then(Path::to_str);
        let Some(file) = file.filter(|file| !file.contains('\n') && !crumb.cwd.contains('\n')) else { return Ok(()) };
        let directory = self.breadcrumbs();
        self.own_dir(&directory)?;
        let new = directory.join(unfinished());
        let text = format!("{}\n{file}\n", crumb.cwd);
        // The old one or the new one, and it does not matter which after a crash: nothing is synced.
        let written = self
            .fs
            .create_file(&new)
            .and_then(|mut file| write_all(file.as_mut(), text.as_bytes()))
            .and_then(|()| self.fs.rename(&new, path));
        if written.is_err() {
            let _ = self.fs.remove(&new);
        }
        written.map_err(|error| StoreError::io("write", path, error))
    }
}

impl Breadcrumbs for JsonlStore {
    fn leave_breadcrumb(&self, terminal: &Terminal, crumb: &Breadcrumb) -> Result<(), StoreError> {
        self.write_breadcrumb(&self.breadcrumbs().join(terminal.as_str()), crumb)
    }

    fn breadcrumb(&self, terminal: &Terminal) -> Result<Option<Breadcrumb>, StoreError> {
        self.read_breadcrumb(&self.breadcrumbs().join(terminal.as_str()))
    }

    fn move_breadcrumbs(&self, moved: &dyn Fn(&str) -> Option<String>, dry_run: bool) -> Result<usize, StoreError> {
        let mut count = 0;
        for entry in self.entries(&self.breadcrumbs())?.into_iter().filter(|entry| entry.is_file) {
            let path = self.breadcrumbs().join(entry.name);
            let Some(crumb) = self.read_breadcrumb(&path)? else { continue };
            let Some(cwd) = moved(&crumb.cwd) else { continue };
            count += 1;
            if !dry_run {
                self.write_breadcrumb(&path, &Breadcrumb { cwd, ..crumb })?;
            }
        }
        Ok(count)
    }

    fn sweep_breadcrumbs(&self, session: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        for entry in self.entries(&self.breadcrumbs())?.into_iter().filter(|entry| entry.is_file) {
            let path = self.breadcrumbs().join(entry.name);
            let Some(crumb) = self.read_breadcrumb(&path)? else { continue };
            if crumb.session != session.id {
                continue;
            }
            removed.bytes += self.size_of(&path)?;
            if !dry_run {
                self.fs.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
            }
            removed.files.push(path);
        }
        Ok(removed)
    }
}
