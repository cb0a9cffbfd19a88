//! The one object that is read from a repository: the commit that is checked out, for the tree it names. It may lie in a
//! file of its own or in a pack, there as a difference to others.
//!
//! Nothing grows with what a file claims: how much is read and unpacked, and how long a chain of differences is, is bounded.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gix_zlib::Inflate;
use rustix::fs::OFlags;

use super::Name;

/// The largest commit.
const LARGEST: usize = 1 << 20;

/// The longest chain of differences; git makes none longer than 50 unless it is told to.
const DEEPEST: usize = 256;

/// The most packs.
const MOST: usize = 4_096;

const MISSING: &str = "the commit that is checked out cannot be read";

/// Returns the tree of a commit.
pub(super) fn tree_of(objects: &Path, commit: Name) -> Result<Name, &'static str> {
    let content = loose(objects, commit).or_else(|| packed(objects, commit)).ok_or(MISSING)?;
    let line = content.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"tree "));
    line.and_then(Name::parse).ok_or(MISSING)
}

fn loose(objects: &Path, commit: Name) -> Option<Vec<u8>> {
    let hex = hex::encode(commit.as_bytes());
    let (directory, file) = hex.split_at_checked(2)?;
    let file = open(&objects.join(directory).join(file))?;
    let mut bytes = vec![0; LARGEST];
    let len = read_some(&file, &mut bytes, 0)?;
    let content = inflate(bytes.get(..len)?, LARGEST)?;
    let end = content.iter().position(|byte| *byte == 0)?;
    content.starts_with(b"commit ").then(|| content.get(end + 1..).map(<[u8]>::to_vec)).flatten()
}

fn packed(objects: &Path, commit: Name) -> Option<Vec<u8>> {
    let entries = std::fs::read_dir(objects.join("pack")).ok()?;
    let paths = entries.take(2 * MOST).filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "idx")).find_map(|path| {
        let pack = Pack::open(path, commit.as_bytes().len())?;
        pack.content(pack.find(commit)?)
    })
}

/// A pack of somebody else's.
struct Pack {
    index: File,
    data: File,
    /// How many bytes a name has.
    width: usize,
}

/// What an entry of a pack is.
enum Kind {
    Commit,
    /// A difference to what is so many bytes before.
    Before(u64),
    /// A difference to another object.
    Other(Vec<u8>),
}

impl Pack {
    fn open(index: PathBuf, width: usize) -> Option<Self> {
        let data = open(&index.with_extension("pack"))?;
        Some(Self { index: open(&index)?, data, width })
    }

    fn number(&self, at: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.index.read_exact_at(&mut bytes, at).ok()?;
        Some(u32::from_be_bytes(bytes))
    }

    /// Returns where an object is.
    fn find(&self, name: Name) -> Option<u64> {
        if self.number(0)? != 0xff74_4f63 || self.number(4)? != 2 {
            return None;
        }
        let wanted = name.as_bytes();
        let width = wanted.len() as u64;
        let first = u64::from(*wanted.first()?);
        let fan = |byte: u64| self.number(8 + 4 * byte).map(u64::from);
        let (mut low, mut high) = (if first == 0 { 0 } else { fan(first - 1)? }, fan(first)?);
        let total = fan(255)?;
        let names = 8 + 256 * 4;
        let mut found = vec![0; wanted.len()];
        while low < high {
            let middle = low + (high - low) / 2;
            self.index.read_exact_at(&mut found, names + middle * width).ok()?;
            match found.as_slice().cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle, names + total * (width + 4), total),
            }
        }
        None
    }

    fn offset(&self, number: u64, offsets: u64, total: u64) -> Option<u64> {
        let offset = self.number(offsets + 4 * number)?;
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let at = offsets + 4 * total + 8 * u64::from(offset & 0x7fff_ffff);
        let mut bytes = [0; 8];
        self.index.read_exact_at(&mut bytes, at).ok()?;
        Some(u64::from_be_bytes(bytes))
    }

    /// Returns the content of a commit, however many differences it is made of.
    fn content(&self, offset: u64) -> Option<Vec<u8>> {
        let mut differences: Vec<Vec<u8>> = Vec::new();
        let mut offset = offset;
        loop {
            let (kind, content) = self.entry(offset)?;
            match kind {
                Kind::Commit => {
                    return differences.iter().rev().try_fold(content, |base, difference| apply(&base, difference));
                }
                Kind::Before(distance) => offset = offset.checked_sub(distance)?,
                Kind::Other(name) => offset = self.find(Name::from_bytes(&name)?)?,
            }
            differences.push(content);
            if differences.len() > DEEPEST {
                return None;
            }
        }
    }

    fn entry(&self, offset: u64) -> Option<(Kind, Vec<u8>)> {
        let mut bytes = vec![0; LARGEST];
        let len = read_some(&self.data, &mut bytes, offset)?;
        bytes.truncate(len);
        let mut rest = bytes.iter().copied();
        let mut byte = rest.next()?;
        let kind = (byte >> 4) & 7;
        while byte & 0x80 != 0 {
            byte = rest.next()?;
        }
        let kind = match kind {
            1 => Kind::Commit,
            6 => {
                byte = rest.next()?;
                let mut distance = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = rest.next()?;
                    distance = distance.checked_add(1)?.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
                }
                Kind::Before(distance).filter_zero()?
            }
            7 => Kind::Other(rest.by_ref().take(self.width).collect()),
            _ => return None,
        };
        let start = bytes.len() - rest.len();
        Some((kind, inflate(bytes.get(start..)?, LARGEST)?))
    }
}

impl Kind {
    /// A difference to itself is none.
    fn filter_zero(self) -> Option<Self> {
        (!matches!(self, Self::Before(0))).then_some(self)
    }
}

/// Makes an object of another one and a difference.
fn apply(base: &[u8], difference: &[u8]) -> Option<Vec<u8>> {
    let mut rest = difference.iter().copied();
    let size = |rest: &mut dyn Iterator<Item = u8>| {
        let (mut size, mut shift) = (0_usize, 0);
        loop {
            let byte = rest.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (from, to) = (size(&mut rest)?, size(&mut rest)?);
    if from != base.len() || to > LARGEST {
        return None;
    }
    let mut out = Vec::new();
    while let Some(command) = rest.next() {
        if command & 0x80 == 0 {
            let before = out.len();
            out.extend(rest.by_ref().take(usize::from(command)));
            (command != 0 && out.len() == before + usize::from(command)).then_some(())?;
        } else {
            let mut part = |bits: std::ops::Range<u8>| {
                let mut number = 0_usize;
                for (place, bit) in bits.enumerate() {
                    if command & (1 << bit) != 0 {
                        number |= usize::from(rest.next()?) << (8 * place);
                    }
                }
                Some(number)
            };
            let (start, count) = (part(0..4)?, part(4..7)?);
            let count = if count == 0 { 0x1_0000 } else { count };
            out.extend_from_slice(base.get(start..start.checked_add(count)?)?);
        }
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}

/// Unpacks at most so much; what would be larger is none.
fn inflate(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; most];
    let (status, _, len) = Inflate::default().once(bytes, &mut out).ok()?;
    out.truncate(len);
    (status == gix_zlib::Status::StreamEnd).then_some(out)
}

fn open(path: &Path) -> Option<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// Reads as much as there is, up to the length of the buffer.
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> Option<usize> {
    let mut len = 0;
    while let Some(rest) = buffer.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.checked_add(len as u64)?) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(len)
}
