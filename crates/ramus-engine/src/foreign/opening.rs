//! How a new session is handed on: not before it is known what it is called, because its header says that first.

use ramus_interchange::Error;
use ramus_model::{Blob, Header};

use super::message::Message;
use super::take::Taking;

/// How much of a session is held back for a title.
const MOST: usize = 4 << 20;

/// A new session of which nothing was handed on yet.
pub(super) struct Opening {
    header: Box<Header>,
    /// What its lines refer to, and how much that is.
    blobs: Vec<Blob>,
    bytes: usize,
}

impl Opening {
    pub(super) fn of(header: Header) -> Self {
        Self { header: Box::new(header), blobs: Vec::new(), bytes: 0 }
    }
}

impl Taking<'_> {
    /// Hands on what the last line refers to, unless the session is held back. Says whether it is.
    pub(super) fn holds(&mut self, blobs: Vec<Blob>) -> Result<bool, Error> {
        let Some(opening) = &mut self.opening else {
            blobs.into_iter().try_for_each(|blob| self.send(Message::Blob(blob)))?;
            return Ok(false);
        };
        opening.bytes += blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>();
        opening.blobs.extend(blobs);
        let is_full = self.chunk.len() + opening.bytes >= MOST;
        if opening.header.title.is_none() && !self.titling.is_settled() && !is_full {
            return Ok(true);
        }
        self.open()?;
        Ok(false)
    }

    /// Lets a new session begin, with the title that is known by now.
    pub(super) fn open(&mut self) -> Result<(), Error> {
        let Some(Opening { mut header, blobs, .. }) = self.opening.take() else { return Ok(()) };
        header.title = header.title.take().or_else(|| std::mem::take(&mut self.titling).title());
        let line = header.to_line();
        // What is held back may be long, and would take twice the memory if it doubled.
        self.chunk.reserve_exact(line.len());
        self.chunk.splice(..0, line);
        self.send(Message::Session(header))?;
        blobs.into_iter().try_for_each(|blob| self.send(Message::Blob(blob)))
    }
}
