//! Files that are compressed with zstd: one frame behind another, and frames that hold no data between them.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::limits::{Limits, RATIO_FROM};

/// The four bytes that a zstd frame starts with.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Says whether a file is compressed, from its first bytes.
pub(crate) fn is_compressed(front: &[u8]) -> bool {
    front.starts_with(&ZSTD) || front.get(..ZSTD.len()).is_some_and(is_skippable)
}

/// Says whether a frame without data starts with this.
fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [first, 0x2a, 0x4d, 0x18] if first & 0xf0 == 0x50)
}

/// Reads a file that may be compressed with zstd, within the limits on expansion.
pub(crate) fn expanded<'r>(mut reader: Box<dyn Read + 'r>, limits: Limits) -> io::Result<Box<dyn Read + 'r>> {
    let mut front = [0; 4];
    let filled = fill(&mut reader, &mut front)?;
    let front = front.get(..filled).unwrap_or_default().to_vec();
    let is_compressed = is_compressed(&front);
    let whole = io::Cursor::new(front).chain(reader);
    if !is_compressed {
        return Ok(Box::new(whole));
    }
    let read = Rc::default();
    let source = Counted { reader: whole, read: Rc::clone(&read) };
    let frames = Frames { source, decoder: FrameDecoder::new(), is_open: false };
    Ok(Box::new(Expanding { frames, read, given: 0, limits }))
}

/// Reads until a buffer is full or nothing comes.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What is in the frames of a file, one after another.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether the decoder is inside of a frame.
    is_open: bool,
}

impl<R: Read> Frames<R> {
    /// Goes to the next frame with data. False when there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        loop {
            let mut magic = [0; 4];
            let filled = fill(&mut self.source, &mut magic)?;
            if filled == 0 {
                return Ok(false);
            }
            if magic == ZSTD {
                self.decoder.reset(magic.chain(&mut self.source)).map_err(io::Error::other)?;
                self.is_open = true;
                return Ok(true);
            }
            let mut length = [0; 4];
            if filled < magic.len() || !is_skippable(&magic) || fill(&mut self.source, &mut length)? < length.len() {
                return Err(wrong("the compressed file goes on with something that is not compressed"));
            }
            let length = u64::from(u32::from_le_bytes(length));
            if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                return Err(wrong("the compressed file ends too early"));
            }
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.is_open || self.advance()? {
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let step = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, step).map_err(io::Error::other)?;
            }
            let given = self.decoder.read(buffer)?;
            if given > 0 {
                return Ok(given);
            }
            self.is_open = false;
        }
        Ok(0)
    }
}

/// Counts what is read.
struct Counted<R> {
    reader: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Ends with an error when much comes out of little.
struct Expanding<D> {
    frames: D,
    read: Rc<Cell<u64>>,
    given: u64,
    limits: Limits,
}

impl<D: Read> Read for Expanding<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let given = self.frames.read(buffer)?;
        self.given += given as u64;
        let is_bomb = self.given > RATIO_FROM && self.given / self.read.get().max(1) > self.limits.ratio;
        if is_bomb || self.given > self.limits.expanded {
            let why = format!("the compressed file expands to more than {} MiB", (self.given - given as u64) >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(given)
    }
}
