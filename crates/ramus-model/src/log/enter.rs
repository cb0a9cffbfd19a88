//! Entering a record: its id, its parent, and what it is to earlier records.

use memchr::memmem;

use super::{Log, Place, Record, Status, ids};
use crate::body;
use crate::envelope::{Envelope, Name};
use crate::finding::FindingKind;
use crate::id::{EntryId, Seq, derived_entry_id};
use crate::json::Raw;
use crate::kind::{Kind, Marker};

impl Log {
    pub(super) fn read_entry(&mut self, envelope: &Envelope<'_>, bytes: &[u8], offset: u64) {
        if matches!(envelope.type_name, b"session" | b"") {
            // Only reachable in a fast reading: the thorough one sorts these out first.
            if let Some(raw) = Raw::parse(bytes) {
                self.read_value(raw, offset);
            }
            return;
        }
        if envelope.marker == Marker::Gap && self.leave_out(bytes, offset) {
            return;
        }
        let index = self.reading.values;
        self.reading.values += 1;
        let seq = Seq::from_index(self.len());
        let Ok(len) = u32::try_from(bytes.len()) else { return };
        let place = Place { source: 0, len, offset };
        let Envelope { kind, role, marker, .. } = *envelope;
        let mut record = Record { place, parent: None, kind, role, marker, status: Status::Ordinary };
        if self.reading.legacy {
            self.reading.legacy_entries.resize(usize::try_from(index).unwrap_or_default(), None);
            self.reading.legacy_entries.push(Some(seq));
            record.parent = self.last_seq();
            self.insert_derived(index, seq);
        } else {
            let text;
            let id = match envelope.id {
                Name::Plain(id) if id.len() <= ids::MAX_ID => Some(id),
                Name::Escaped(raw) => {
                    text = raw.text().unwrap_or_default();
                    Some(text.as_bytes()).filter(|id| id.len() <= ids::MAX_ID)
                }
                _ => None,
            };
            record.parent = self.find_parent(envelope.parent, seq);
            record.status = self.name_record(id, index, seq, bytes);
        }
        self.records.push(record);
        if let Some(sums) = &mut self.sums {
            sums.take(bytes, offset);
        }
        if record.status == Status::Superseder {
            self.supersede(seq, envelope);
        } else if record.is_inert() {
            self.absorb(seq, kind, marker, bytes);
        }
    }

    /// Looks the parent up; one that has not been read yet is looked for again at the end.
    fn find_parent(&mut self, name: Name<'_>, child: Seq) -> Option<Seq> {
        let text;
        let id = match name {
            Name::None => return None,
            Name::Plain(id) => id,
            Name::Escaped(raw) => {
                text = raw.text().unwrap_or_default();
                text.as_bytes()
            }
        };
        // A conversation mostly goes straight on.
        if let Some(last) = self.last_seq()
            && self.ids.bytes(last) == id
        {
            return Some(last);
        }
        let found = self.ids.find(id);
        if found.is_none() {
            self.await_parent(child, &String::from_utf8_lossy(id));
        }
        found
    }

    /// Gives the record its place in the table of ids and says what it is to earlier records.
    pub(super) fn name_record(&mut self, id: Option<&[u8]>, index: u64, seq: Seq, line: &[u8]) -> Status {
        let Some(id) = id else {
            self.note(FindingKind::MissingId, "the entry has no usable id; one was derived from its position".into());
            self.insert_derived(index, seq);
            return Status::Ordinary;
        };
        if self.ids.insert(id, seq) {
            self.reading.reaches_outside |=
                self.elided > 0 && memmem::find(line, body::SUPERSEDES.as_bytes()).is_some();
            return Status::Ordinary;
        }
        let name = String::from_utf8_lossy(id);
        // Counting on from the last duplicate keeps a file full of them from costing the square of their number.
        let mut n = self.reading.duplicates.get(&*name).copied().unwrap_or(1);
        loop {
            n += 1;
            if self.ids.insert(format!("{name}~{n}").as_bytes(), seq) {
                break;
            }
        }
        self.reading.duplicates.insert(name.to_string(), n);
        let supersedes = Raw::parse(line).and_then(|raw| raw.field(body::SUPERSEDES)).and_then(Raw::flag) == Some(true);
        if supersedes {
            return Status::Superseder;
        }
        let detail = format!("the id {name} was used before; this entry goes by {}", self.ids.text(seq));
        self.note(FindingKind::DuplicateId, detail);
        Status::Ordinary
    }

    /// Derives an id from the position, longer when that one is taken.
    fn insert_derived(&mut self, index: u64, seq: Seq) {
        let session = self.header.as_ref().map_or("", |header| header.id.as_str()).to_owned();
        for digits in 8..=64 {
            if self.ids.insert(derived_entry_id(&session, index, digits).as_str().as_bytes(), seq) {
                return;
            }
        }
        // Fifty-seven taken prefixes of one hash are no accident, but every entry must have an id.
        let mut name = seq.to_string();
        while !self.ids.insert(name.as_bytes(), seq) {
            name.push('~');
        }
    }

    /// Lets a superseding record show instead of the one it names: new body, new parent, same id and place in the order.
    fn supersede(&mut self, latest: Seq, envelope: &Envelope<'_>) {
        let original = match envelope.id {
            Name::Plain(id) => self.ids.find(id),
            Name::Escaped(raw) => raw.text().and_then(|id| self.ids.find(id.as_bytes())),
            Name::None => None,
        };
        let Some(original) = original else { return };
        let parent = self.record(latest).and_then(Record::parent);
        // The original's parent may itself still be looked for: the newer word counts.
        self.pending.remove(&original);
        if let Some(pending) = self.pending.remove(&latest) {
            self.pending.insert(original, pending);
        }
        // A parent that is younger than the entry can close a circle; linking at the end looks for that.
        if let Some(parent) = parent.filter(|parent| *parent >= original) {
            let parent = self.id(parent).to_owned();
            self.await_parent(original, &parent);
        }
        self.set_parent(original, parent.filter(|parent| *parent < original));
        self.superseded.insert(original, latest);
        if let (Some(old), Some(new)) = (self.record(original).copied(), self.record(latest).copied()) {
            let record = Record { kind: new.kind, role: new.role, marker: new.marker, ..old };
            if let Some(slot) = self.record_mut(original) {
                *slot = record;
            }
        }
    }

    fn absorb(&mut self, seq: Seq, kind: Kind, marker: Marker, bytes: &[u8]) {
        let sound = Raw::parse(bytes).is_some_and(|raw| self.facts.absorb(seq, kind, marker, raw));
        if !sound {
            self.note(FindingKind::MalformedBody, format!("entry {} lacks what its type requires", self.id(seq)));
        }
    }

    /// Hides what segments replaced, in their order: what one of them restores shows again.
    pub(super) fn hide_replaced(&mut self) {
        let mut changes: Vec<(Seq, Status)> = Vec::new();
        for segment in self.facts.segments() {
            let seqs = |ids: &[EntryId]| ids.iter().filter_map(|id| self.seq_of(id.as_str())).collect::<Vec<_>>();
            changes.extend(seqs(&segment.replaced).into_iter().map(|seq| (seq, Status::Replaced)));
            changes.extend(seqs(&segment.restored).into_iter().map(|seq| (seq, Status::Ordinary)));
        }
        for (seq, status) in changes {
            self.set_status(seq, status);
        }
    }
}
