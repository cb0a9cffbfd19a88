//! Reading the content of files that changed, hashing and packing it, on all cores.
//!
//! A file is opened without following any link on the way, so that nothing outside of the directory gets in.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;
use hashbrown::HashSet;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::known::{Kept, Look, path_of};
use crate::objects::Objects;
use crate::pack::{Finished, HASH, Pack};

/// A pack is closed when it has so many bytes, which bounds the memory.
const PACK_SIZE: usize = 48 << 20;

/// How often a file is read that changes while it is read.
const TRIES: usize = 3;

/// What was read.
#[derive(Default)]
pub(crate) struct Contents {
    /// Each file, with its number among those asked for. One that went away meanwhile is not among them.
    pub(crate) files: Vec<(usize, Kept)>,
    /// Packs that are complete.
    pub(crate) packs: Vec<Finished>,
    /// Files that could not be read, and why.
    pub(crate) unread: Vec<(usize, &'static str)>,
}

/// Reads files beneath a directory.
pub(crate) struct Reader<'a> {
    pub(crate) root: &'a File,
    pub(crate) objects: &'a Objects,
    pub(crate) limit: u64,
}

impl Reader<'_> {
    /// Reads all files.
    pub(crate) fn read(&self, files: &[(Vec<u8>, Look)]) -> Result<Contents, SnapshotError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let threads = threads.min(files.len().div_ceil(16)).max(1);
        let (next, packed) = (AtomicUsize::new(0), Mutex::new(HashSet::new()));
        let work = || self.work(files, &next, &packed);
        let results: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let died = |_| Err(SnapshotError::Damaged { reason: "a reader died".into() });
            others.into_iter().map(|other| other.join().unwrap_or_else(died)).chain([own]).collect()
        });
        let mut all = Contents::default();
        for result in results {
            let mut one = result?;
            all.files.append(&mut one.files);
            all.packs.append(&mut one.packs);
            all.unread.append(&mut one.unread);
        }
        Ok(all)
    }

    fn work(
        &self,
        files: &[(Vec<u8>, Look)],
        next: &AtomicUsize,
        packed: &Mutex<HashSet<ObjectId>>,
    ) -> Result<Contents, SnapshotError> {
        let (mut contents, mut pack, mut buffer) = (Contents::default(), Pack::default(), Vec::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((path, look)) = files.get(number) else { break };
            let (look, kind) = match self.content(path_of(path), *look, &mut buffer) {
                Ok(Some(content)) => content,
                Ok(None) => {
                    contents.unread.push((number, "it changed while it was read"));
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    contents.unread.push((number, "it may not be read"));
                    continue;
                }
                Err(error) if is_another(&error) => {
                    contents.unread.push((number, "it changed while it was read"));
                    continue;
                }
                Err(cause) => return Err(SnapshotError::io("read", path_of(path))(cause)),
            };
            let id = gix_object::compute_hash(HASH, Kind::Blob, &buffer);
            let id = id.map_err(|cause| SnapshotError::Hash { reason: cause.to_string() })?;
            if !self.objects.has(&id) && packed.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
                pack.add(Kind::Blob, id, &buffer)?;
            }
            contents.files.push((number, Kept { look, kind, id, is_settled: false }));
            if pack.len() > PACK_SIZE {
                contents.packs.push(std::mem::take(&mut pack).finish()?);
            }
        }
        if !pack.is_empty() {
            contents.packs.push(pack.finish()?);
        }
        Ok(contents)
    }

    /// Reads one file. None: it changed each time it was read, or is none any more.
    fn content(&self, path: &Path, look: Look, buffer: &mut Vec<u8>) -> io::Result<Option<(Look, EntryKind)>> {
        if look.is_link() {
            return link(self.root.as_fd(), path, look, buffer);
        }
        for _ in 0..TRIES {
            let mut file = open(self.root.as_fd(), path)?;
            let before = Look::of(&file.metadata()?);
            if !before.is_file() || before.size() > self.limit {
                return Ok(None);
            }
            buffer.clear();
            // One byte more tells a file that grows.
            let limit = before.size().saturating_add(1);
            (&mut file).take(limit).read_to_end(buffer)?;
            if buffer.len() as u64 == before.size() && Look::of(&file.metadata()?) == before {
                let kind = if before.is_executable() { EntryKind::BlobExecutable } else { EntryKind::Blob };
                return Ok(Some((before, kind)));
            }
        }
        Ok(None)
    }
}

/// Says whether something else took the place of a file after it was seen: a link, a directory, a socket.
fn is_another(error: &io::Error) -> bool {
    let error = Errno::from_io_error(error);
    matches!(error, Some(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::INVAL | Errno::NXIO | Errno::AGAIN))
}

/// Opens a file beneath a directory without following links.
pub(crate) fn open(root: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(File::from(rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)?))
}

/// Reads where a link points.
fn link(root: BorrowedFd<'_>, path: &Path, look: Look, buffer: &mut Vec<u8>) -> io::Result<Option<(Look, EntryKind)>> {
    let (directory, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
    let target = if directory.as_os_str().is_empty() {
        rustix::fs::readlinkat(root, name, Vec::new())?
    } else {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let directory = rustix::fs::openat2(root, directory, flags, Mode::empty(), resolve)?;
        rustix::fs::readlinkat(&directory, name, Vec::new())?
    };
    *buffer = target.into_bytes();
    Ok(Some((look, EntryKind::Link)))
}
