//! The file of a DETS table, version 9: slots that lead to blocks, and blocks that hold objects.

use sha2::{Digest as _, Sha256};

use super::decode::{Budget, Unread, exhausted, is_pair, key, term};
use super::term::Term;
use crate::error::Error;
use crate::limits::Limits;

/// What every DETS file has at byte 4.
pub(crate) const COOKIE: [u8; 4] = [0x00, 0xab, 0xcd, 0xef];
const VERSION: u32 = 9;
const SET: u32 = 1;
/// Where blocks begin: behind the header and the pointers to segments.
pub(super) const BASE: usize = 1336;
const ACTIVE: u32 = 0x1234_5678;
/// Slots of a segment, and segments of a part of their table.
const SEGMENT: usize = 256;
const PART: usize = 512;

/// An object of a table: the bytes of its term, and the term, or why there is none.
pub(super) struct Object<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) term: Result<Term, Unread>,
}

/// What is in a table.
pub(super) struct Table<'a> {
    pub(super) objects: Vec<Object<'a>>,
    /// Whether it was closed properly. If not, blocks were looked for instead of followed.
    pub(super) is_whole: bool,
    /// How many objects it says it has.
    pub(super) count: usize,
}

/// Reads a table; none when the bytes are no table.
pub(super) fn read(bytes: &[u8], limits: Limits) -> Result<Option<Table<'_>>, Error> {
    let header = |at: usize| word(bytes, at).map(|word| word as usize);
    let is_known = bytes.get(4..8) == Some(&COOKIE)
        && [(12, SET), (16, VERSION), (28, 1)].iter().all(|(at, value)| word(bytes, *at) == Some(*value));
    let (Some(flag), Some(slots), Some(count)) = (header(8), header(24), header(32)) else { return Ok(None) };
    if !is_known {
        return Ok(None);
    }
    // The last word says how long the file was when it was closed, counted from where its blocks begin.
    let base = header(184).filter(|base| *base > 0).unwrap_or(BASE);
    let ends = bytes.len().checked_sub(4).and_then(|at| base.checked_add(header(at)?)) == Some(bytes.len());
    let budget = &mut Budget::of(bytes.len(), limits);
    if flag == 1 && ends {
        let followed = follow(bytes, slots, count, budget).map_err(|_| exhausted())?;
        if let Some(objects) = followed {
            return Ok(Some(Table { objects, is_whole: true, count }));
        }
    }
    let objects = search(bytes, budget).map_err(|_| exhausted())?;
    Ok(Some(Table { objects, is_whole: false, count }))
}

/// Nothing more may be read.
struct Exhausted;

/// Follows every slot; none when something is not where it should be, or objects are missing.
fn follow<'a>(
    bytes: &'a [u8],
    slots: usize,
    count: usize,
    budget: &mut Budget,
) -> Result<Option<Vec<Object<'a>>>, Exhausted> {
    // A slot takes eight bytes of the file.
    if slots > bytes.len() / 8 + SEGMENT {
        return Ok(None);
    }
    let mut objects = Vec::new();
    for slot in 0..slots {
        let Some(pointer) = pointer(bytes, slot) else { return Ok(None) };
        if pointer != 0 {
            let Some((found, _)) = block(bytes, pointer, budget)? else { return Ok(None) };
            // Slots that lead to the same block again and again would make more of it than there is.
            if objects.len() + found.len() > count {
                return Ok(None);
            }
            for bytes in found {
                objects.push(object_of(bytes, budget)?);
            }
        }
    }
    Ok((objects.len() == count).then_some(objects))
}

/// Where a slot leads; nowhere is 0.
fn pointer(bytes: &[u8], slot: usize) -> Option<usize> {
    let segment = slot / SEGMENT;
    let part = word(bytes, 312 + 4 * (segment / PART))? as usize;
    if part == 0 {
        return Some(0);
    }
    let start = word(bytes, part.checked_add(4 * (segment % PART))?)? as usize;
    if start == 0 {
        return Some(0);
    }
    let place = start.checked_add(8 * (slot % SEGMENT))?;
    Some(word(bytes, place.checked_add(4)?)? as usize)
}

