//! All files of a directory, read as they lie on the disk: nothing is taken apart before it is asked for.
//!
//! ```text
//! signature, root, number of directories, number of files
//! per directory, by path:  where its path ends, which file is its last
//! per file:                where its name ends, what is known of it
//! the paths of the directories, the names of the files, the checksum
//! ```
//!
//! The files of a directory come in the order in which the system lists them, which is the order they are asked for.

use std::io;
use std::ops::Range;

use gix_hash::ObjectId;
use hashbrown::HashMap;

use super::bytes::{KEPT, checked, read, seal, take_id, take_u32, write};
use super::{Kept, split};

/// The first bytes of the file; the last one is its version.
const SIGNATURE: &[u8; 8] = b"ramusks\x02";

/// How many bytes a directory and a file take.
const DIRECTORY: usize = 4 + 4;
const FILE: usize = 4 + KEPT;

/// The files that are kept.
#[derive(Default)]
pub(super) struct Base {
    bytes: Vec<u8>,
    directories: Range<usize>,
    files: Range<usize>,
    texts: Range<usize>,
    /// What tells this one from others.
    pub(super) checksum: u32,
}

impl Base {
    /// Reads what was written, and the directory that it makes; none when it is damaged or of another version.
    pub(super) fn decode(bytes: Vec<u8>) -> Option<(Self, ObjectId)> {
        let (body, checksum) = checked(&bytes)?;
        let mut rest = body.strip_prefix(SIGNATURE)?;
        let root = take_id(&mut rest)?;
        let (directories, files) = (take_u32(&mut rest)? as usize, take_u32(&mut rest)? as usize);
        let (start, end) = (body.len() - rest.len(), body.len());
        let behind = start.checked_add(directories.checked_mul(DIRECTORY)?)?;
        let texts = behind.checked_add(files.checked_mul(FILE)?)?;
        (texts <= end).then_some(())?;
        Some((Self { directories: start..behind, files: behind..texts, texts: texts..end, checksum, bytes }, root))
    }

    /// Returns the bytes to keep of files, each with its path.
    pub(super) fn encode(mut files: Vec<(Vec<u8>, Kept)>, root: &ObjectId) -> io::Result<Vec<u8>> {
        // Within a directory they stay as they are.
        files.sort_by(|(left, _), (right, _)| split(left).0.cmp(split(right).0));
        let short = |number: usize| u32::try_from(number).map_err(|_| io::Error::other("too many files are known"));
        let (mut directories, mut paths, mut last) = (Vec::new(), Vec::new(), 0);
        for group in files.chunk_by(|(left, _), (right, _)| split(left).0 == split(right).0) {
            paths.extend_from_slice(group.first().map_or(&[], |(path, _)| split(path).0));
            last += group.len();
            directories.extend_from_slice(&short(paths.len())?.to_le_bytes());
            directories.extend_from_slice(&short(last)?.to_le_bytes());
        }
        let (mut records, mut names) = (Vec::with_capacity(files.len() * FILE), Vec::new());
        for (path, kept) in &files {
            names.extend_from_slice(split(path).1);
            records.extend_from_slice(&short(paths.len() + names.len())?.to_le_bytes());
            write(&mut records, kept);
        }
        let mut bytes = Vec::with_capacity(64 + directories.len() + records.len() + paths.len() + names.len());
        bytes.extend_from_slice(SIGNATURE);
        bytes.extend_from_slice(root.as_slice());
        bytes.extend_from_slice(&short(directories.len() / DIRECTORY)?.to_le_bytes());
        bytes.extend_from_slice(&short(files.len())?.to_le_bytes());
        for part in [&directories, &records, &paths, &names] {
            bytes.extend_from_slice(part);
        }
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Returns how many files there are.
    pub(super) fn len(&self) -> usize {
        self.files.len() / FILE
    }

    /// Returns all files.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Vec<u8>, Kept)> {
        (0..self.directories.len() / DIRECTORY).flat_map(move |directory| {
            let (path, files) = self.directory(directory);
            files.filter_map(move |number| Some(([path, self.name(number)].concat(), self.kept(number)?)))
        })
    }

