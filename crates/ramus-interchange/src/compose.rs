//! Writing JSON from pieces of other JSON. Values that are taken over keep their spelling, and the composer remembers where
//! in the foreign record they stood, so that the record can be kept without them.

use std::ops::Range;

use ramus_model::json::{Raw, quote};

use crate::limits::quoted_len;

/// Shorter values are not worth a reference to where they went.
const MIN_HOLE: usize = 64;
/// Filling a hole means looking for its value, so a record has no more holes than this.
const MAX_HOLES: usize = 64;

/// Values from this size on are made room for, and so is as much behind them as an entry usually ends with.
const LONG: usize = 1 << 20;
const BEHIND: usize = 4096;

/// A place in a foreign record whose value stands in the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where in the record.
    pub(crate) span: Range<usize>,
    /// Where in the entry, as names and indexes, each behind a `/`.
    pub(crate) pointer: String,
    /// How the record spells what the entry has.
    pub(crate) form: HoleForm,
}

/// How a record spells a value that stands in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoleForm {
    /// As the entry does.
    Same,
    /// As a text that spells it.
    Quoted,
    /// As a data URL, of which the entry has the media type and the data.
    DataUrl,
}

/// Members of an entry in the making.
#[derive(Default)]
pub(crate) struct Composer<'r> {
    record: &'r [u8],
    out: Vec<u8>,
    open: Vec<Open>,
    /// How many members there are outside of any container.
    members: usize,
    holes: Vec<Hole>,
}

/// A container that is being filled.
struct Open {
    segment: Segment,
    values: usize,
    is_array: bool,
}

/// One step on the way to a value.
enum Segment {
    Name(&'static str),
    Index(usize),
}

impl<'r> Composer<'r> {
    /// Starts with no members. Values that are taken over from `record` leave holes in it.
    pub(crate) fn new(record: &'r [u8]) -> Self {
        Self { record, ..Self::default() }
    }

    /// Goes on with values from another record, and returns the holes in the one before.
    pub(crate) fn switch(&mut self, record: &'r [u8]) -> Vec<Hole> {
        self.record = record;
        std::mem::take(&mut self.holes)
    }

    /// Returns the members and the holes.
    pub(crate) fn finish(self) -> (Vec<u8>, Vec<Hole>) {
        (self.out, self.holes)
    }