/// Looks for blocks that are in use. Of two with the same key the later one counts.
fn search<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Vec<Object<'a>>, Exhausted> {
    let mut found: Vec<&[u8]> = Vec::new();
    let mut places: hashbrown::HashMap<[u8; 32], usize> = hashbrown::HashMap::new();
    let mut at = BASE;
    while at + 8 <= bytes.len() {
        let Some((objects, size)) = block(bytes, at, budget)? else {
            at += 16;
            continue;
        };
        for object in objects {
            let key = key(object, budget).map_or_else(|| object.to_vec(), |key| key.write());
            let key: [u8; 32] = Sha256::digest(&key).into();
            match places.get(&key).and_then(|place| found.get_mut(*place)) {
                Some(earlier) => *earlier = object,
                None => {
                    places.insert(key, found.len());
                    found.push(object);
                }
            }
        }
        at += size;
    }
    // What only looks like a block is never read.
    found.into_iter().map(|bytes| object_of(bytes, budget)).collect()
}

fn object_of<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Object<'a>, Exhausted> {
    let term = match term(bytes, budget) {
        Ok(Term::Tuple(items)) if items.len() == 2 => Ok(Term::Tuple(items)),
        Ok(_) => Err(Unread::Short),
        Err(Unread::Budget) => return Err(Exhausted),
        Err(why) => Err(why),
    };
    Ok(Object { bytes, term })
}

/// The objects of a block, as bytes, and its size in the file.
type Block<'a> = (Vec<&'a [u8]>, usize);

/// The objects of a block, as bytes, and its size in the file; none when there is no block, or not all of it.
fn block<'a>(bytes: &'a [u8], at: usize, budget: &mut Budget) -> Result<Option<Block<'a>>, Exhausted> {
    let mut objects = Vec::new();
    let Some((mut rest, size)) = inside(bytes, at) else { return Ok(None) };
    while !rest.is_empty() {
        budget.step().map_err(|_| Exhausted)?;
        let next = word(rest, 0).and_then(|size| rest.split_at_checked(size as usize));
        let Some((object, behind)) = next.filter(|(object, _)| object.get(4..).is_some_and(is_pair)) else {
            return Ok(None);
        };
        objects.extend(object.get(4..));
        rest = behind;
    }
    Ok(Some((objects, size)))
}

/// What is in a block, and its size in the file.
fn inside(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let used = word(bytes, at)? as usize;
    (word(bytes, at.checked_add(4)?)? == ACTIVE && used > 8).then_some(())?;
    let inside = bytes.get(at.checked_add(8)?..at.checked_add(used)?)?;
    Some((inside, used.checked_next_power_of_two()?.max(16)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with one object, as it is closed.
    fn closed() -> Vec<u8> {
        let mut table = header(1);
        let put = |table: &mut Vec<u8>, at: usize, value: usize| {
            table[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_be_bytes());
        };
        let (part, segment) = (BASE, BASE + 4 * PART);
        let place = segment + 8 * SEGMENT;
        table.resize(place, 0);
        let block = object(&Term::Tuple(vec![Term::text("key"), Term::text("value")]).write()).unwrap();
        put(&mut table, 8, 1);
        put(&mut table, 184, place);
        put(&mut table, 312, part);
        put(&mut table, part, segment);
        put(&mut table, segment, block.len());
        put(&mut table, segment + 4, place);
        table.extend(block);
        let size = table.len() + 4 - place;
        table.extend(u32::try_from(size).unwrap().to_be_bytes());
        table
    }

    #[test]
    fn a_table_is_whole_when_its_last_word_says_how_long_it_is() {
        let table = closed();
        let read = |table: &[u8]| {
            let table = super::read(table, Limits::default()).unwrap();
            table.map(|table| (table.objects.len(), table.is_whole))
        };
        assert_eq!(read(&table), Some((1, true)));
        // Somebody opened it and did not close it, whatever the flag says: what it points to may be gone.
        assert_eq!(read(&table[..table.len() - 4]), Some((1, false)));
        assert_eq!(read(&[table.as_slice(), &[0; 16]].concat()), Some((1, false)));
    }
}
