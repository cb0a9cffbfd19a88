//! How one file is spelled in what is kept: numbers of a fixed width, little end first.

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use super::{Kept, Look};
use crate::pack::HASH;

/// How many bytes a file has.
pub(super) const KEPT: usize = 5 * 8 + 2 * 4 + 20;

pub(super) fn write(bytes: &mut Vec<u8>, kept: &Kept) {
    let Look { modified, changed, size, inode, device, mode } = kept.look;
    for number in [modified.cast_unsigned(), changed.cast_unsigned(), size, inode, device] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&mode.to_le_bytes());
    bytes.extend_from_slice(&(kept.kind as u32 | u32::from(kept.is_settled) << 31).to_le_bytes());
    bytes.extend_from_slice(kept.id.as_slice());
}

pub(super) fn read(rest: &mut &[u8]) -> Option<Kept> {
    let look = Look {
        modified: take_u64(rest)?.cast_signed(),
        changed: take_u64(rest)?.cast_signed(),
        size: take_u64(rest)?,
        inode: take_u64(rest)?,
        device: take_u64(rest)?,
        mode: take_u32(rest)?,
    };
    let (kind, is_settled) = flags(take_u32(rest)?)?;
    Some(Kept { look, kind, id: take_id(rest)?, is_settled })
}

fn flags(bits: u32) -> Option<(EntryKind, bool)> {
    let kinds = [EntryKind::Blob, EntryKind::BlobExecutable, EntryKind::Link];
    let kind = kinds.into_iter().find(|kind| *kind as u32 == bits & (u32::MAX >> 1))?;
    Some((kind, bits >> 31 == 1))
}

/// Takes bytes apart whose last four are the checksum of the others.
pub(super) fn checked(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let (body, checksum) = bytes.split_last_chunk::<4>()?;
    let checksum = u32::from_le_bytes(*checksum);
    (crc32fast::hash(body) == checksum).then_some((body, checksum))
}

/// Adds the checksum.
pub(super) fn seal(bytes: &mut Vec<u8>) {
    let checksum = crc32fast::hash(bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
}

pub(super) fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (number, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    Some(u32::from_le_bytes(*number))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (number, behind) = rest.split_first_chunk::<8>()?;
    *rest = behind;
    Some(u64::from_le_bytes(*number))
}

pub(super) fn take_id(rest: &mut &[u8]) -> Option<ObjectId> {
    let (id, behind) = rest.split_at_checked(HASH.len_in_bytes())?;
    *rest = behind;
    ObjectId::try_from(id).ok()
}
