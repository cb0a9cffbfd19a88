//! A record of a source: its line, and what is read of it.

use std::borrow::Cow;

use ramus_model::json::{Checked, Object, Raw, Shape};

use crate::compose::Hole;
use crate::emit::Emitter;
use crate::error::Error;
use crate::lines::Line;
use crate::origin::Kept;

/// One record. Text that is no UTF-8 is read as what it resembles and kept as it is.
#[derive(Clone)]
pub(crate) struct Record<'a> {
    pub(crate) line: u64,
    pub(crate) bytes: Checked<'a>,
    /// The bytes of the source, when they are not the ones that are read.
    original: Option<Vec<u8>>,
}

/// A record that was put together from several places, and what is missing in it.
#[derive(Default)]
pub(crate) struct Pieced {
    pub(crate) bytes: Vec<u8>,
    pub(crate) gaps: Vec<&'static str>,
}

impl From<Vec<u8>> for Pieced {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, gaps: Vec::new() }
    }
}

impl<'a> Record<'a> {
    pub(crate) fn new(line: u64, bytes: &'a [u8]) -> Self {
        // Looking whether all of it is text is much faster than making text of it.
        let (read, original) = match std::str::from_utf8(bytes) {
            Ok(_) => (Cow::Borrowed(bytes), None),
            Err(_) => (Cow::Owned(String::from_utf8_lossy(bytes).into_owned().into_bytes()), Some(bytes.to_vec())),
        };
        Self { line, bytes: Checked::new(read), original }
    }

    /// Takes the next record of lines. What is no JSON object is kept and reported, what is too long only reported.
    pub(crate) fn take(line: &Line<'a>, emitter: &mut Emitter<'_>) -> Result<Option<Self>, Error> {
        let Some(bytes) = line.bytes else {
            emitter.report.records += 1;
            emitter.report.lost += 1;
            let why = if line.is_crowded {
                "the line has more objects and arrays than are read of one"
            } else {
                "the line is too long to be held in memory"
            };
            emitter.lose(Some(line.number), why)?;
            return Ok(None);
        };
        let record = Self::new(line.number, bytes);
        if record.raw().is_some() {
            return Ok(Some(record));
        }
        emitter.report.records += 1;
        emitter.lose(Some(line.number), "the line is not a JSON object; its bytes are kept")?;
        emitter.keep(Kept::whole(line.number, bytes));
        Ok(None)
    }

    pub(crate) fn object(&self) -> Option<Object<'_>> {
        self.raw().and_then(Raw::object)
    }

    pub(crate) fn raw(&self) -> Option<Raw<'_>> {
        self.bytes.raw().filter(|raw| raw.shape() == Shape::Object)
    }

    pub(crate) fn into_owned(self) -> Record<'static> {
        Record { line: self.line, bytes: self.bytes.into_owned(), original: self.original }
    }

    /// Keeps the record without what stands in holes.
    pub(crate) fn kept(&self, holes: Vec<Hole>) -> Kept {
        match &self.original {
            Some(original) => Kept::whole(self.line, original),
            None if self.bytes.raw().is_none() => Kept::whole(self.line, &self.bytes),
            None => Kept::template(self.line, &self.bytes, holes),
        }
    }

    /// Keeps the record whole.
    pub(crate) fn whole(&self) -> Kept {
        self.kept(Vec::new())
    }
}
