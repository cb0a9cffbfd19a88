//! Rows: what a sidecar keeps of every entry, in forty bytes, so that a log can be had without reading it.
//!
//! A row says where the entry's line is, what its checksum is, and everything the tree needs to know. Rows exist only for
//! logs in good order: one record per line, lines side by side from the header on, no findings.
//!
//! ```text
//!  0  offset of the line        u64
//!  8  length of the line        u32, newline not counted
//! 12  parent                    u32, the seq, 0 for none
//! 16  checksum of the line      u32, CRC-32
//! 20  kind, role, marker, form of the id
//! 24  id                        16 bytes: text of at most that length, or a UUID
//! ```
//! Numbers are little-endian. The high bit of the marker says that the record is a later version of an earlier one.

use super::{Log, Place, Record, Status};
use crate::id::Seq;
use crate::kind::{Kind, Marker, Role};

/// The length of a row in bytes.
pub const ROW: usize = 40;

const SUPERSEDER: u8 = 0x80;
const FORM_UUID: u8 = 0xff;
const ID: usize = 16;

/// What is remembered of the bytes of records for the rows that are yet to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// How many of this log's own records have rows already.
    first: usize,
    /// The checksums of those, as far as they are held.
    settled: Vec<u32>,
    crcs: Vec<u32>,
    /// Where the next line must start.
    next: u64,
    scattered: bool,
    /// The header as it is stored.
    header: Box<str>,
}

impl Sums {
    /// Goes on behind records that have rows.
    pub(super) fn after(first: usize, next: u64, header: &str) -> Self {
        Self { first, next, header: header.into(), ..Self::default() }
    }

    /// Takes in the line of the next record.
    pub(super) fn take(&mut self, line: &[u8], offset: u64) {
        self.scattered |= offset != self.next;
        self.next = offset + line.len() as u64 + 1;
        self.crcs.push(crc32fast::hash(line));
    }

    /// Takes in the header.
    pub(super) fn start(&mut self, offset: u64, header: &[u8]) {
        // Only text can be kept beside the rows.
        self.scattered |= offset != self.next || std::str::from_utf8(header).is_err();
        self.next = offset + header.len() as u64 + 1;
        self.header = String::from_utf8_lossy(header).into();
    }

    pub(super) fn header(&self) -> &str {
        &self.header
    }

    /// Where the line behind the last record starts.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn is_scattered(&self) -> bool {
        self.scattered
    }
}

impl Log {
    /// Keeps the checksums of all records from here on, so that rows can be made of them. To be called before anything
    /// is fed.
    pub fn keep_sums(&mut self) {
        self.sums = Some(Sums::default());
    }

    /// Forgets the checksums of records that have rows now.
    pub fn forget_sums(&mut self) {
        let own = self.own_len();
        if let Some(sums) = &mut self.sums {
            sums.settled.append(&mut sums.crcs);
            sums.first = own;
        }
    }

    /// Returns the rows of this log's own records from number `from` on; none when they cannot be made.
    pub fn rows(&self, from: usize) -> Option<Vec<u8>> {
        let sums = self.sums.as_ref()?;
        let known = sums.crcs.get(from.checked_sub(sums.first)?..)?;
        let mut rows = Vec::with_capacity(known.len() * ROW);
        for (number, crc) in (from..).zip(known) {
            let seq = Seq::from_index(self.shared_len() + number);
            write_row(self.record(seq)?, *crc, self.ids.bytes(seq), &mut rows)?;
        }
        Some(rows)
    }

    /// Says whether this log is the start of the one that `rows` describe: what it has is the same, and the rest is gone.
    pub fn is_start_of(&self, rows: &[u8]) -> bool {
        let until = rows.get(..count_until(rows, self.end()) * ROW).unwrap_or_default();
        self.own_len() * ROW == until.len() && self.first_difference(until).is_none()
    }

