//! Stages as directories: `imports/<number>/` holds staged logs, and `journal` once everything is decided.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_model::SessionId;

use super::make::write_all;
use super::{JsonlStore, incarnation, layout, path_of, tame_name};
use crate::error::StoreError;
use crate::fs::{Access, DirEntry, FileHandle, Hold, LockFile};
use crate::sidecar::Sidecars as _;
use crate::staging::{Destination, Stage, Staging};
use crate::store::{Location, Placement, Removed, Residence};

/// No session's lock has a dot in its name.
const LOCK: &str = "imports.lock";
/// How long an import waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);
const JOURNAL: &str = "journal";
/// How many logs are made durable together.
const TOGETHER: usize = 256;
/// From how many on the whole file system is asked at once.
const MANY: usize = 8;
/// Longer journals than this are damage: a million logs fit.
const LONGEST: u64 = 1 << 28;

/// One log that is to appear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) staged: PathBuf,
    pub(super) target: PathBuf,
    pub(super) id: SessionId,
    pub(super) residence: Residence,
    /// How long the file is that it takes the place of.
    pub(super) replaces: Option<u64>,
}

struct JsonlStage<'s> {
    store: &'s JsonlStore,
    lock: Box<dyn LockFile>,
    directory: PathBuf,
    open: Option<(PathBuf, Box<dyn FileHandle>)>,
    /// Logs that are not durable yet.
    written: Vec<(PathBuf, Box<dyn FileHandle>)>,
    steps: Vec<Step>,
    count: usize,
    is_decided: bool,
}

impl JsonlStore {
    pub(super) fn imports(&self) -> PathBuf {
        self.root.join("imports")
    }

    fn mark_path(&self, id: &SessionId) -> PathBuf {
        self.root.join("imported").join(tame_name(id.as_str()))
    }

    /// Marks sessions as ones that came from elsewhere, durably.
    fn mark_imported<'i>(&self, ids: impl Iterator<Item = &'i SessionId>) -> Result<(), StoreError> {
        let directory = self.root.join("imported");
        self.own_dir(&directory)?;
        for path in ids.map(|id| self.mark_path(id)) {
            // The name says it all, so there is no content that could be missing.
            match self.fs.create_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => drop(made.map_err(|error| StoreError::io("create", &path, error))?),
            }
        }
        self.fs.sync_dir(&directory).map_err(|error| StoreError::io("sync", &directory, error))
    }

    /// Removes the mark of a session that goes.
    pub(super) fn delete_mark(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        if at.residence == Residence::Base || !self.is_imported(&at.id)? {
            return Ok(Removed::default());
        }
        let path = self.mark_path(&at.id);
        if !dry_run {
            self.fs.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
            self.sync_dir_of(&path)?;
        }
        Ok(Removed { files: vec![path], bytes: 0 })
    }

    fn hold_imports(&self) -> Result<Box<dyn LockFile>, StoreError> {
        let (path, lock) = self.lock_file(LOCK)?;
        if !lock.acquire(Hold::Exclusive, PATIENCE).map_err(|error| StoreError::io("lock", &path, error))? {
            return Err(StoreError::Importing { seconds: PATIENCE.as_secs() });
        }
        Ok(lock)
    }

    fn write_decision(&self, directory: &Path, steps: &[Step]) -> Result<(), StoreError> {
        let mut text = String::from("ramus import 1\n");
        for step in steps {
            let relative = |path: &Path| {
                let path = path.strip_prefix(&self.root).unwrap_or(path);
                hex::encode(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()))
            };
            let replaces = step.replaces.map_or("-".to_owned(), |len| len.to_string());
            let residence = if step.residence == Residence::Draft { "draft" } else { "published" };
            let id = hex::encode(step.id.as_str());
            text.push_str(&format!(
                "{} {} {id} {residence} {replaces}\n",
                relative(&step.staged),
                relative(&step.target)
            ));
        }
        text.push_str(&format!("end {}\n", steps.len()));
        self.put(&directory.join(JOURNAL), text.as_bytes())
    }

    /// The steps that were decided; none when nothing was. A journal takes its name when it is whole.
    pub(super) fn read_decision(&self, directory: &Path) -> Result<Option<Vec<Step>>, StoreError> {
        let path = directory.join(JOURNAL);
        let mut bytes = Vec::new();
        match self.fs.stat(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => {
                let stat = result.map_err(|error| StoreError::io("inspect", &path, error))?;
                if stat.size > LONGEST {
                    return Ok(None);
                }
            }
        }
        self.read_file(&path, 0, &mut |chunk| bytes.extend_from_slice(chunk))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        if lines.next() != Some("ramus import 1") {
            return Ok(None);
        }
        let steps: Vec<Step> = lines.clone().map_while(|line| self.read_step(line)).collect();
        let is_whole = lines.nth(steps.len()) == Some(&*format!("end {}", steps.len()));
        Ok(is_whole.then_some(steps))
    }

    fn read_step(&self, line: &str) -> Option<Step> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut words = line.split(' ');
        let mut path = || Some(self.root.join(std::ffi::OsString::from_vec(hex::decode(words.next()?).ok()?)));
        let (staged, target) = (path()?, path()?);
        let id = String::from_utf8(hex::decode(words.next()?).ok()?).ok()?;
        let residence = if words.next()? == "draft" { Residence::Draft } else { Residence::Published };
        let replaces = match words.next()? {
            "-" => None,
            len => Some(len.parse().ok()?),
        };
        Some(Step { staged, target, id: SessionId::from(&*id), residence, replaces })
    }

    pub(super) fn remove_stage(&self, directory: &Path) -> Result<(), StoreError> {
        // The journal last: as long as it is there, its steps can be done again.
        let mut names = self.entries(directory)?;
        names.sort_by_key(|entry| entry.name == JOURNAL);
        for entry in names {
            let path = directory.join(entry.name);
            self.fs.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
        }
        // An empty directory harms nobody.
        let _ = self.fs.remove_dir(directory);
        Ok(())
    }
}