    /// Writes an object. In an array the name does not count.
    pub(crate) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut Self)) {
        self.open(name, false);
        fill(self);
        self.close();
    }

    /// Writes an array.
    pub(crate) fn array(&mut self, name: &'static str, fill: impl FnOnce(&mut Self)) {
        self.open(name, true);
        fill(self);
        self.close();
    }

    fn open(&mut self, name: &'static str, is_array: bool) {
        let segment = self.begin(name);
        self.out.push(if is_array { b'[' } else { b'{' });
        self.open.push(Open { segment, values: 0, is_array });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.out.push(if open.is_array { b']' } else { b'}' });
        }
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        self.begin(name);
        if text.len() > LONG {
            self.make_room(quoted_len(text.as_bytes()));
        }
        quote(text, &mut self.out);
    }

    /// Writes a number.
    pub(crate) fn number(&mut self, name: &'static str, number: impl std::fmt::Display) {
        self.begin(name);
        self.out.extend_from_slice(number.to_string().as_bytes());
    }

    /// Writes `true` or `false`.
    pub(crate) fn flag(&mut self, name: &'static str, flag: bool) {
        self.begin(name);
        self.out.extend_from_slice(if flag { b"true" } else { b"false" });
    }

    /// Writes a value that is no piece of a record.
    pub(crate) fn json(&mut self, name: &'static str, value: &serde_json::Value) {
        self.begin(name);
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    /// Writes `null`.
    pub(crate) fn null(&mut self, name: &'static str) {
        self.begin(name);
        self.out.extend_from_slice(b"null");
    }

    /// Writes a value as it is spelled, leaving a hole if it comes from the record.
    pub(crate) fn raw(&mut self, name: &'static str, value: Raw<'_>) {
        let segment = self.begin(name);
        self.make_room(value.bytes().len());
        self.out.extend_from_slice(value.bytes());
        self.leave_hole(segment, value.bytes(), HoleForm::Same);
    }

    /// Writes the value that a text of the record spells, leaving a hole if quoting it gives that text again. Says whether
    /// the text is a value at all; if not, nothing is written.
    pub(crate) fn spelled(&mut self, name: &'static str, text: Raw<'_>) -> bool {
        let Some(decoded) = text.text() else { return false };
        let Some(value) = Raw::parse(decoded.as_bytes()) else { return false };
        let segment = self.begin(name);
        self.out.extend_from_slice(value.bytes());
        let mut again = Vec::with_capacity(text.bytes().len());
        if let Ok(spelled) = std::str::from_utf8(value.bytes()) {
            quote(spelled, &mut again);
        }
        if again == text.bytes() {
            self.leave_hole(segment, text.bytes(), HoleForm::Quoted);
        }
        true
    }

    /// Writes a part that is a picture, from a data URL. Says whether it is one.
    pub(crate) fn picture(&mut self, url: Raw<'_>) -> bool {
        let Some((mime, data)) = data_url(url) else { return false };
        let segment = self.begin("");
        self.make_room(data.len());
        self.out.extend_from_slice(b"{\"type\":\"image\",\"data\":\"");
        self.out.extend_from_slice(data);
        self.out.extend_from_slice(b"\",\"mimeType\":\"");
        self.out.extend_from_slice(mime);
        self.out.extend_from_slice(b"\"}");
        self.leave_hole(segment, url.bytes(), HoleForm::DataUrl);
        true
    }

    /// Makes room for a long value and a little behind it: what doubles when it is full takes twice the memory.
    fn make_room(&mut self, bytes: usize) {
        if bytes > LONG {
            self.out.reserve_exact(bytes + BEHIND);
        }
    }

    fn leave_hole(&mut self, segment: Segment, value: &[u8], form: HoleForm) {
        if value.len() < MIN_HOLE || self.holes.len() == MAX_HOLES {
            return;
        }
        // Where a piece of the record begins follows from where both are in memory, and what is there is that piece.
        let Some(start) = (value.as_ptr() as usize).checked_sub(self.record.as_ptr() as usize) else { return };
        let span = start..start + value.len();
        if self.record.get(span.clone()).is_none() {
            return;
        }
        let mut pointer = String::new();
        let way = self.open.iter().map(|open| &open.segment).chain([&segment]);
        for step in way {
            pointer.push('/');
            match step {
                Segment::Name(name) => pointer.push_str(name),
                Segment::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        self.holes.push(Hole { span, pointer, form });
    }

    /// Writes what stands in front of a value, and says how to get there.
    fn begin(&mut self, name: &'static str) -> Segment {
        let in_array = self.open.last().is_some_and(|open| open.is_array);
        let values = self.open.last_mut().map_or(&mut self.members, |open| &mut open.values);
        let index = *values;
        *values += 1;
        if index > 0 {
            self.out.push(b',');
        }
        if in_array {
            return Segment::Index(index);
        }
        quote(name, &mut self.out);
        self.out.push(b':');
        Segment::Name(name)
    }
}

/// The media type and the base64 text of a data URL that is spelled plainly.
fn data_url(url: Raw<'_>) -> Option<(&[u8], &[u8])> {
    let url = url.bytes().strip_prefix(b"\"data:")?.strip_suffix(b"\"")?;
    let at = memchr::memmem::find(url, b";base64,")?;
    let (mime, data) = (url.get(..at)?, url.get(at + 8..)?);
    let is_mime = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.+-".contains(byte);
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    (mime.iter().all(is_mime) && data.iter().all(is_base64)).then_some((mime, data))
}
