//! Lines of JSON from a file or from stdin.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;
use ramus_engine::EngineError;
use ramus_model::{Draft, MAX_LINE};

use crate::failure::Refusal;

/// The lines of a file or of stdin.
pub(super) struct JsonLines {
    from: Box<dyn BufRead>,
    name: String,
    number: usize,
}

/// One line and its number, from 1.
pub(super) struct JsonLine {
    pub(super) number: usize,
    pub(super) bytes: Vec<u8>,
}

impl JsonLines {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
        let from: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(File::open(path).with_context(|| format!("cannot open {name}"))?))
        };
        Ok(Self { from, name, number: 0 })
    }

    /// Returns the next line that is not empty.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<JsonLine>> {
        loop {
            let mut bytes = Vec::new();
            let limit = MAX_LINE as u64 + 1;
            let read = self.from.by_ref().take(limit).read_until(b'\n', &mut bytes);
            if read.with_context(|| format!("cannot read {}", self.name))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() > MAX_LINE {
                let message = format!("line {}: the line has more than {MAX_LINE} bytes", self.number);
                return Err(Refusal::invalid(message).into());
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(JsonLine { number: self.number, bytes }));
            }
        }
    }
}

impl JsonLine {
    /// Reads the entry.
    pub(super) fn draft(&self) -> Result<Draft, EngineError> {
        Draft::parse(self.bytes.trim_ascii())
            .map_err(|error| EngineError::InvalidLine { line: self.number, reason: error.to_string() })
    }
}
