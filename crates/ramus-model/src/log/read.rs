//! Reading: from bytes to records.

use std::sync::LazyLock;

use hashbrown::HashMap;
use memchr::memmem;

use super::{Depth, Log, Place};
use crate::body;
use crate::envelope::Envelope;
use crate::finding::{Finding, FindingKind};
use crate::header::{CURRENT_VERSION, Header, TitleSlot};
use crate::id::Seq;
use crate::json::{Raw, Shape};
use crate::kind::Kind;
use crate::line::{Line, Piece, records_in};

/// Where a reading stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    line: u64,
    offset: u64,
    /// How many JSON values were read, header included: what `firstKeptEntryIndex` of version 1 counts.
    pub(super) values: u64,
    /// Whether entries have no ids and hang from the one before (version 1).
    pub(super) legacy: bool,
    /// For version 1, the entry at each index.
    pub(super) legacy_entries: Vec<Option<Seq>>,
    tail: Tail,
    carriage_returns: bool,
    salvaged: usize,
    /// How many records that were left out may still be stood for; none in a log that is no base.
    pub(super) gap_budget: usize,
    /// How often an id was used, for those that were used more than once.
    pub(super) duplicates: HashMap<String, u64>,
    /// In a window, whether an entry is the later version of one that may lie before it.
    pub(super) reaches_outside: bool,
}

/// What the last line looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// It ends in a newline, or there is none.
    #[default]
    Ended,
    /// It is a complete record without a newline.
    Unended,
    /// It is not a complete record, from this offset on.
    Torn {
        /// Where the part that is no record starts.
        from: u64,
    },
}

impl Reading {
    /// Goes on behind `entries` records that were read before.
    pub(super) fn after(entries: usize) -> Self {
        let lines = entries as u64 + 1;
        Self { line: lines, values: lines, ..Self::default() }
    }

    pub(super) fn position(&self) -> (u64, u64) {
        (self.line, self.offset)
    }

    pub(super) fn salvaged(&self) -> usize {
        self.salvaged
    }
}

