//! Whether a working copy of git's differs from what was committed last: what `git status` would tell, without git.
//!
//! Everything in a repository is read as hostile: sizes are bounded, no link is followed, nothing is run. What cannot be
//! told for certain is not told: filters, line endings that may be converted, submodules.

mod commit;
mod index;
mod stranger;
mod tracked;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix_hash::ObjectId;
use hashbrown::HashSet;

use index::Index;

/// A working copy, and where git keeps what it knows about it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingCopy<'a> {
    /// The directory.
    pub top: &'a Path,
    /// The git directory of this working copy, which has its index.
    pub own: &'a Path,
    /// The git directory that has the objects.
    pub common: &'a Path,
    /// The commit that is checked out; none before the first.
    pub head: Option<&'a str>,
    /// Whether git looks at who may execute a file.
    pub heeds_modes: bool,
}

/// Whether a working copy differs from what was committed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dirtiness {
    /// It does not.
    Clean,
    /// It does: a tracked file differs, or there is one that is neither tracked nor ignored.
    Dirty,
    /// It cannot be told, for this reason.
    Unknown(&'static str),
}

impl WorkingCopy<'_> {
    /// Finds out whether it differs.
    pub fn dirtiness(&self) -> Dirtiness {
        self.examine().unwrap_or_else(Dirtiness::Unknown)
    }

    fn examine(&self) -> Result<Dirtiness, &'static str> {
        let index = Index::read(&self.own.join("index"), self.is_long())?;
        if index.is_unmerged || index.tree()? != self.committed()? {
            return Ok(Dirtiness::Dirty);
        }
        let names: HashSet<&[u8]> = index.entries.iter().map(|entry| &*entry.path).collect();
        // Whoever finds that it differs saves the other the rest.
        let is_over = AtomicBool::new(false);
        let (tracked, strangers) = std::thread::scope(|scope| {
            let strangers = scope.spawn(|| stranger::look(self.top, &names, &is_over));
            let tracked = tracked::look(self, &index, &is_over);
            (tracked, strangers.join().unwrap_or(Dirtiness::Unknown("who looked for new files died")))
        });
        let is_dirty = [tracked, strangers].contains(&Dirtiness::Dirty);
        let doubt = [tracked, strangers].into_iter().find(|found| matches!(found, Dirtiness::Unknown(_)));
        Ok(if is_dirty { Dirtiness::Dirty } else { doubt.unwrap_or(Dirtiness::Clean) })
    }

    /// Whether names have 64 digits.
    fn is_long(&self) -> bool {
        self.head.is_some_and(|head| head.len() == 64)
    }

    /// The tree of the commit that is checked out.
    fn committed(&self) -> Result<Name, &'static str> {
        let Some(head) = self.head else { return Ok(Name::Short(ObjectId::empty_tree(crate::pack::HASH))) };
        let head = Name::parse(head.as_bytes()).ok_or("the commit has no name that git gives")?;
        commit::tree_of(&self.common.join("objects"), head)
    }
}

/// The name of an object in a repository, of either length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Short(ObjectId),
    Long([u8; 32]),
}

impl Name {
    fn parse(hex: &[u8]) -> Option<Self> {
        let mut long = [0; 32];
        match hex.len() {
            40 => ObjectId::from_hex(hex).ok().map(Self::Short),
            64 => hex::decode_to_slice(hex, &mut long).ok().map(|()| Self::Long(long)),
            _ => None,
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            20 => ObjectId::try_from(bytes).ok().map(Self::Short),
            _ => bytes.try_into().ok().map(Self::Long),
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(id) => id.as_slice(),
            Self::Long(bytes) => bytes,
        }
    }

    /// Names content as git does.
    fn of(kind: gix_object::Kind, content: &[u8], is_long: bool) -> Option<Self> {
        if !is_long {
            return gix_object::compute_hash(crate::pack::HASH, kind, content).ok().map(Self::Short);
        }
        use sha2::Digest as _;
        let mut hash = sha2::Sha256::new();
        hash.update(format!("{kind} {}\0", content.len()));
        hash.update(content);
        Some(Self::Long(hash.finalize().into()))
    }
}
