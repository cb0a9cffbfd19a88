//! What can still be read of a damaged header: each of its members on its own.

use memchr::memmem;

use crate::header::Header;
use crate::json::{Raw, Shape, quote};

/// The members that are looked for, and those of the `ramus` member in case that one is damaged itself.
const MEMBERS: [&str; 7] = ["version", "id", "timestamp", "cwd", "title", "parentSession", "ramus"];
const OWN_MEMBERS: [&str; 5] = ["forkedFrom", "copiedFrom", "parent", "owner", "engine"];

/// Reads what is left of a header in damaged bytes; none when there is no sign of one, or its id is gone.
pub fn salvage(bytes: &[u8]) -> Option<Header> {
    let is_header = memmem::find(bytes, b"\"session\"").is_some() || member(bytes, "cwd").is_some();
    let mut line = b"{\"type\":\"session\"".to_vec();
    for name in MEMBERS {
        put(&mut line, name, member(bytes, name));
    }
    if member(bytes, "ramus").is_none_or(|ramus| ramus.shape() != Shape::Object) {
        line.extend_from_slice(b",\"ramus\":{\"\":0");
        for name in OWN_MEMBERS {
            put(&mut line, name, member(bytes, name));
        }
        line.push(b'}');
    }
    line.push(b'}');
    Raw::parse(&line).and_then(Header::read).filter(|_| is_header)
}

/// The first value behind this name, if it is whole.
pub(super) fn member<'b>(bytes: &'b [u8], name: &str) -> Option<Raw<'b>> {
    let mut key = Vec::new();
    quote(name, &mut key);
    key.push(b':');
    let at = memmem::find(bytes, &key)?;
    Raw::prefix(bytes.get(at + key.len()..)?).map(|(raw, _)| raw)
}

fn put(line: &mut Vec<u8>, name: &str, value: Option<Raw<'_>>) {
    if let Some(value) = value {
        line.push(b',');
        quote(name, line);
        line.push(b':');
        line.extend_from_slice(value.bytes());
    }
}
