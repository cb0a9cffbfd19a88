//! Telling what a file is from what is in it.

use std::fs::File;
use std::io::{self, Read as _};

use ramus_interchange::{Format, Limits, detect};

/// How much of a file is looked at first.
const FRONT: usize = 1 << 16;
/// How many times more is looked at when that was not enough.
const MORE: usize = 8;
/// Lines behind these say nothing about what a file is.
const LINES: usize = 64;

/// Says what a file is. Its first lines may be long: a picture, or the instructions of a whole project.
pub(super) fn recognise(file: File, name: &str) -> io::Result<Option<Format>> {
    let mut front = Vec::new();
    let mut wanted = FRONT;
    loop {
        (&file).take((wanted - front.len()) as u64).read_to_end(&mut front)?;
        let found = detect(name, &front);
        let has_more = front.len() == wanted && wanted < Limits::default().line;
        if found.is_some() || !has_more || !goes_on(&front) {
            return Ok(found);
        }
        wanted = wanted.saturating_mul(MORE).min(Limits::default().line);
    }
}

/// Says whether a file may have lines of JSON of which more must be seen.
fn goes_on(front: &[u8]) -> bool {
    let text = front.strip_prefix(b"\xef\xbb\xbf").unwrap_or(front).trim_ascii_start();
    text.starts_with(b"{") && memchr::memchr_iter(b'\n', front).take(LINES).count() < LINES
}
