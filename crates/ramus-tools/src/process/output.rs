//! Output: the beginning and the end to show, and all of it in a file when that is not all. Memory does not grow with it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::outcome::Spill;

/// What a command wrote.
#[derive(Debug, Default)]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end, when there is something between it and the beginning.
    pub tail: Vec<u8>,
    /// How many bytes there were.
    pub total: u64,
    /// All of it, when head and tail are not.
    pub spill: Option<Spill>,
}

impl Captured {
    /// Returns the output as text, with a notice where something is left out.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let left_out = self.total - self.head.len() as u64 - self.tail.len() as u64;
        if left_out > 0 {
            text.push_str(&format!("\n[… {left_out} of {} bytes left out …]\n", self.total));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
    kept: u64,
    directory: PathBuf,
    file: Option<File>,
}

impl Capture {
    pub(super) fn new(shown: usize, kept: u64, directory: PathBuf) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: shown / 2, total: 0, kept, directory, file: None }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        if self.file.is_none() && self.head.len() + self.tail.len() + bytes.len() > self.half * 2 {
            let mut file = nameless(&self.directory)?;
            file.write_all(&self.head)?;
            file.write_all(self.tail.make_contiguous())?;
            self.file = Some(file);
        }
        if let Some(file) = &mut self.file {
            let left = usize::try_from(self.kept.saturating_sub(self.total)).unwrap_or(usize::MAX);
            file.write_all(bytes.get(..left.min(bytes.len())).unwrap_or_default())?;
        }
        self.head.extend_from_slice(head);
        let last = rest.get(rest.len().saturating_sub(self.half)..).unwrap_or_default();
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.half);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(last);
        self.total += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<Captured> {
        let spill = match self.file.take() {
            Some(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                Some(Spill { file, length: self.total.min(self.kept), is_cut: self.total > self.kept })
            }
            None => None,
        };
        Ok(Captured { head: self.head, tail: self.tail.into(), total: self.total, spill })
    }
}

/// Makes a file that nobody else can find and that is gone when it is closed.
fn nameless(directory: &PathBuf) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR)?))
}