impl Staging for JsonlStore {
    fn stage(&self) -> Result<Box<dyn Stage + '_>, StoreError> {
        let lock = self.hold_imports()?;
        self.settle_under_lock()?;
        let directory = self.imports().join(uuid::Uuid::new_v4().simple().to_string());
        self.own_dir(&directory)?;
        Ok(Box::new(JsonlStage {
            store: self,
            lock,
            directory,
            open: None,
            written: Vec::new(),
            steps: Vec::new(),
            count: 0,
            is_decided: false,
        }))
    }

    fn settle_staged(&self) -> Result<usize, StoreError> {
        let stages: Vec<_> = self.entries(&self.imports())?.into_iter().filter(|entry| entry.is_dir).collect();
        if stages.is_empty() {
            return Ok(0);
        }
        // An import that runs is not waited for as long as nothing of it is to appear: it may take hours.
        let is_decided = |stage: &DirEntry| self.fs.stat(&self.imports().join(&stage.name).join(JOURNAL)).is_ok();
        let lock = if stages.iter().any(is_decided) {
            self.hold_imports()?
        } else {
            let (path, lock) = self.lock_file(LOCK)?;
            let is_free = lock.acquire(Hold::Exclusive, Duration::ZERO);
            if !is_free.map_err(|error| StoreError::io("lock", &path, error))? {
                return Ok(0);
            }
            lock
        };
        let settled = self.settle_under_lock();
        let _ = lock.release();
        settled
    }

    fn is_imported(&self, id: &SessionId) -> Result<bool, StoreError> {
        let path = self.mark_path(id);
        match self.fs.stat(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("inspect", &path, error)),
        }
    }
}

impl JsonlStage<'_> {
    /// Makes durable what was written so far. Many files are written out faster together than one after the other.
    fn confirm(&mut self) -> Result<(), StoreError> {
        let mut written = std::mem::take(&mut self.written);
        let unconfirmed = |path: &Path, source| StoreError::Unconfirmed { path: path.to_owned(), source };
        if written.len() >= MANY
            && let Some((path, first)) = written.first_mut()
        {
            match first.sync_file_system() {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                result => return result.map_err(|source| unconfirmed(path, source)),
            }
        }
        written.iter_mut().try_for_each(|(path, file)| file.sync().map_err(|source| unconfirmed(path, source)))
    }
}