    /// Returns the first line whose row is not the one in `rows`, which start with this log's first own record: somebody
    /// changed bytes that were written before. None when all are the same.
    pub fn first_difference(&self, rows: &[u8]) -> Option<(u64, u64)> {
        let sums = self.sums.as_ref()?;
        for (number, row) in rows.chunks_exact(ROW).enumerate() {
            let place = self.record(Seq::from_index(self.shared_len() + number)).map(|record| record.place);
            let crc = number.checked_sub(sums.first).and_then(|at| sums.crcs.get(at));
            let row = Row::read(row)?;
            let same = place == Some(row.record.place) && crc == Some(&row.crc);
            if !same {
                return Some((number as u64 + 2, row.record.place.offset));
            }
        }
        None
    }

    /// Sets bytes that were read again against the checksum they had when they were written. What does not fit was changed
    /// by something else, and the log counts as damaged from then on.
    pub fn check(&self, place: Place, bytes: &[u8]) {
        if self.sum_of(place).is_some_and(|sum| crc32fast::hash(bytes) != sum) {
            self.seen_changed.set();
        }
    }

    /// The checksum of an own record, when it is held. Records lie in the log in the order of their numbers.
    fn sum_of(&self, place: Place) -> Option<u32> {
        let sums = self.sums.as_ref().filter(|_| place.source == 0)?;
        let held = self.shared_len().max(self.elided) - self.elided;
        let own = self.records.get(held..)?;
        let at = own.binary_search_by_key(&place.offset, |record| record.place.offset).ok()?;
        let settled = sums.settled.len();
        let known = settled + sums.crcs.len();
        // Only the last so many are known.
        let at = at.checked_sub(own.len().checked_sub(known)?)?;
        if at < settled { sums.settled.get(at).copied() } else { sums.crcs.get(at - settled).copied() }
    }

    /// Enters records from their rows. Says whether all were usable.
    pub(super) fn enter_rows(&mut self, rows: &[u8]) -> bool {
        self.records.reserve(rows.len() / ROW);
        self.ids.reserve(rows.len() / ROW);
        let len = self.len() + rows.len() / ROW;
        for row in rows.chunks_exact(ROW) {
            let seq = Seq::from_index(self.len());
            let Some(row) = Row::read(row) else { return false };
            let mut text = [0; 36];
            let Some(id) = row.id(&mut text) else { return false };
            // Parents may come later in the log, but not after its end.
            if row.record.parent.is_some_and(|parent| parent.index() >= len) || !self.ids.insert(id, seq) {
                return false;
            }
            if row.record.status == Status::Superseder
                && let Some((name, number)) = std::str::from_utf8(id).ok().and_then(|id| id.rsplit_once('~'))
            {
                let number = number.parse().unwrap_or(1);
                let known = self.reading.duplicates.entry(name.to_owned()).or_insert(number);
                *known = number.max(*known);
            }
            self.records.push(row.record);
            if let Some(sums) = &mut self.sums {
                sums.settled.push(row.crc);
            }
        }
        true
    }
}

/// Returns offset, length and checksum of the last line that has a row.
pub fn last_line(rows: &[u8]) -> Option<(u64, usize, u32)> {
    let row = Row::read(rows.rchunks_exact(ROW).next()?)?;
    Some((row.record.place.offset, row.record.place.len as usize, row.crc))
}

/// Returns how many of the rows describe lines that end at or before `limit`.
pub(super) fn count_until(rows: &[u8], limit: u64) -> usize {
    let end = |row: &[u8]| {
        Row::read(row).map_or(u64::MAX, |row| row.record.place.offset + u64::from(row.record.place.len) + 1)
    };
    rows.chunks_exact(ROW).take_while(|row| end(row) <= limit).count()
}

/// Says whether any of the rows is of a record that may change what earlier ones are or are called: a label, also one
/// that takes a label away, a replaced segment, or a later version.
pub(super) fn any_decides(rows: &[u8]) -> bool {
    rows.chunks_exact(ROW).any(|row| {
        Row::read(row).is_none_or(|Row { record, .. }| {
            record.kind == Kind::Label || record.marker == Marker::Segment || record.status == Status::Superseder
        })
    })
}

