//! Whole homes: thousands of sessions in many directories, of the sizes, words and kinds that a year of work leaves.
//!
//! The plan alone decides the bytes. Every file is version 3 and lies where pi looks for it, so the same tree can be given
//! to the programs that share the format. Two words that occur nowhere else stand in a known share of the messages, and
//! [`Made`] says in which: searches for them have a known answer.

mod session;
mod vocabulary;
mod writer;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ramus_store::Layout;

use self::session::{Kind, Written};
use self::vocabulary::Vocabulary;
use crate::random::Random;

/// Stands in about one of a thousand messages, and nowhere else.
pub const RARE: &str = "quillwort";
/// Stands in about one of a hundred messages, and nowhere else.
pub const COMMON: &str = "hornbeam";

/// Sessions are made in families of so many; the members of a family know each other.
const FAMILY: usize = 10;
/// How long the members of a family are, in tenths of the average.
const SPREAD: [usize; FAMILY] = [1, 2, 3, 5, 7, 10, 12, 15, 20, 25];
/// Messages of a draft.
const DRAFT: usize = 2;

/// What a home is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many sessions, drafts and forks included. A multiple of ten makes the number of messages exact.
    pub sessions: usize,
    /// How many messages a session has on average.
    pub messages: usize,
    /// How many working directories they are spread over.
    pub directories: usize,
    /// Decides everything else.
    pub seed: u64,
}

/// A message that a search must find.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The session.
    pub session: String,
    /// The entry.
    pub entry: String,
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// All sessions.
    pub sessions: usize,
    /// Those that are drafts.
    pub drafts: usize,
    /// Those that were forked from others.
    pub forks: usize,
    /// Those that are archived.
    pub archived: usize,
    /// Messages that the files hold themselves; what a fork shares is not counted again.
    pub messages: usize,
    /// Entries of every kind.
    pub entries: usize,
    /// Size of all files.
    pub bytes: u64,
    /// Where [`RARE`] stands, in order.
    pub rare: Vec<Place>,
    /// Where [`COMMON`] stands, in order.
    pub common: Vec<Place>,
}

impl Plan {
    /// Returns the working directory of this number, counted from 0.
    pub fn cwd(&self, number: usize) -> String {
        match number {
            0 => "/home/bench".to_owned(),
            _ => format!("/home/dev/{}-{number}", vocabulary::project(number)),
        }
    }

    /// Makes the home, on every core. What is in the way is an error.
    pub fn write(&self, home: &Path) -> io::Result<Made> {
        let folders = self.folders(home)?;
        let vocabulary = Vocabulary::new(self.seed);
        let (next, families) = (AtomicUsize::new(0), self.sessions.div_ceil(FAMILY));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut made = std::thread::scope(|scope| {
            let work = || {
                let mut made = Made::default();
                loop {
                    let family = next.fetch_add(1, Ordering::Relaxed);
                    if family >= families {
                        return io::Result::Ok(made);
                    }
                    self.family(family, &vocabulary, &folders, &mut made)?;
                }
            };
            let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            let mut all = Made::default();
            for worker in workers {
                all.add(worker.join().map_err(|_| io::Error::other("a worker died"))??);
            }
            io::Result::Ok(all)
        })?;
        made.rare.sort_unstable();
        made.common.sort_unstable();
        Ok(made)
    }

    /// Makes the folders: that of the drafts, then one for each working directory.
    fn folders(&self, home: &Path) -> io::Result<Folders> {
        let make = |folder: PathBuf| {
            DirBuilder::new().mode(0o700).recursive(true).create(&folder)?;
            io::Result::Ok(folder)
        };
        make(home.to_owned())?;
        let drafts = make(home.join("drafts"))?;
        let sessions = make(home.join("sessions"))?;
        let folder = |number| {
            let cwd = self.cwd(number);
            Ok((make(sessions.join(Layout::Pi.directory_name(&cwd)))?, cwd))
        };
        let published = (0..self.directories.max(1)).map(folder).collect::<io::Result<_>>()?;
        Ok(Folders { drafts, published })
    }

    fn family(&self, family: usize, words: &Vocabulary, folders: &Folders, made: &mut Made) -> io::Result<()> {
        // A seed that is itself random: streams from neighbouring seeds would be one stream.
        let mut random = Random::new(Random::new(self.seed.wrapping_add(family as u64)).bits());
        let mut lengths = SPREAD.map(|tenths| (self.messages * tenths / 10).max(2));
        for at in (1..FAMILY).rev() {
            lengths.swap(at, random.below(at + 1));
        }
        let size = FAMILY.min(self.sessions - family * FAMILY);
        let mut previous: Option<Written> = None;
        let mut owed = 0;
        for (member, length) in lengths.into_iter().take(size).enumerate() {
            let kind = kind(family, member, previous.as_ref());
            let length = length + std::mem::take(&mut owed);
            let length = if matches!(kind, Kind::Draft) { DRAFT.min(length) } else { length };
            owed = if matches!(kind, Kind::Draft) { lengths.get(member).copied().unwrap_or(0) - length } else { 0 };
            let number = family * FAMILY + member;
            let cwd = match &kind {
                Kind::Fork(origin) => origin.directory,
                _ => random.below(folders.published.len()),
            };
            let Some((folder, name)) = folders.published.get(cwd) else { continue };
            let request = session::Request { number, messages: length, directory: cwd, cwd: name, kind };
            let written = session::write(&request, words, &mut random, made);
            let folder = if matches!(request.kind, Kind::Draft) { &folders.drafts } else { folder };
            let path = folder.join(format!("{}_{}.jsonl", written.stamp, written.id));
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(&written.bytes)?;
            previous = Some(written);
        }
        Ok(())
    }
}

/// Where files go.
struct Folders {
    drafts: PathBuf,
    published: Vec<(PathBuf, String)>,
}

/// One of a hundred is a draft, one of fifty a fork of the session before it.
fn kind(family: usize, member: usize, previous: Option<&Written>) -> Kind {
    match (previous, member) {
        (_, 3) if family % 10 == 2 => Kind::Draft,
        (Some(origin), 9) if family % 5 == 1 => Kind::Fork(origin.origin()),
        _ => Kind::Plain,
    }
}

impl Made {
    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.drafts += other.drafts;
        self.forks += other.forks;
        self.archived += other.archived;
        self.messages += other.messages;
        self.entries += other.entries;
        self.bytes += other.bytes;
        self.rare.extend(other.rare);
        self.common.extend(other.common);
    }
}

/// Copies a home as files, without its catalogue. Sidecars come along: they alone know what was written, and so what was
/// changed behind their back.
pub fn copy(home: &Path, to: &Path) -> io::Result<()> {
    let mut pending = vec![(home.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        DirBuilder::new().mode(0o700).recursive(true).create(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_left_out(&name.to_string_lossy()) && from == home {
                continue;
            }
            if entry.file_type()?.is_dir() {
                pending.push((entry.path(), to.join(name)));
            } else {
                match fs::copy(entry.path(), to.join(name)) {
                    Ok(_) => {}
                    // Sidecars of other processes come and go under temporary names.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(())
}

/// Whether a name at the top of a home is that of a catalogue, or of no account.
fn is_left_out(name: &str) -> bool {
    name.starts_with("catalogue.") || name == "locks"
}