impl Stage for JsonlStage<'_> {
    fn begin(&mut self) -> Result<(), StoreError> {
        let path = self.directory.join(format!("{}.jsonl", self.count));
        self.count += 1;
        let file = self.store.fs.create_file(&path).map_err(|error| StoreError::io("create", &path, error))?;
        self.open = Some((path, file));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let Some((path, file)) = &mut self.open else { return Ok(()) };
        let written = write_all(file.as_mut(), bytes).map_err(|error| StoreError::io("write", path, error));
        written.map_err(|error| self.store.measured(error))
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let Some((path, _)) = &self.open else { return Ok(Vec::new()) };
        let file = self.store.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let mut bytes = vec![0; len];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, offset + filled as u64).map_err(|error| StoreError::io("read", path, error))? {
                0 => break,
                read => filled += read,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn end(&mut self, destination: Option<Destination<'_>>) -> Result<(), StoreError> {
        let Some((staged, file)) = self.open.take() else { return Ok(()) };
        let Some(destination) = destination else {
            // It is removed with the stage otherwise; a long import should not keep what it does not want.
            let _ = self.store.fs.remove(&staged);
            return Ok(());
        };
        file.begin_sync();
        self.written.push((staged.clone(), file));
        if self.written.len() >= TOGETHER {
            self.confirm()?;
        }
        let step = match destination {
            Destination::New(new) => {
                let target =
                    self.store.directory(new.placement, new.cwd).join(layout::file_name(new.timestamp, &new.id));
                let residence = match new.placement {
                    Placement::Draft => Residence::Draft,
                    Placement::Published => Residence::Published,
                };
                Step { staged, target, id: new.id, residence, replaces: None }
            }
            Destination::Extends(at, position) => {
                let target = path_of(at)?.to_owned();
                let stat = self.store.fs.stat(&target).map_err(|error| StoreError::io("inspect", &target, error))?;
                if incarnation(stat.id) != position.incarnation {
                    return Err(StoreError::Replaced { path: target });
                }
                Step { staged, target, id: at.id.clone(), residence: at.residence, replaces: Some(position.end) }
            }
        };
        self.steps.push(step);
        Ok(())
    }

    fn publish(mut self: Box<Self>) -> Result<Vec<Location>, StoreError> {
        let store = self.store;
        if self.steps.is_empty() {
            return Ok(Vec::new());
        }
        self.confirm()?;
        store.mark_imported(self.steps.iter().filter(|step| step.replaces.is_none()).map(|step| &step.id))?;
        let directories: BTreeSet<&Path> = self.steps.iter().filter_map(|step| step.target.parent()).collect();
        for directory in directories {
            store.own_dir(directory)?;
        }
        store.sync_dir_of(&self.directory.join(JOURNAL))?;
        store.write_decision(&self.directory, &self.steps).map_err(|error| store.measured(error))?;
        self.is_decided = true;
        store.carry_out(&self.steps)?;
        let located = |step: &Step| {
            let path = Some(step.target.clone());
            Location { id: step.id.clone(), residence: step.residence, path }
        };
        let locations: Vec<Location> = self.steps.iter().map(located).collect();
        for location in &locations {
            // What was remembered of the old file is not believed of the new one; it only takes space.
            let _ = store.discard(location);
        }
        store.remove_stage(&self.directory)?;
        Ok(locations)
    }
}

impl Drop for JsonlStage<'_> {
    fn drop(&mut self) {
        self.open = None;
        // What is decided is finished by whoever comes next; what is not is nobody's.
        if !self.is_decided {
            let _ = self.store.remove_stage(&self.directory);
        }
        // A lock that cannot be freed is freed with its descriptor.
        let _ = self.lock.release();
    }
}
