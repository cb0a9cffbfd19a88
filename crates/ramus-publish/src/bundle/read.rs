//! Reading a bundle, item by item, without believing any of it.

use std::io::{BufRead, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_model::json::Raw;
use ramus_model::{Blob, BlobHash};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{BundleError, End, Item, OPENING, SessionHead, VERSION};

/// How much a bundle may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line, in bytes.
    pub line: u64,
    /// The longest blob, in bytes.
    pub blob: usize,
    /// How many sessions.
    pub sessions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 256 << 20, blob: 256 << 20, sessions: 10_000 }
    }
}

/// Reads a bundle.
pub struct Reader<R> {
    input: R,
    limits: Limits,
    sum: Sha256,
    line: u64,
    items: u64,
    sessions: usize,
    /// A blob of which more is to come.
    blob: Option<(BlobHash, Vec<u8>)>,
    is_over: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    #[serde(rename = "format")]
    _format: String,
    version: u64,
    #[serde(rename = "items")]
    _items: Vec<()>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    blob: String,
    data: String,
    #[serde(default)]
    more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Small {
    Session(SessionHead),
    Bytes(String),
    Tail(String),
    End(End),
}

impl<R: BufRead> Reader<R> {
    /// Opens a bundle.
    pub fn new(input: R, limits: Limits) -> Result<Self, BundleError> {
        let (sum, blob) = (Sha256::new(), None);
        let mut reader = Self { input, limits, sum, line: 0, items: 0, sessions: 0, blob, is_over: false };
        let opening = match reader.next_line(4096) {
            Err(BundleError::Malformed { .. } | BundleError::Truncated { .. }) => return Err(BundleError::NotABundle),
            line => line?,
        };
        reader.sum.update(&opening);
        if !opening.starts_with(OPENING) {
            return Err(BundleError::NotABundle);
        }
        let closed = [&*opening, b"]}"].concat();
        let opened: Opening = serde_json::from_slice(&closed).map_err(|_| BundleError::NotABundle)?;
        match opened.version {
            version if version == u64::from(VERSION) => Ok(reader),
            found => Err(BundleError::Newer { found }),
        }
    }

    /// Returns the next item; none when the bundle is over, and was whole and unchanged.
    pub fn next_item(&mut self) -> Result<Option<Item>, BundleError> {
        while !self.is_over {
            let mut line = self.next_line(self.limits.line)?;
            if line.starts_with(b"{\"end\":") {
                self.close(&line)?;
                break;
            }
            self.sum.update(&line);
            self.items += 1;
            if !line.ends_with(b",\n") {
                return Err(self.malformed("an item ends with a comma and the end of its line"));
            }
            line.truncate(line.len() - 2);
            if let Some(item) = self.item(line)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn item(&mut self, mut line: Vec<u8>) -> Result<Option<Item>, BundleError> {
        if line.starts_with(b"{\"blob\":") {
            return self.piece(&line);
        }
        if self.blob.is_some() {
            return Err(self.malformed("a blob is not complete"));
        }
        if let Some(inside) = line.strip_prefix(b"{\"line\":").and_then(|line| line.strip_suffix(b"}")) {
            if self.sessions == 0 || Raw::parse(inside).is_none() {
                return Err(self.malformed("a line of a log is one JSON value and belongs to a session"));
            }
            line.drain(..b"{\"line\":".len());
            line.pop();
            line.push(b'\n');
            return Ok(Some(Item::Log(line)));
        }
        let small: Small = serde_json::from_slice(&line).map_err(|error| self.malformed(error))?;
        match small {
            Small::Session(head) => {
                self.sessions += 1;
                if self.sessions > self.limits.sessions {
                    return Err(self.malformed("there are too many sessions"));
                }
                Ok(Some(Item::Session(head)))
            }
            Small::Bytes(_) | Small::Tail(_) if self.sessions == 0 => Err(self.malformed("a log belongs to a session")),
            Small::Bytes(coded) => {
                let mut bytes = self.decoded(&coded)?;
                if bytes.contains(&b'\n') {
                    return Err(self.malformed("a line has no line end in it"));
                }
                bytes.push(b'\n');
                Ok(Some(Item::Log(bytes)))
            }
            Small::Tail(coded) => Ok(Some(Item::Log(self.decoded(&coded)?))),
            Small::End(_) => Err(self.malformed("the end is spelled differently")),
        }
    }

    fn piece(&mut self, line: &[u8]) -> Result<Option<Item>, BundleError> {
        let piece: Piece = serde_json::from_slice(line).map_err(|error| self.malformed(error))?;
        let hash =
            BlobHash::parse(piece.blob.as_bytes()).ok_or_else(|| self.malformed("a blob is named by its hash"))?;
        let bytes = self.decoded(&piece.data)?;
        let mut whole = match self.blob.take() {
            Some((open, _)) if open != hash => return Err(self.malformed("a blob is not complete")),
            Some((_, whole)) => whole,
            None => Vec::new(),
        };
        if whole.len() + bytes.len() > self.limits.blob {
            return Err(self.malformed("a blob is too large"));
        }
        whole.extend_from_slice(&bytes);
        if piece.more {
            self.blob = Some((hash, whole));
            return Ok(None);
        }
        let blob = Blob::new(whole);
        if blob.hash() != hash {
            return Err(self.malformed("the content of a blob is not what its name says"));
        }
        Ok(Some(Item::Blob(hash, blob.bytes().to_vec())))
    }

    /// The last item, and nothing behind it.
    fn close(&mut self, line: &[u8]) -> Result<(), BundleError> {
        if self.blob.is_some() {
            return Err(self.malformed("a blob is not complete"));
        }
        let end: Small = serde_json::from_slice(line).map_err(|error| self.malformed(error))?;
        let Small::End(end) = end else { return Err(self.malformed("the end is spelled differently")) };
        let sum = hex::encode(std::mem::take(&mut self.sum).finalize());
        if end.items != self.items || end.sha256 != sum {
            return Err(BundleError::Checksum);
        }
        if self.next_line(self.limits.line)? != b"]}\n" {
            return Err(self.malformed("a bundle ends with `]}`"));
        }
        let mut more = [0];
        if self.input.read(&mut more)? > 0 {
            return Err(self.malformed("there is something behind the end of the bundle"));
        }
        self.is_over = true;
        Ok(())
    }

    /// The next line, with its end.
    fn next_line(&mut self, longest: u64) -> Result<Vec<u8>, BundleError> {
        let mut line = Vec::new();
        self.input.by_ref().take(longest + 1).read_until(b'\n', &mut line)?;
        if line.len() as u64 > longest {
            self.line += 1;
            return Err(self.malformed(format!("it is longer than {longest} bytes")));
        }
        if !line.ends_with(b"\n") {
            return Err(BundleError::Truncated { line: self.line });
        }
        self.line += 1;
        Ok(line)
    }

    fn decoded(&self, coded: &str) -> Result<Vec<u8>, BundleError> {
        STANDARD.decode(coded).map_err(|error| self.malformed(error))
    }

    fn malformed(&self, reason: impl ToString) -> BundleError {
        BundleError::Malformed { line: self.line, reason: reason.to_string() }
    }
}
