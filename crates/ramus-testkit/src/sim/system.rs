//! The file system itself: every call is counted, logged and judged by the faults before it has an effect.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use ramus_store::fs::{Access, DirEntry, FileHandle, FileId, FileSystem, LockFile, Stat};
use rustix::io::Errno;

use super::disk::{Disk, Event, History, Inode, NameChange, Node};
use super::fault::{Armed, Operation, OperationKind, Verdict};
use super::handle::{SimFile, SimLock};
use super::lock::Locks;

/// What is called inside an operation.
pub(super) type Hook = Box<dyn FnOnce() + Send>;

/// A file system in memory. Clones are handles on the same one.
#[derive(Clone, Default)]
pub struct SimFs(Arc<Mutex<State>>);

/// What the handles share.
#[derive(Default)]
pub(super) struct State {
    pub(super) disk: Disk,
    pub(super) locks: Locks,
    pub(super) recorded: History,
    pub(super) log: Vec<Operation>,
    pub(super) faults: Vec<Armed>,
    pub(super) crash_after: Option<usize>,
    /// Whether whoever calls is only looking: nothing is counted and nothing fails.
    pub(super) calm: bool,
    pub(super) hook: Option<(OperationKind, usize, Hook)>,
    next: u64,
    /// How often the content of each file changed.
    changes: HashMap<Inode, u128>,
    pub(super) syncs_after_failure: usize,
}

impl fmt::Debug for SimFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimFs({} operations)", self.state().log.len())
    }
}

impl State {
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn happen(&mut self, event: Event) {
        if let Event::Data(inode, _) = &event {
            *self.changes.entry(*inode).or_default() += 1;
        }
        self.disk.apply(&event);
        self.recorded.events.push(event);
    }

    fn judge(&mut self, kind: OperationKind, path: &Path, len: usize) -> io::Result<usize> {
        if self.calm {
            return Ok(len);
        }
        let off = self.crash_after.is_some_and(|last| self.log.len() >= last);
        // Every fault sees every operation, also those that another one fails.
        let verdicts: Vec<Verdict> = self.faults.iter_mut().map(|armed| armed.judge(kind, len)).collect();
        let worst = verdicts.into_iter().find(|verdict| *verdict != Verdict::Succeed).unwrap_or(Verdict::Succeed);
        let failed = off || worst != Verdict::Succeed;
        self.log.push(Operation { kind, path: path.to_owned(), failed });
        match worst {
            _ if off => Err(Errno::IO.into()),
            Verdict::Succeed => Ok(len),
            Verdict::WriteOnly(short) => Ok(short),
            Verdict::Fail(errno) => Err(errno.into()),
        }
    }

    fn inode(&self, path: &Path) -> io::Result<Inode> {
        match self.disk.live.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            Some(Node::Directory) => Err(Errno::ISDIR.into()),
            None => Err(Errno::NOENT.into()),
        }
    }

    fn check_parent(&self, path: &Path) -> io::Result<()> {
        if is_directory(&self.disk, path.parent().unwrap_or(path)) { Ok(()) } else { Err(Errno::NOENT.into()) }
    }

    fn check_free(&self, path: &Path) -> io::Result<()> {
        self.check_parent(path)?;
        let taken = self.disk.live.contains_key(path) || self.locks.exists(path);
        if taken { Err(Errno::EXIST.into()) } else { Ok(()) }
    }

    pub(super) fn stat_of(&self, inode: Inode) -> Stat {
        let size = self.disk.files.get(&inode).map_or(0, |file| file.live.len() as u64);
        let version = self.changes.get(&inode).copied().unwrap_or_default();
        Stat { id: FileId { device: 1, inode }, size, is_file: true, is_dir: false, version, ..directory_stat() }
    }
}

fn directory_stat() -> Stat {
    Stat {
        id: FileId { device: 1, inode: 0 },
        size: 0,
        is_file: false,
        is_dir: true,
        is_ours: true,
        is_private: true,
        changed: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
        version: 0,
    }
}

fn is_directory(disk: &Disk, path: &Path) -> bool {
    path.parent().is_none() || disk.live.get(path) == Some(&Node::Directory)
}

/// Paths are compared as they are written, without `.` in them.
pub(super) fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

