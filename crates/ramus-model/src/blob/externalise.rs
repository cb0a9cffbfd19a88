//! The way into a log: pictures and long texts leave the line, and members that only matter while an answer streams in
//! are dropped.
//!
//! Only what is known to be a picture or a text is touched: base64 in `data` of image parts, data URLs in `image_url`,
//! the text of parts without a signature, content that is one string, the output of a command, and the `content` of an
//! object that counts its lines. Signatures, encrypted or redacted payloads and arguments are never looked at.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use super::walk::{Edit, Members, Place, Visited, splice, value, walk};
use super::{BLOB_MEMBER, Blob, cut};
use crate::json::{Raw, Shape};
use crate::kind::{Kind, Role};

/// How many characters of base64 or of a data URL make a picture worth a blob.
pub const MIN_IMAGE_CHARS: usize = 1024;

/// A line that was changed, and what left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Externalised {
    /// The line.
    pub line: Vec<u8>,
    /// The blobs it refers to now.
    pub blobs: Vec<Blob>,
}

/// Moves what is too large for a line to blobs and drops transient members. None when the line stays as it is.
pub fn externalise(line: &[u8]) -> Option<Externalised> {
    moved_out(line, true)
}

/// Moves what is too large for a line to blobs and drops nothing, for lines that must come back as they were.
pub fn externalise_whole(line: &[u8]) -> Option<Externalised> {
    static PICTURE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("image"));
    // No text has more units than bytes. Looking for a word is much cheaper than taking a line apart.
    let may_change = line.len() > cut::MAX_TEXT_UNITS || line.len() > MIN_IMAGE_CHARS && PICTURE.find(line).is_some();
    if may_change { moved_out(line, false) } else { None }
}

fn moved_out(line: &[u8], drop_transient: bool) -> Option<Externalised> {
    let (mut edits, mut blobs) = (Vec::new(), Vec::new());
    walk(line, drop_transient, &mut edits, &mut |object, edits| change(line, object, edits, &mut blobs));
    let kind = Raw::parse(line).and_then(|raw| raw.field("type")).and_then(Raw::text)?;
    let applies = matches!(Kind::from_wire(kind.as_bytes()), Kind::Message | Kind::CustomMessage);
    (applies && !edits.is_empty()).then(|| Externalised { line: splice(line, edits), blobs })
}

fn change(line: &[u8], object: &Visited, edits: &mut Vec<Edit>, blobs: &mut Vec<Blob>) {
    let Visited { place, members, range } = object;
    let is = |range, name: &str| value(line, range).and_then(Raw::text).is_some_and(|text| text == name);
    if *place == Place::Part && is(&members.kind, "image") {
        move_picture(line, &members.data, edits, blobs, decode_base64);
    }
    let url = if *place == Place::ImageUrl { &members.url } else { &members.image_url };
    move_picture(line, url, edits, blobs, data_url);
    let mut named = Vec::new();
    for (name, text) in texts(line, *place, members) {
        let Some(cut) = line.get(text.clone()).and_then(cut::cut) else { continue };
        let blob = Blob::new(cut.full);
        named.push(format!("\"{name}\":\"sha256:{}\"", blob.hash()));
        blobs.push(blob);
        edits.push(Edit { range: text, with: cut.value });
        if let Some(count) = members.line_count.clone().filter(|_| name == "content") {
            edits.push(Edit { range: count, with: cut.lines.to_string().into_bytes() });
        }
    }
    if !named.is_empty() {
        let end = range.end.saturating_sub(1);
        let with = format!(",\"{BLOB_MEMBER}\":{{{}}}", named.join(",")).into_bytes();
        edits.push(Edit { range: end..end, with });
    }
}

/// The members of an object that are texts, by name.
pub(super) fn texts(line: &[u8], place: Place, members: &Members) -> Vec<(&'static str, Range<usize>)> {
    let is = |range, name: &str| value(line, range).and_then(Raw::text).is_some_and(|text| text == name);
    let mut texts = Vec::new();
    if place == Place::Part && members.text_signature.is_none() && is(&members.kind, "text") {
        texts.extend(members.text.clone().map(|range| ("text", range)));
    }
    let speaks = place == Place::Message || place == Place::Entry && is(&members.kind, "custom_message");
    if speaks || members.line_count.is_some() {
        texts.extend(members.content.clone().map(|range| ("content", range)));
    }
    let role = value(line, &members.role).and_then(Raw::text).unwrap_or_default();
    if place == Place::Message && Role::from_wire(role.as_bytes()) == Role::BashExecution {
        texts.extend(members.output.clone().map(|range| ("output", range)));
    }
    texts
}

fn move_picture(
    line: &[u8],
    range: &Option<Range<usize>>,
    edits: &mut Vec<Edit>,
    blobs: &mut Vec<Blob>,
    decode: fn(&str) -> Option<Vec<u8>>,
) {
    let Some(range) = range.clone().filter(|range| range.len() > MIN_IMAGE_CHARS) else { return };
    let Some(raw) = line.get(range.clone()).map(Raw::lexed).filter(|raw| raw.shape() == Shape::Text) else { return };
    let text = raw.text().unwrap_or_default();
    let Some(bytes) = Some(&*text).filter(|text| text.len() >= MIN_IMAGE_CHARS).and_then(decode) else { return };
    let blob = Blob::new(bytes);
    edits.push(Edit { range, with: format!("\"blob:sha256:{}\"", blob.hash()).into_bytes() });
    blobs.push(blob);
}

/// Only the one spelling that encoding the bytes again gives is decoded, so that nothing changes on the way back.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// A data URL is kept whole: its bytes are the blob.
fn data_url(text: &str) -> Option<Vec<u8>> {
    text.starts_with("data:").then(|| text.as_bytes().to_vec())
}
