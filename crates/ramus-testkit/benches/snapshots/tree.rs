//! A directory of text files, the same every time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ramus_testkit::random::Random;

/// How many files a directory has.
const PER_DIRECTORY: usize = 40;

const WORDS: [&str; 16] = [
    "let", "value", "return", "match", "struct", "parser", "->", "Result", "self", "index", "{", "}", "config", "==",
    "buffer", "// why",
];

pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: usize,
    pub(crate) lines: usize,
}

impl Tree {
    /// Writes it anew.
    pub(crate) fn make(&self) -> io::Result<()> {
        if self.root.exists() {
            fs::remove_dir_all(&self.root)?;
        }
        for number in 0..self.files {
            let path = self.path(number);
            if number % PER_DIRECTORY == 0 {
                fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            }
            fs::write(path, self.content(number, 0))?;
        }
        Ok(())
    }

    /// Where a file is: modules of a size that people have, two levels deep.
    pub(crate) fn path(&self, number: usize) -> PathBuf {
        let directory = number / PER_DIRECTORY;
        self.root.join(format!("area{}/module{directory}/file{number}.rs", directory / 20))
    }

    /// What a file holds in a round.
    pub(crate) fn content(&self, number: usize, round: usize) -> String {
        let mut random = Random::new((number as u64) << 20 | round as u64);
        let mut text = String::new();
        for line in 0..self.lines {
            for _ in 0..2 + random.below(7) {
                text.push_str(WORDS.get(random.below(WORDS.len())).copied().unwrap_or_default());
                text.push(' ');
            }
            text.push_str(&format!("{number:x}{line}{:x}\n", random.bits() & 0xffff));
        }
        text
    }

    /// Changes so many files, far from each other.
    pub(crate) fn change(&self, count: usize, round: usize) -> io::Result<()> {
        self.chosen(count).try_for_each(|number| fs::write(self.path(number), self.content(number, round)))
    }

    pub(crate) fn changed_paths(&self, count: usize) -> Vec<PathBuf> {
        let path = |number| self.path(number).strip_prefix(&self.root).map(Path::to_owned).unwrap_or_default();
        self.chosen(count).map(path).collect()
    }

    fn chosen(&self, count: usize) -> impl Iterator<Item = usize> {
        let step = self.files / count;
        (0..count).map(move |number| number * step)
    }

    /// Looks at every file: what nobody who wants to know what changed can do without.
    pub(crate) fn walk(&self) -> io::Result<()> {
        let mut open = vec![self.root.clone()];
        let mut files = 0;
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    open.push(entry.path());
                } else {
                    files += usize::from(std::hint::black_box(entry.metadata()?).is_file());
                }
            }
        }
        if files == self.files { Ok(()) } else { Err(io::Error::other(format!("{files} files"))) }
    }
}
