//! The way out of a log: references become what they refer to. What is gone is said to be gone, in place.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem::Finder;

use super::externalise::texts;
use super::walk::{Edit, Place, Visited, splice, value, walk};
use super::{BLOB_MEMBER, BlobHash, HASH_PREFIX, IMAGE_PREFIX, cut, plain_hash};
use crate::json::Raw;

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restore {
    /// Pictures and cut texts.
    Everything,
    /// Pictures; cut texts stay cut, as in a file for programs that know no other.
    Pictures,
    /// Cut texts; for those who count and do not look.
    Texts,
}

/// A line with its references resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored<'a> {
    /// The line.
    pub line: Cow<'a, [u8]>,
    /// The blobs that could not be had.
    pub missing: Vec<BlobHash>,
}

/// Resolves the references of a line with what `read` returns. A picture that is gone becomes a text part that says so;
/// a text that is gone stays as it was cut.
pub fn restore<'a>(line: &'a [u8], what: Restore, read: &mut dyn FnMut(BlobHash) -> Option<Vec<u8>>) -> Restored<'a> {
    static PICTURE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(IMAGE_PREFIX));
    static CUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BLOB_MEMBER));
    let pictures = what != Restore::Texts && PICTURE.find(line).is_some();
    let cut_texts = what != Restore::Pictures && CUT.find(line).is_some();
    if !pictures && !cut_texts {
        return Restored { line: Cow::Borrowed(line), missing: Vec::new() };
    }
    let mut restoring = Restoring { line, read, missing: Vec::new() };
    let mut edits = Vec::new();
    walk(line, false, &mut edits, &mut |object, edits| {
        if pictures {
            restoring.pictures(object, edits);
        }
        if cut_texts {
            restoring.texts(object, edits);
        }
    });
    let line = if edits.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(splice(line, edits)) };
    Restored { line, missing: restoring.missing }
}

/// Returns the blobs that a line names.
pub fn named(line: &[u8]) -> Vec<BlobHash> {
    // Whatever is asked for is missing.
    let mut named = restore(line, Restore::Everything, &mut |_| None).missing;
    named.sort_unstable();
    named.dedup();
    named
}

struct Restoring<'a, 'r> {
    line: &'a [u8],
    read: &'r mut dyn FnMut(BlobHash) -> Option<Vec<u8>>,
    missing: Vec<BlobHash>,
}

impl Restoring<'_, '_> {
    fn read(&mut self, hash: BlobHash) -> Option<Vec<u8>> {
        let bytes = (self.read)(hash);
        if bytes.is_none() {
            self.missing.push(hash);
        }
        bytes
    }

    fn reference(&self, range: &Option<Range<usize>>) -> Option<(BlobHash, Range<usize>)> {
        let range = range.clone()?;
        Some((plain_hash(self.line.get(range.clone())?, IMAGE_PREFIX)?, range))
    }

    fn pictures(&mut self, object: &Visited, edits: &mut Vec<Edit>) {
        let members = &object.members;
        let kind = value(self.line, &members.kind).and_then(Raw::text);
        let data = (object.place == Place::Part && kind.as_deref() == Some("image")).then_some(&members.data);
        if let Some((hash, range)) = data.and_then(|data| self.reference(data)) {
            let with = self.read(hash).map(|bytes| format!("\"{}\"", STANDARD.encode(bytes)).into_bytes());
            edits.push(self.picture(object, hash, range, with));
        }
        let url = if object.place == Place::ImageUrl { &members.url } else { &members.image_url };
        if let Some((hash, range)) = self.reference(url) {
            let with = self.read(hash).map(|bytes| cut::spell(&bytes).0);
            edits.push(self.picture(object, hash, range, with));
        }
    }

    /// The picture, or where a text part can stand instead, one that says that it is missing.
    fn picture(&self, object: &Visited, hash: BlobHash, range: Range<usize>, with: Option<Vec<u8>>) -> Edit {
        match with {
            Some(with) => Edit { range, with },
            None if object.place == Place::Part => {
                let with = format!("{{\"type\":\"text\",\"text\":\"[missing blob sha256:{hash}]\"}}").into_bytes();
                Edit { range: object.range.clone(), with }
            }
            None => Edit { range, with: format!("\"[missing blob sha256:{hash}]\"").into_bytes() },
        }
    }

    fn texts(&mut self, object: &Visited, edits: &mut Vec<Edit>) {
        let members = &object.members;
        let Some(names) = value(self.line, &members.blob) else { return };
        let mut restored = 0;
        for (name, range) in texts(self.line, object.place, members) {
            let Some(hash) = names.field(name).and_then(|hash| plain_hash(hash.bytes(), HASH_PREFIX)) else { continue };
            let Some(full) = self.read(hash) else { continue };
            restored += 1;
            let (with, lines) = cut::spell(&full);
            edits.push(Edit { range, with });
            if let Some(count) = members.line_count.clone().filter(|_| name == "content") {
                edits.push(Edit { range: count, with: lines.to_string().into_bytes() });
            }
        }
        // What it names is back, so nobody needs it; whatever else it says is not ours.
        let is_done = restored > 0 && names.fields().count() == restored;
        if let Some(range) = members.blob_and_comma.clone().filter(|_| is_done) {
            edits.push(Edit { range, with: Vec::new() });
        }
    }
}
