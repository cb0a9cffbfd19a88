//! The file of a DETS table, version 9: slots that lead to blocks, and blocks that hold objects.

use sha2::{Digest as _, Sha256};

use super::term::Term;

/// What every DETS file has at byte 4.
pub(crate) const COOKIE: [u8; 4] = [0x00, 0xab, 0xcd, 0xef];
const VERSION: u32 = 9;
const SET: u32 = 1;
/// Where blocks begin: behind the header and the pointers to segments.
const BASE: usize = 1336;
const ACTIVE: u32 = 0x1234_5678;
/// Slots of a segment, and segments of a part of their table.
const SEGMENT: usize = 256;
const PART: usize = 512;

/// An object of a table: the bytes of its term, and the term.
pub(super) struct Object<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) term: Term,
}

/// Reads the objects of a table; none when the bytes are no table. The flag says whether the table was closed properly: if
/// not, blocks are looked for instead of followed.
pub(super) fn read(bytes: &[u8]) -> Option<(Vec<Object<'_>>, bool)> {
    let header = |at: usize| word(bytes, at);
    let known = bytes.get(4..8)? == COOKIE && header(12)? == SET && header(16)? == VERSION && header(28)? == 1;
    known.then_some(())?;
    let is_closed = header(8)? == 1;
    let followed = if is_closed { follow(bytes, header(24)? as usize, header(32)? as usize) } else { None };
    let is_whole = followed.is_some();
    Some((followed.unwrap_or_else(|| search(bytes)), is_whole))
}

/// Follows every slot; none when something is not where it should be, or objects are missing.
fn follow(bytes: &[u8], slots: usize, count: usize) -> Option<Vec<Object<'_>>> {
    // A slot takes eight bytes of the file.
    (slots <= bytes.len() / 8 + SEGMENT).then_some(())?;
    let mut objects = Vec::new();
    for slot in 0..slots {
        let segment = slot / SEGMENT;
        let part = word(bytes, 312 + 4 * (segment / PART))? as usize;
        if part == 0 {
            continue;
        }
        let start = word(bytes, part.checked_add(4 * (segment % PART))?)? as usize;
        if start == 0 {
            continue;
        }
        let place = start.checked_add(8 * (slot % SEGMENT))?;
        let pointer = word(bytes, place.checked_add(4)?)? as usize;
        if pointer != 0 {
            objects.extend(block(bytes, pointer)?.0);
        }
        // Slots that lead to the same block again and again would make more of it than there is.
        (objects.len() <= count).then_some(())?;
    }
    (objects.len() == count).then_some(objects)
}

/// Looks for blocks that are in use. Of two with the same key the later one counts.
fn search(bytes: &[u8]) -> Vec<Object<'_>> {
    let mut objects: Vec<Object<'_>> = Vec::new();
    let mut places: hashbrown::HashMap<[u8; 32], usize> = hashbrown::HashMap::new();
    let mut at = BASE;
    while at + 8 <= bytes.len() {
        let Some((found, size)) = block(bytes, at) else {
            at += 16;
            continue;
        };
        for object in found {
            let key = object.term.items().first().map(Term::write).unwrap_or_default();
            let key: [u8; 32] = Sha256::digest(&key).into();
            match places.get(&key).and_then(|place| objects.get_mut(*place)) {
                Some(earlier) => *earlier = object,
                None => {
                    places.insert(key, objects.len());
                    objects.push(object);
                }
            }
        }
        at += size;
    }
    objects
}

/// The objects of a block and its size in the file; none when there is no block, or not all of it.
fn block(bytes: &[u8], at: usize) -> Option<(Vec<Object<'_>>, usize)> {
    let used = word(bytes, at)? as usize;
    (word(bytes, at.checked_add(4)?)? == ACTIVE && used > 8).then_some(())?;
    let mut rest = bytes.get(at.checked_add(8)?..at.checked_add(used)?)?;
    let mut objects = Vec::new();
    while !rest.is_empty() {
        let size = word(rest, 0)? as usize;
        let bytes = rest.get(4..size)?;
        let term = Term::read(bytes).filter(|term| matches!(term, Term::Tuple(items) if items.len() == 2))?;
        objects.push(Object { bytes, term });
        rest = rest.get(size..)?;
    }
    Some((objects, used.checked_next_power_of_two()?.max(16)))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The header of a table of so many objects that nobody closed.
pub(super) fn header(objects: u32) -> Vec<u8> {
    let mut header = vec![0; BASE];
    let fields: [(usize, u32); 11] = [
        (12, SET),
        (16, VERSION),
        (20, 256),
        (24, 256),
        (28, 1),
        (32, objects),
        (36, objects),
        (40, 256),
        (44, 33_554_432),
        (48, 1),
        (52, 0),
    ];
    if let Some(room) = header.get_mut(4..8) {
        room.copy_from_slice(&COOKIE);
    }
    for (at, value) in fields {
        if let Some(room) = header.get_mut(at..at + 4) {
            room.copy_from_slice(&value.to_be_bytes());
        }
    }
    header
}

/// A block that holds one object; none when it is too large for a table.
pub(super) fn object(term: &[u8]) -> Option<Vec<u8>> {
    let (size, used) = (u32::try_from(term.len() + 4).ok()?, u32::try_from(term.len() + 12).ok()?);
    let mut block = Vec::with_capacity(used as usize);
    for value in [used, ACTIVE, size] {
        block.extend_from_slice(&value.to_be_bytes());
    }
    block.extend_from_slice(term);
    block.resize((used as usize).checked_next_power_of_two()?.max(16), 0);
    Some(block)
}
