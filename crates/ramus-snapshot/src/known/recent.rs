//! The few files that changed since all of them were written: what is known of each, or that it is gone.

use gix_hash::ObjectId;
use hashbrown::HashMap;

use super::base::Base;
use super::bytes::{checked, read, seal, take_id, take_u32, write};
use super::{Kept, Update, split};

/// The first bytes of the file; the last one is its version.
const SIGNATURE: &[u8; 8] = b"ramuskr\x01";

/// The names in a directory: the number of each among the recent ones, and what is known, unless it is gone.
pub(super) type Names = HashMap<Vec<u8>, (usize, Option<Kept>)>;

/// The files that changed, each once.
#[derive(Default)]
pub(super) struct Recent {
    files: Vec<(Vec<u8>, Option<Kept>)>,
    directories: HashMap<Vec<u8>, Names>,
}

impl Recent {
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &Option<Kept>)> {
        self.files.iter().map(|(path, kept)| (&**path, kept))
    }

    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.files.get(number).map_or(&[], |(path, _)| path)
    }

    /// The files right in a directory.
    pub(super) fn within(&self, directory: &[u8]) -> Option<&Names> {
        self.directories.get(directory)
    }

    /// Returns what is said of a file, if anything is.
    pub(super) fn find(&self, path: &[u8]) -> Option<Option<Kept>> {
        let (directory, name) = split(path);
        self.within(directory)?.get(name).map(|(_, kept)| *kept)
    }

    fn set(&mut self, path: Vec<u8>, kept: Option<Kept>) {
        let (directory, name) = split(&path);
        let names = self.directories.entry_ref(directory).or_default();
        let (number, said) = names.entry_ref(name).or_insert((self.files.len(), kept));
        *said = kept;
        match self.files.get_mut(*number) {
            Some((_, said)) => *said = kept,
            None => self.files.push((path, kept)),
        }
    }

    /// These files after an update.
    pub(super) fn with(&self, update: Update) -> Self {
        let mut all = Self::default();
        let gone = update.gone.into_iter().map(|path| (path, None));
        let there = update.there.into_iter().map(|(path, kept)| (path, Some(kept)));
        for (path, kept) in self.files.iter().cloned().chain(gone).chain(there) {
            all.set(path, kept);
        }
        all
    }

    /// Reads what was written beside a base, and the directory that both make; none when it is damaged or belongs to
    /// another base.
    pub(super) fn decode(bytes: &[u8], base: &Base) -> Option<(Self, ObjectId)> {
        let (body, _) = checked(bytes)?;
        let mut rest = body.strip_prefix(SIGNATURE)?;
        (take_u32(&mut rest)? == base.checksum).then_some(())?;
        let root = take_id(&mut rest)?;
        let mut all = Self::default();
        while !rest.is_empty() {
            let length = take_u32(&mut rest)? as usize;
            let (path, behind) = rest.split_at_checked(length)?;
            rest = behind;
            let is_there = take_u32(&mut rest)? == 1;
            all.set(path.to_vec(), if is_there { Some(read(&mut rest)?) } else { None });
        }
        Some((all, root))
    }

    /// Returns the bytes to keep beside a base.
    pub(super) fn encode(&self, root: &ObjectId, base: &Base) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend_from_slice(&base.checksum.to_le_bytes());
        bytes.extend_from_slice(root.as_slice());
        for (path, kept) in self.iter() {
            bytes.extend_from_slice(&u32::try_from(path.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend_from_slice(path);
            bytes.extend_from_slice(&u32::from(kept.is_some()).to_le_bytes());
            if let Some(kept) = kept {
                write(&mut bytes, kept);
            }
        }
        seal(&mut bytes);
        bytes
    }
}
