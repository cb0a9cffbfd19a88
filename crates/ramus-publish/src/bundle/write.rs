//! Writing a bundle, item by item.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_model::BlobHash;
use ramus_model::json::Raw;
use sha2::{Digest as _, Sha256};

use super::{BundleError, End, SessionHead, VERSION};

/// How much of a blob is in one item.
const PIECE: usize = 3 << 20;

/// Writes a bundle.
pub struct Writer<W> {
    out: W,
    sum: Sha256,
    items: u64,
    /// What came of a line of the log so far.
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Opens a bundle.
    pub fn new(out: W) -> Result<Self, BundleError> {
        let mut writer = Self { out, sum: Sha256::new(), items: 0, line: Vec::new() };
        writer.put(format!("{{\"format\":\"ramus-bundle\",\"version\":{VERSION},\"items\":[\n").as_bytes())?;
        Ok(writer)
    }

    /// Starts a session. Its log follows.
    pub fn session(&mut self, head: &SessionHead) -> Result<(), BundleError> {
        self.end_log()?;
        let head = serde_json::to_string(head).map_err(std::io::Error::from)?;
        self.item(&[b"{\"session\":", head.as_bytes(), b"}"])
    }

    /// Writes bytes of the log, in pieces of any size.
    pub fn log(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let mut line = std::mem::take(&mut self.line);
                line.pop();
                self.whole_line(&line)?;
                line.clear();
                self.line = line;
            }
        }
        Ok(())
    }

    fn whole_line(&mut self, line: &[u8]) -> Result<(), BundleError> {
        if is_one_value(line) {
            return self.item(&[b"{\"line\":", line, b"}"]);
        }
        let coded = STANDARD.encode(line);
        self.item(&[b"{\"bytes\":\"", coded.as_bytes(), b"\"}"])
    }

    /// What is behind the last line end.
    fn end_log(&mut self) -> Result<(), BundleError> {
        if self.line.is_empty() {
            return Ok(());
        }
        let coded = STANDARD.encode(std::mem::take(&mut self.line));
        self.item(&[b"{\"tail\":\"", coded.as_bytes(), b"\"}"])
    }

    /// Writes a blob.
    pub fn blob(&mut self, hash: BlobHash, bytes: &[u8]) -> Result<(), BundleError> {
        self.end_log()?;
        let name = hash.to_string();
        let mut pieces = bytes.chunks(PIECE).peekable();
        if pieces.peek().is_none() {
            return self.item(&[b"{\"blob\":\"", name.as_bytes(), b"\",\"data\":\"\"}"]);
        }
        while let Some(piece) = pieces.next() {
            let coded = STANDARD.encode(piece);
            let more: &[u8] = if pieces.peek().is_some() { b"\",\"more\":true}" } else { b"\"}" };
            self.item(&[b"{\"blob\":\"", name.as_bytes(), b"\",\"data\":\"", coded.as_bytes(), more])?;
        }
        Ok(())
    }

    /// Closes the bundle and returns what it was written to.
    pub fn finish(mut self) -> Result<W, BundleError> {
        self.end_log()?;
        let end = End { items: self.items, sha256: hex::encode(self.sum.clone().finalize()) };
        let end = serde_json::to_string(&end).map_err(std::io::Error::from)?;
        self.put(format!("{{\"end\":{end}}}\n]}}\n").as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn item(&mut self, parts: &[&[u8]]) -> Result<(), BundleError> {
        for part in parts {
            self.put(part)?;
        }
        self.put(b",\n")?;
        self.items += 1;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        self.sum.update(bytes);
        Ok(self.out.write_all(bytes)?)
    }
}

/// Whether a line can stand in the bundle as it is, and be found in it again to the byte.
fn is_one_value(line: &[u8]) -> bool {
    let is_object = line.first() == Some(&b'{') && line.last() == Some(&b'}');
    is_object && std::str::from_utf8(line).is_ok() && Raw::parse(line).is_some()
}
