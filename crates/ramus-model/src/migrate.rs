//! Upgrading a version 1 or 2 file to version 3, line by line, changing nothing but what the version requires.

use crate::context::first_kept;
use crate::header::CURRENT_VERSION;
use crate::id::Seq;
use crate::json::{Raw, quote};
use crate::kind::Kind;
use crate::log::{Lines, Log};

/// Says whether a log must be upgraded before it is appended to.
pub fn is_needed(log: &Log) -> bool {
    log.header().is_some_and(|header| !header.synthetic && header.version < CURRENT_VERSION)
}

/// Writes the version 3 form of a whole file. `bytes` is the file that `log` was read from; whatever needs no change is
/// copied as it is, damage included.
pub fn upgrade(log: &Log, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + log.len() * 48);
    let mut copied = 0;
    let header = log.header_place().map(|place| (None, place));
    let entries = log.seqs().filter_map(|seq| Some((Some(seq), log.stored_place(seq)?)));
    for (seq, place) in header.into_iter().chain(entries) {
        let Ok(record) = bytes.line(place);
        let Some(raw) = Raw::parse(&record) else { continue };
        let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
        out.extend_from_slice(bytes.get(copied..start).unwrap_or_default());
        match seq {
            Some(seq) => upgrade_entry(log, seq, raw, &mut out),
            None => upgrade_header(raw, &mut out),
        }
        copied = start + record.len();
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    out
}

fn upgrade_header(raw: Raw<'_>, out: &mut Vec<u8>) {
    let version = CURRENT_VERSION.to_string();
    let mut edit = Edit::open(out);
    let mut written = false;
    for (key, value) in raw.raw_fields() {
        let name = key.text().unwrap_or_default();
        let is_version = name == "version";
        edit.spelled(key, if is_version { version.as_bytes() } else { value.bytes() });
        written |= is_version;
        if name == "type" && raw.field("version").is_none() {
            edit.member("version", version.as_bytes());
            written = true;
        }
    }
    if !written {
        edit.member("version", version.as_bytes());
    }
    edit.close();
}

fn upgrade_entry(log: &Log, seq: Seq, raw: Raw<'_>, out: &mut Vec<u8>) {
    let legacy = log.is_legacy();
    let message = raw.field("message");
    let is_hook =
        message.and_then(|message| message.field("role")).and_then(Raw::text).as_deref() == Some("hookMessage");
    if !legacy && !is_hook {
        out.extend_from_slice(raw.bytes());
        return;
    }
    let is_compaction = log.record(seq).is_some_and(|record| record.kind == Kind::Compaction);
    let mut edit = Edit::open(out);
    for (key, value) in raw.raw_fields() {
        let name = key.text().unwrap_or_default();
        match &*name {
            "id" | "parentId" if legacy => {}
            "firstKeptEntryIndex" if legacy && is_compaction => {
                if let Some(kept) = first_kept(log, raw) {
                    edit.text("firstKeptEntryId", log.id(kept));
                }
            }
            "message" if is_hook => {
                edit.name("message");
                rename_role(value, edit.out);
            }
            _ => edit.spelled(key, value.bytes()),
        }
        if legacy && name == "type" {
            edit.text("id", log.id(seq));
            match log.record(seq).and_then(|record| record.parent()) {
                Some(parent) => edit.text("parentId", log.id(parent)),
                None => edit.member("parentId", b"null"),
            }
        }
    }
    edit.close();
}

fn rename_role(message: Raw<'_>, out: &mut Vec<u8>) {
    let mut edit = Edit::open(out);
    for (key, value) in message.raw_fields() {
        let is_role = key.text().is_some_and(|name| name == "role");
        edit.spelled(key, if is_role { b"\"custom\"" } else { value.bytes() });
    }
    edit.close();
}

/// An object being written again with some members changed.
struct Edit<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Edit<'o> {
    fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    fn name(&mut self, name: &str) {
        self.separate();
        quote(name, self.out);
        self.out.push(b':');
    }

    /// Copies a member with its name as it was spelled.
    fn spelled(&mut self, key: Raw<'_>, value: &[u8]) {
        self.separate();
        self.out.extend_from_slice(key.bytes());
        self.out.push(b':');
        self.out.extend_from_slice(value);
    }

    fn member(&mut self, name: &str, value: &[u8]) {
        self.name(name);
        self.out.extend_from_slice(value);
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        quote(value, self.out);
    }

    fn close(self) {
        self.out.push(b'}');
    }
}
