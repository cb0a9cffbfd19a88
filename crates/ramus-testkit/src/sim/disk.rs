//! What is on a disk: what programs see, what the disk has confirmed, and the operations in between. The invariant: every
//! change is an [`Event`], so replaying the events of a run gives the same disk at each of its moments.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) type Inode = u64;
pub(super) type Bytes = Arc<Vec<u8>>;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Directory,
    File(Inode),
}

pub(super) type Names = BTreeMap<PathBuf, Node>;

/// A change of a file's content.
#[derive(Clone, Debug)]
pub(super) enum DataChange {
    Append { offset: usize, bytes: Bytes },
    Truncate { len: usize },
}

/// A change of names. Each is one unit: a crash keeps it or loses it as a whole.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Add { path: PathBuf, node: Node },
    Remove { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf, inode: Inode },
}

impl NameChange {
    /// The directory whose sync settles it.
    fn directory(&self) -> &Path {
        let (Self::Add { path, .. } | Self::Remove { path } | Self::Rename { to: path, .. }) = self;
        path.parent().unwrap_or(path)
    }

    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Self::Add { path, node } => {
                names.insert(path.clone(), *node);
            }
            Self::Remove { path } => {
                names.remove(path);
            }
            Self::Rename { from, to, inode } => {
                // When the name was lost before, or given to another file since, there is nothing to take away.
                if names.get(from) == Some(&Node::File(*inode)) {
                    names.remove(from);
                }
                names.insert(to.clone(), Node::File(*inode));
            }
        }
    }
}

/// Something that happened to the disk.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Data(Inode, DataChange),
    Names(NameChange),
    Synced(Inode),
    /// The disk refused to confirm: what was pending never becomes durable, and programs keep seeing it.
    SyncFailed(Inode),
    DirectorySynced(PathBuf),
}

/// One file.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) live: Bytes,
    pub(super) durable: Bytes,
    pub(super) pending: Vec<DataChange>,
    /// Ranges that programs see and the disk dropped.
    pub(super) phantom: Vec<Range<usize>>,
}

impl File {
    fn change(&mut self, change: &DataChange) {
        apply(change, Arc::make_mut(&mut self.live));
        if let DataChange::Truncate { len } = change {
            self.phantom.retain_mut(|range| {
                range.end = range.end.min(*len);
                range.start < range.end
            });
        }
        self.pending.push(change.clone());
    }

    fn sync(&mut self) {
        self.pending.clear();
        self.durable = Arc::clone(&self.live);
        for range in &self.phantom {
            if let Some(lost) = Arc::make_mut(&mut self.durable).get_mut(range.clone()) {
                lost.fill(0);
            }
        }
    }

    fn fail_sync(&mut self) {
        let end = self.live.len();
        for change in self.pending.drain(..) {
            if let DataChange::Append { offset, bytes } = change {
                let range = offset.min(end)..(offset + bytes.len()).min(end);
                self.phantom.extend((range.start < range.end).then_some(range));
            }
        }
    }
}

/// Changes content as one operation does; a gap that lost operations left reads as zeros.
pub(super) fn apply(change: &DataChange, content: &mut Vec<u8>) {
    match change {
        DataChange::Append { offset, bytes } => {
            let end = offset + bytes.len();
            content.resize(content.len().max(end), 0);
            if let Some(place) = content.get_mut(*offset..end) {
                place.copy_from_slice(bytes);
            }
        }
        DataChange::Truncate { len } => content.resize(*len, 0),
    }
}

/// A disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) files: BTreeMap<Inode, File>,
    pub(super) live: Names,
    pub(super) durable: Names,
    pub(super) pending: Vec<NameChange>,
}

impl Disk {
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Data(inode, change) => self.files.entry(*inode).or_default().change(change),
            Event::Synced(inode) => self.files.entry(*inode).or_default().sync(),
            Event::SyncFailed(inode) => self.files.entry(*inode).or_default().fail_sync(),
            Event::Names(change) => {
                change.apply(&mut self.live);
                self.pending.push(change.clone());
            }
            Event::DirectorySynced(directory) => {
                let Self { pending, durable, .. } = self;
                pending.retain(|change| {
                    let settled = change.directory() == directory;
                    if settled {
                        change.apply(durable);
                    }
                    !settled
                });
            }
        }
    }
}

/// What happened to a disk since recording began.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub(super) start: Disk,
    pub(super) events: Vec<Event>,
}

impl History {
    /// Returns how many changes were recorded.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Says whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}