impl SimFs {
    /// Makes a file system whose disk is in this state, all of it confirmed.
    pub(super) fn on(disk: Disk) -> Self {
        let next = disk.files.keys().max().copied().unwrap_or_default();
        Self(Arc::new(Mutex::new(State { disk, next, ..State::default() })))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed while it held the lock is over; what it left is as good as before.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an operation happen, or not: returns the state and how much a write may write.
    pub(super) fn begin(
        &self,
        kind: OperationKind,
        path: &Path,
        len: usize,
    ) -> io::Result<(MutexGuard<'_, State>, usize)> {
        let mut state = self.state();
        let hook = if state.calm { None } else { state.hook.take() };
        if let Some((wanted, at, hook)) = hook {
            match (wanted == kind, at) {
                (true, 1) => {
                    // Whoever the hook runs uses this file system too.
                    drop(state);
                    hook();
                    state = self.state();
                }
                (matches, at) => state.hook = Some((wanted, at - usize::from(matches), hook)),
            }
        }
        let allowed = state.judge(kind, path, len)?;
        Ok((state, allowed))
    }

    fn change_names(&self, kind: OperationKind, change: NameChange, about: &Path) -> io::Result<()> {
        let (mut state, _) = self.begin(kind, about, 0)?;
        state.happen(Event::Names(change));
        Ok(())
    }

    fn move_file(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        let (from, to) = (clean(from), clean(to));
        let (mut state, _) = self.begin(OperationKind::Rename, &from, 0)?;
        let inode = state.inode(&from)?;
        let free = if replace { state.check_parent(&to) } else { state.check_free(&to) };
        free?;
        state.happen(Event::Names(NameChange::Rename { from, to, inode }));
        Ok(())
    }
}

impl FileSystem for SimFs {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let path = clean(path);
        if is_directory(&self.state().disk, &path) {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(&path).to_owned();
        self.create_dir(&parent)?;
        let made = NameChange::Add { path: path.clone(), node: Node::Directory };
        self.change_names(OperationKind::Create, made, &path)?;
        self.sync_dir(&parent).inspect_err(|_| {
            // Whoever tries again must not take a directory that may vanish for one that stays.
            self.state().happen(Event::Names(NameChange::Remove { path }));
        })
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        let path = clean(path);
        let (mut state, _) = self.begin(OperationKind::Create, &path, 0)?;
        state.check_free(&path)?;
        let inode = state.number();
        state.disk.files.entry(inode).or_default();
        state.happen(Event::Names(NameChange::Add { path: path.clone(), node: Node::File(inode) }));
        drop(state);
        Ok(Box::new(SimFile::new(self.clone(), path, inode, Access::Append)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>> {
        let path = clean(path);
        let (state, _) = self.begin(OperationKind::Open, &path, 0)?;
        let inode = state.inode(&path)?;
        drop(state);
        Ok(Box::new(SimFile::new(self.clone(), path, inode, access)))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let path = clean(path);
        let (state, _) = self.begin(OperationKind::Inspect, &path, 0)?;
        if is_directory(&state.disk, &path) {
            return Ok(directory_stat());
        }
        if state.locks.exists(&path) {
            return Ok(state.stat_of(0));
        }
        Ok(state.stat_of(state.inode(&path)?))
    }

    fn make_private(&self, path: &Path) -> io::Result<()> {
        self.begin(OperationKind::Inspect, path, 0).map(drop)
    }

    fn touch(&self, path: &Path) -> io::Result<()> {
        let path = clean(path);
        let (state, _) = self.begin(OperationKind::Inspect, &path, 0)?;
        state.inode(&path).map(drop)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.move_file(from, to, true)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.move_file(from, to, false)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (clean(from), clean(to));
        let (mut state, _) = self.begin(OperationKind::Link, &from, 0)?;
        let inode = state.inode(&from)?;
        state.check_free(&to)?;
        state.happen(Event::Names(NameChange::Add { path: to, node: Node::File(inode) }));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let path = clean(path);
        let (mut state, _) = self.begin(OperationKind::Remove, &path, 0)?;
        state.inode(&path)?;
        state.happen(Event::Names(NameChange::Remove { path }));
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let path = clean(path);
        let (mut state, _) = self.begin(OperationKind::SyncDirectory, &path, 0)?;
        if !is_directory(&state.disk, &path) {
            return Err(Errno::NOENT.into());
        }
        state.happen(Event::DirectorySynced(path));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let path = clean(path);
        let (state, _) = self.begin(OperationKind::List, &path, 0)?;
        if !is_directory(&state.disk, &path) {
            return Err(Errno::NOENT.into());
        }
        let named = state.disk.live.iter().map(|(name, node)| (name, *node == Node::Directory));
        let named = named.chain(state.locks.names().map(|name| (name, false)));
        let children = named.filter(|(name, _)| name.parent() == Some(&path)).filter_map(|(name, is_dir)| {
            Some(DirEntry { name: name.file_name()?.to_owned(), is_dir, is_file: !is_dir })
        });
        let mut children: Vec<DirEntry> = children.collect();
        children.sort_unstable();
        Ok(children)
    }

    fn lock_file(&self, path: &Path) -> io::Result<Box<dyn LockFile>> {
        let path = clean(path);
        let (mut state, _) = self.begin(OperationKind::Lock, &path, 0)?;
        state.check_parent(&path)?;
        // Locks mean nothing after a crash, so their files are no part of the disk.
        state.locks.make(&path);
        let holder = state.number();
        drop(state);
        Ok(Box::new(SimLock::new(self.clone(), path, holder)))
    }
}