/// Says whether any of the rows is of a record whose id is looked for.
pub fn any_id(rows: &[u8], is_wanted: impl Fn(&str) -> bool) -> bool {
    rows.chunks_exact(ROW).filter_map(Row::read).any(|row| {
        let mut text = [0; 36];
        row.id(&mut text).and_then(|id| std::str::from_utf8(id).ok()).is_some_and(&is_wanted)
    })
}

/// Returns the checksum of the line at an offset, when it has a row. Rows are in the order of their lines.
pub fn sum_at(rows: &[u8], offset: u64) -> Option<u32> {
    let (rows, _) = rows.as_chunks::<ROW>();
    let at = rows.binary_search_by_key(&offset, |row| Row::read(row).map_or(0, |row| row.record.place.offset)).ok()?;
    Row::read(rows.get(at)?).map(|row| row.crc)
}

/// A row, taken apart.
struct Row<'a> {
    record: Record,
    crc: u32,
    form: u8,
    id: &'a [u8],
}

impl<'a> Row<'a> {
    fn read(row: &'a [u8]) -> Option<Self> {
        let number = |at: usize| row.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let offset = row.get(..8)?.try_into().ok().map(u64::from_le_bytes)?;
        let &[kind, role, marker, form] = row.get(20..24)? else { return None };
        let place = Place { source: 0, len: number(8)?, offset };
        let record = Record {
            place,
            parent: Seq::new(number(12)?),
            kind: Kind::from_code(kind)?,
            role: Role::from_code(role)?,
            marker: Marker::from_code(marker & !SUPERSEDER)?,
            status: if marker & SUPERSEDER == 0 { Status::Ordinary } else { Status::Superseder },
        };
        Some(Self { record, crc: number(16)?, form, id: row.get(24..ROW)? })
    }

    /// The id as text; a UUID is spelled out into `text`.
    fn id<'t>(&self, text: &'t mut [u8; 36]) -> Option<&'t [u8]>
    where
        'a: 't,
    {
        if self.form != FORM_UUID {
            return self.id.get(..usize::from(self.form));
        }
        let mut at = 0;
        for (number, byte) in self.id.iter().enumerate() {
            if matches!(number, 4 | 6 | 8 | 10) {
                *text.get_mut(at)? = b'-';
                at += 1;
            }
            hex::encode_to_slice([*byte], text.get_mut(at..at + 2)?).ok()?;
            at += 2;
        }
        Some(text)
    }
}

fn write_row(record: &Record, crc: u32, id: &[u8], rows: &mut Vec<u8>) -> Option<()> {
    let mut packed = [0; ID];
    let form = match packed.get_mut(..id.len()) {
        Some(room) => {
            room.copy_from_slice(id);
            u8::try_from(id.len()).ok()?
        }
        None => {
            packed = uuid(id)?;
            FORM_UUID
        }
    };
    let superseder = if record.status == Status::Superseder { SUPERSEDER } else { 0 };
    rows.extend_from_slice(&record.place.offset.to_le_bytes());
    rows.extend_from_slice(&record.place.len.to_le_bytes());
    rows.extend_from_slice(&record.parent.map_or(0, Seq::number).to_le_bytes());
    rows.extend_from_slice(&crc.to_le_bytes());
    rows.extend_from_slice(&[record.kind.code(), record.role.code(), record.marker.code() | superseder, form]);
    rows.extend_from_slice(&packed);
    Some(())
}

/// The bytes of a UUID in its usual spelling.
fn uuid(id: &[u8]) -> Option<[u8; ID]> {
    let dashes = id.len() == 36 && [8, 13, 18, 23].iter().all(|at| id.get(*at) == Some(&b'-'));
    let digits: Vec<u8> = id.iter().copied().filter(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).collect();
    let mut bytes = [0; ID];
    (dashes && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}
