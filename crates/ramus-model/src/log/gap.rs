//! Gaps: what stands in a base for the records of a deleted origin that no fork needs.
//!
//! A record's `seq` must not change when its neighbours go, so a gap is read as that many records. They are inert, hang
//! from nothing, and nothing belongs to them. Only a log that is known to be a base has gaps: in any other file the entry
//! is inert and means nothing, so that a few bytes cannot ask for any amount of memory.

use super::{Log, Place, Record, Status};
use crate::id::Seq;
use crate::json::Raw;
use crate::kind::{Kind, Marker, Role};

/// How many records the gaps of one base may stand for: more than any log has.
const MAX_LEFT_OUT: usize = 1 << 24;

impl Log {
    /// Reads what follows as a base: its gaps count.
    pub fn allow_gaps(&mut self) {
        self.reading.gap_budget = MAX_LEFT_OUT;
    }

    /// Enters the records that a gap stands for; says whether it stands for any.
    pub(super) fn leave_out(&mut self, bytes: &[u8], offset: u64) -> bool {
        let data = Raw::parse(bytes).and_then(|raw| raw.field("data"));
        let records = data.and_then(|data| data.field("records")).and_then(Raw::unsigned);
        let records = records.and_then(|records| usize::try_from(records).ok()).unwrap_or_default();
        let (Some(rest), Ok(len)) = (self.reading.gap_budget.checked_sub(records), u32::try_from(bytes.len())) else {
            return false;
        };
        if records == 0 {
            return false;
        }
        self.reading.gap_budget = rest;
        let id = data.and_then(|data| data.field("id")).and_then(Raw::text);
        let place = Place { source: 0, len, offset };
        let (kind, role, marker) = (Kind::Custom, Role::Other, Marker::Gap);
        for _ in 0..records {
            let seq = Seq::from_index(self.records.len());
            let index = self.reading.values;
            self.reading.values += 1;
            match &id {
                // Its id counts where others have the same: theirs are numbered on from it.
                Some(id) => drop(self.name_record(Some(id.as_bytes()), index, seq, bytes)),
                None => self.name_left_out(seq),
            }
            self.records.push(Record { place, parent: None, kind, role, marker, status: Status::Ordinary });
        }
        true
    }

    fn name_left_out(&mut self, seq: Seq) {
        let mut name = format!("~{}", seq.number());
        while !self.ids.insert(name.as_bytes(), seq) {
            name.push('~');
        }
    }
}
