//! Repairing a damaged file: what it takes to make every line of it one record, without moving a record.
//!
//! Forks refer to offsets of the file they were forked from, so a repair keeps every record where it is: bytes that
//! belong to no record become spaces, and the byte in front of a record that shares its line becomes a newline. Programs
//! that share the format pass over blank lines. A record whose front is legible is replaced by a placeholder, so that
//! what hangs from it keeps its history. Only records with nothing between them, and a header for which there is
//! no room, need bytes that were not there; whether those may be put in is for the caller to say.

mod header;
mod placeholder;

use std::ops::Range;

use crate::header::{Header, TitleSlot};
use crate::json::Raw;
use crate::line::{MAX_LINE, Piece, records_in};
use crate::log::Tail;

pub use header::salvage as salvage_header;

/// What is wrong with the lines of a file, by what can be done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bytes that belong to no record, in order; a torn tail is not among them.
    pub damage: Vec<Range<usize>>,
    /// Bytes between two records of one line that a newline can take the place of.
    pub breaks: Vec<usize>,
    /// Where a record follows another one without a byte between them.
    pub joints: Vec<usize>,
    /// What the last line looks like.
    pub tail: Tail,
    /// Entries that take the place of damaged ones with the same id and parent, and where.
    pub placeholders: Vec<(usize, Vec<u8>)>,
    /// Where the header belongs and what is there instead, when there is no usable one.
    pub front: Option<Range<usize>>,
    /// How many entries there are.
    pub records: usize,
    reading: Reading,
}

/// Where the reading of the first lines stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    /// Whether a value came that decides where the header is.
    is_past_front: bool,
    has_slot: bool,
}

/// What a repair does beyond blanking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes<'a> {
    /// Which of the joints get a newline.
    pub joints: &'a [usize],
    /// The header line to put in front, newline included.
    pub header: Option<&'a [u8]>,
}

impl Plan {
    /// Looks at every line of a whole file.
    pub fn of(bytes: &[u8]) -> Self {
        let mut plan = Self { front: Some(0..bytes.len()), ..Self::default() };
        let mut start = 0;
        while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memchr(b'\n', rest).map(|at| start + at);
            plan.look_at(bytes, start..end.unwrap_or(bytes.len()), end.is_some());
            start = end.map_or(bytes.len(), |end| end + 1);
        }
        plan.placeholders = placeholder::placeholders(bytes, &plan.damage);
        plan
    }

    /// Says whether nothing needs to be done, except perhaps to the last line.
    pub fn is_sound_inside(&self) -> bool {
        self.damage.is_empty() && self.breaks.is_empty() && self.joints.is_empty()
    }

    /// Returns where the part that can be kept ends.
    pub fn end(&self, bytes: &[u8]) -> usize {
        match self.tail {
            Tail::Torn { from } => usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len()),
            Tail::Ended | Tail::Unended => bytes.len(),
        }
    }

    /// Says whether a header line fits where the header belongs, so that nothing behind it moves.
    pub fn has_room(&self, bytes: &[u8], header: &[u8]) -> bool {
        let end = self.end(bytes);
        self.front.as_ref().is_some_and(|front| front.end.min(end).saturating_sub(front.start) >= header.len())
    }

    /// Writes the repaired file: no torn tail, a newline at the end, and as long as what it repairs unless something had
    /// to be put in.
    pub fn apply(&self, bytes: &[u8], changes: &Changes<'_>) -> Vec<u8> {
        let mut out = bytes.get(..self.end(bytes)).unwrap_or(bytes).to_vec();
        for range in &self.damage {
            out.get_mut(range.clone()).unwrap_or_default().fill(b' ');
        }
        for (at, line) in &self.placeholders {
            out.splice(*at..at + line.len(), line.iter().copied());
        }
        for at in &self.breaks {
            out.get_mut(*at..=*at).unwrap_or_default().fill(b'\n');
        }
        if out.last().is_some_and(|last| *last != b'\n') {
            out.push(b'\n');
        }
        // From the back, so that what is put in does not move the places in front of it.
        for at in changes.joints.iter().rev() {
            out.insert(*at, b'\n');
        }
        if let (Some(header), Some(front)) = (changes.header, &self.front) {
            let place = if self.has_room(bytes, header) { front.start + header.len() } else { front.start };
            out.splice(front.start..place, header.iter().copied());
        }
        out
    }

    fn look_at(&mut self, bytes: &[u8], line: Range<usize>, ended: bool) {
        self.tail = if ended { Tail::Ended } else { self.tail };
        let mut start = line.start;
        if start == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
            start = 3;
            self.move_front(3);
        }
        let text = bytes.get(start..line.end).unwrap_or_default();
        let start = line.end - text.trim_ascii_start().len();
        let text = text.trim_ascii();
        if text.is_empty() {
            return;
        }
        if text.len() > MAX_LINE {
            self.reach(start);
        } else if let Some(raw) = Raw::parse(text) {
            self.meet(raw, start, line.end);
        } else {
            return self.take_apart(text, start, line.end, ended);
        }
        if !ended {
            self.tail = Tail::Unended;
        }
    }

    fn take_apart(&mut self, text: &[u8], start: usize, line_end: usize, ended: bool) {
        let mut behind = None;
        let mut tail = Tail::Unended;
        for piece in records_in(text) {
            match piece {
                Piece::Record(at, record) => {
                    let at = start + at;
                    match behind {
                        Some(end) if end == at => self.joints.push(at),
                        _ if at > start => self.breaks.push(at - 1),
                        _ => {}
                    }
                    behind = Some(at + record.len());
                    if let Some(raw) = Raw::parse(record) {
                        self.meet(raw, at, line_end.min(at + record.len()));
                    }
                }
                Piece::Damage(at, damage) if !ended && at + damage.len() == text.len() => {
                    tail = Tail::Torn { from: (start + at) as u64 };
                }
                Piece::Damage(at, damage) => self.damage.push(start + at..start + at + damage.len()),
            }
        }
        if !ended {
            self.tail = tail;
        }
    }

    /// Takes note of a value for the sake of the header: it comes first, or behind a title slot.
    fn meet(&mut self, raw: Raw<'_>, start: usize, end: usize) {
        let type_name = raw.field("type").and_then(Raw::text).unwrap_or_default();
        if type_name == "session" && !self.reading.is_past_front {
            if Header::read(raw).is_some() {
                self.front = None;
                self.reading.is_past_front = true;
            } else {
                // A header that says nothing usable stands where a usable one must be.
                self.damage.push(start..start + raw.bytes().len());
            }
            return;
        }
        if !self.reading.is_past_front && !self.reading.has_slot && TitleSlot::read(raw).is_some() {
            self.reading.has_slot = true;
            return self.move_front(end + 1);
        }
        self.reach(start);
        if !type_name.is_empty() && type_name != "session" {
            self.records += 1;
        }
    }

    /// The header belongs in front of this.
    fn reach(&mut self, at: usize) {
        if !std::mem::replace(&mut self.reading.is_past_front, true)
            && let Some(front) = &mut self.front
        {
            front.end = at.max(front.start);
        }
    }

    fn move_front(&mut self, at: usize) {
        if let Some(front) = &mut self.front {
            front.start = at.min(front.end);
        }
    }
}