impl Log {
    /// Reads more bytes. They must be the ones that follow what was fed before.
    pub fn feed(&mut self, chunk: &[u8]) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(chunk, |line| self.read_line(line));
        self.splitter = splitter;
    }

    /// Ends a reading: takes in a last line without a newline and ties up what was read.
    pub fn finish(&mut self) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.finish(|line| self.read_line(line));
        self.splitter = splitter;
        self.link();
        self.hide_replaced();
        if self.header.is_none() {
            self.miss_header();
        }
    }

    /// Says what the last line looks like. More bytes may only be fed behind an ended one.
    pub fn tail(&self) -> Tail {
        self.reading.tail
    }

    /// Returns where the part that will never change ends: a torn tail is cut off before anything follows it.
    pub fn sound_end(&self) -> u64 {
        match self.reading.tail {
            Tail::Torn { from } => from,
            Tail::Ended | Tail::Unended => self.end(),
        }
    }

    /// Says whether entries have no stored ids (version 1).
    pub fn is_legacy(&self) -> bool {
        self.reading.legacy
    }

    /// Returns the entry at an index of version 1, which counts the header as 0.
    pub fn legacy_entry(&self, index: u64) -> Option<Seq> {
        self.reading.legacy_entries.get(usize::try_from(index).ok()?).copied().flatten()
    }

    fn read_line(&mut self, line: Line<'_>) {
        self.reading.line += 1;
        self.reading.offset = line.offset;
        if line.ended {
            self.reading.tail = Tail::Ended;
        }
        if self.read_usual(line) {
            return;
        }
        if let Some(length) = line.oversized {
            if !line.ended {
                self.reading.tail = Tail::Unended;
            }
            return self.note(FindingKind::OversizedLine, format!("the line has {length} bytes and was passed over"));
        }
        let mut bytes = line.bytes;
        let mut offset = line.offset;
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| line.offset == 0) {
            self.note(FindingKind::ByteOrderMark, "the file starts with a byte order mark".into());
            bytes = rest;
            offset += 3;
        }
        if bytes.ends_with(b"\r") && !std::mem::replace(&mut self.reading.carriage_returns, true) {
            self.note(FindingKind::CarriageReturns, "lines end in CR LF".into());
        }
        // A record's place is its own bytes: whitespace around it is not part of it.
        let indented = bytes.len();
        let bytes = bytes.trim_ascii_start();
        offset += (indented - bytes.len()) as u64;
        let bytes = bytes.trim_ascii_end();
        if bytes.is_empty() {
            return;
        }
        // No JSON holds a zero byte. A crash that zeroed the end of one record and the start of the next leaves one line
        // that starts and ends well.
        if line.has_zeros || !self.read_sound(bytes, offset, line.ended) {
            self.read_damaged(bytes, offset, line.ended);
        } else if !line.ended {
            self.reading.tail = Tail::Unended;
            self.note(FindingKind::NoFinalNewline, "the last line is complete but has no newline".into());
        }
    }

    /// Reads a line that is what nearly every line is: a message in the usual spelling, whole to all appearances.
    fn read_usual(&mut self, line: Line<'_>) -> bool {
        let thorough = self.depth == Depth::Whole || self.reading.legacy || self.header.is_none();
        if thorough || !line.ended || line.has_zeros || line.oversized.is_some() {
            return false;
        }
        let usual = Envelope::read_usual(line.bytes).filter(|envelope| looks_whole(line.bytes, envelope));
        usual.is_some_and(|envelope| {
            self.read_entry(&envelope, line.bytes, line.offset);
            true
        })
    }

    /// Reads a line that is one record; says whether it was.
    fn read_sound(&mut self, bytes: &[u8], offset: u64, ended: bool) -> bool {
        let thorough = self.depth == Depth::Whole || !ended || self.reading.legacy || self.header.is_none();
        if thorough {
            let Some(raw) = Raw::parse(bytes) else { return false };
            self.read_value(raw, offset);
            return true;
        }
        match Envelope::read(bytes) {
            // A record that was written over a torn one shows as a second envelope in the same line.
            Some(envelope) if looks_whole(bytes, &envelope) => {
                self.read_entry(&envelope, bytes, offset);
                true
            }
            _ => Raw::parse(bytes).is_some_and(|raw| {
                self.read_value(raw, offset);
                true
            }),
        }
    }

    fn read_damaged(&mut self, bytes: &[u8], offset: u64, ended: bool) {
        let mut records = 0;
        let mut tail = Tail::Unended;
        for piece in records_in(bytes) {
            match piece {
                Piece::Record(at, record) => {
                    records += 1;
                    if let Some(raw) = Raw::parse(record) {
                        self.read_value(raw, offset + at as u64);
                    }
                }
                Piece::Damage(at, damage) => {
                    self.reading.offset = offset + at as u64;
                    let last = at + damage.len() == bytes.len();
                    if last {
                        tail = Tail::Torn { from: offset + at as u64 };
                    }
                    self.note_damage(damage, !ended && last);
                }
            }
        }
        self.reading.offset = offset;
        if records == 0 && self.depth == Depth::Envelope && ended {
            self.read_zeroed(bytes, offset);
        }
        if records > 0 {
            self.reading.salvaged += records;
            self.note(FindingKind::GluedRecords, format!("{records} records were found in a damaged line"));
        }
        if !ended {
            self.reading.tail = tail;
        }
    }

    /// Reads a record with zeros in its body. Its front says who it is and what it hangs from, so that what hangs from it
    /// keeps its place; its content is gone.
    fn read_zeroed(&mut self, bytes: &[u8], offset: u64) {
        let zeroed = Envelope::read(bytes).filter(|envelope| looks_whole(bytes, envelope));
        if let Some(envelope) = zeroed.filter(|_| bytes.contains(&0)) {
            self.read_entry(&envelope, bytes, offset);
        }
    }

    fn note_damage(&mut self, damage: &[u8], torn: bool) {
        let length = damage.len();
        if damage.contains(&0) {
            let zeros = damage.iter().filter(|byte| **byte == 0).count();
            self.note(FindingKind::NulBytes, format!("{zeros} of {length} bytes are zero"));
        } else if torn {
            self.note(FindingKind::TornTail, format!("the last {length} bytes are the start of a record"));
        } else {
            self.note(FindingKind::DamagedLine, format!("{length} bytes are not JSON"));
        }
    }

    /// Reads one whole JSON value of the file.
    pub(super) fn read_value(&mut self, raw: Raw<'_>, offset: u64) {
        let first = self.reading.values == 0 || self.title_slot.is_some() && self.reading.values == 1;
        if raw.shape() != Shape::Object {
            self.reading.values += 1;
            return self.note(FindingKind::NotAnEntry, "the line is JSON but not an object".into());
        }
        let type_name = raw.field("type").and_then(Raw::text).unwrap_or_default();
        if type_name == "session" {
            return self.read_header(raw, offset, first);
        }
        if self.reading.values == 0
            && let Some(slot) = TitleSlot::read(raw)
        {
            self.title_slot = Some(slot);
            self.reading.values += 1;
            return;
        }
        if type_name.is_empty() {
            self.reading.values += 1;
            return self.note(FindingKind::NotAnEntry, "the line is an object without a type".into());
        }
        if self.header.is_none() && self.is_empty() {
            // Without a header the version is what the entries look like.
            self.reading.legacy = raw.field("id").is_none() && raw.field("parentId").is_none();
        }
        if let Some(envelope) = Envelope::of(raw) {
            self.read_entry(&envelope, raw.bytes(), offset);
        }
        if self.depth == Depth::Whole {
            self.check_body(raw);
        }
    }

    fn read_header(&mut self, raw: Raw<'_>, offset: u64, first: bool) {
        let index = self.reading.values;
        self.reading.values += 1;
        if self.reading.legacy_entries.len() as u64 == index {
            self.reading.legacy_entries.push(None);
        }
        match Header::read(raw) {
            Some(header) if first && self.header.is_none() => {
                self.reading.legacy = header.version < 2;
                if header.version < CURRENT_VERSION {
                    let detail = format!("the file is of version {}; the first append upgrades it", header.version);
                    self.note(FindingKind::OldVersion, detail);
                } else if header.version > CURRENT_VERSION {
                    let detail = format!("the header names version {}; read as version 3", header.version);
                    self.note(FindingKind::NewerVersion, detail);
                }
                let len = u32::try_from(raw.bytes().len()).unwrap_or(u32::MAX);
                self.header_place = Some(Place { source: 0, len, offset });
                if let Some(sums) = &mut self.sums {
                    sums.start(offset, raw.bytes());
                }
                self.header = Some(header);
            }
            Some(header) if self.header.is_some() => {
                self.note(FindingKind::SecondHeader, format!("a second header names session {}", header.id));
            }
            _ => self.note(FindingKind::NotAnEntry, "the line is not a usable header".into()),
        }
    }

    fn check_body(&mut self, raw: Raw<'_>) {
        if let Err(detail) = body::check(raw) {
            self.note(FindingKind::MalformedBody, detail);
        }
        if std::str::from_utf8(raw.bytes()).is_err() {
            self.note(FindingKind::InvalidUtf8, "the line holds bytes that are not UTF-8; they are kept".into());
        }
    }

    fn miss_header(&mut self) {
        if !self.findings.iter().any(|finding| finding.kind == FindingKind::MissingHeader) {
            let detail = "the file has no session header; its entries are shown read-only".into();
            self.find(Finding { kind: FindingKind::MissingHeader, line: 1, offset: 0, detail });
        }
    }
}

/// Says whether what lies behind the envelope looks like the rest of the same record: it closes what is open (two objects
/// when reading stopped inside the message), and there is no second `"parentId"`, whose quotes would be escaped inside a
/// sound body.
fn looks_whole(line: &[u8], envelope: &Envelope<'_>) -> bool {
    static PARENT_ID: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\"parentId\""));
    let rest = line.get(envelope.end..).unwrap_or_default();
    let closers: &[u8] = if envelope.kind == Kind::Message { b"}}" } else { b"}" };
    if envelope.closed {
        return rest.is_empty();
    }
    rest.ends_with(closers) && PARENT_ID.find(rest).is_none()
}