    /// Returns the path of a file.
    pub(super) fn path(&self, number: usize) -> Vec<u8> {
        let directory = self.search(|directory| directory.1.end <= number);
        [self.directory(directory).0, self.name(number)].concat()
    }

    /// Returns the number of a file.
    pub(super) fn find(&self, path: &[u8]) -> Option<usize> {
        let (directory, name) = split(path);
        self.within(directory).find(name).map(|(number, _)| number)
    }

    /// The files right in a directory.
    pub(super) fn within(&self, path: &[u8]) -> Within<'_> {
        let directory = self.search(|directory| directory.0 < path);
        let (found, files) = self.directory(directory);
        let files = if found == path { files } else { 0..0 };
        Within { base: self, next: files.start, files, names: None }
    }

    /// Returns the first directory for which something does not hold; it holds for all before.
    fn search(&self, holds: impl Fn((&[u8], Range<usize>)) -> bool) -> usize {
        let mut range = 0..self.directories.len() / DIRECTORY;
        while !range.is_empty() {
            let middle = range.start.midpoint(range.end);
            range = if holds(self.directory(middle)) { middle + 1..range.end } else { range.start..middle };
        }
        range.start
    }

    /// The path of a directory and the numbers of its files.
    fn directory(&self, number: usize) -> (&[u8], Range<usize>) {
        let ends = |number: usize| {
            let at = self.directories.start + number * DIRECTORY;
            let mut rest = self.bytes.get(at..self.directories.end)?;
            Some((take_u32(&mut rest)? as usize, take_u32(&mut rest)? as usize))
        };
        let (start, first) = number.checked_sub(1).and_then(ends).unwrap_or_default();
        let Some((end, last)) = ends(number) else { return (&[], 0..0) };
        (self.text(start..end), first..last)
    }

    fn text(&self, range: Range<usize>) -> &[u8] {
        let texts = self.bytes.get(self.texts.clone()).unwrap_or_default();
        texts.get(range).unwrap_or_default()
    }

    fn record(&self, number: usize) -> Option<&[u8]> {
        let at = self.files.start.checked_add(number.checked_mul(FILE)?)?;
        self.bytes.get(at..self.files.end)
    }

    fn name(&self, number: usize) -> &[u8] {
        let end = |number: usize| take_u32(&mut self.record(number)?).map(|end| end as usize);
        // The names follow the paths of the directories.
        let paths = || self.directories.len().checked_sub(DIRECTORY).and_then(|at| self.path_end(at)).unwrap_or(0);
        let start = number.checked_sub(1).and_then(end).unwrap_or_else(paths);
        end(number).map(|end| self.text(start..end)).unwrap_or_default()
    }

    fn path_end(&self, at: usize) -> Option<usize> {
        let mut rest = self.bytes.get(self.directories.start + at..self.directories.end)?;
        take_u32(&mut rest).map(|end| end as usize)
    }

    fn kept(&self, number: usize) -> Option<Kept> {
        read(&mut self.record(number)?.get(4..)?)
    }
}

/// The files right in a directory.
pub(super) struct Within<'a> {
    base: &'a Base,
    files: Range<usize>,
    /// The one that is asked for next if nothing changed.
    next: usize,
    /// All names, once one was asked for out of order.
    names: Option<HashMap<&'a [u8], usize>>,
}

impl Within<'_> {
    /// Returns a file and its number.
    pub(super) fn find(&mut self, name: &[u8]) -> Option<(usize, Kept)> {
        let number = if self.files.contains(&self.next) && self.base.name(self.next) == name {
            self.next
        } else if self.files.is_empty() {
            return None;
        } else {
            let (base, files) = (self.base, self.files.clone());
            let names = self.names.get_or_insert_with(|| files.map(|number| (base.name(number), number)).collect());
            *names.get(name)?
        };
        self.next = number + 1;
        Some((number, self.base.kept(number)?))
    }
}
