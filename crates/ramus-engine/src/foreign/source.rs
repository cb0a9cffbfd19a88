//! A session of another agent as a source for its codec: which files belong to it, and what was looked at. Everything that
//! decides what comes out is noted with its stamp, so that the next import can tell that nothing changed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_interchange::{Format, Source, Wanted};
use ramus_model::json::{Raw, Shape};
use serde::{Deserialize, Serialize};

use super::database::{Copy, is_database};
use super::ground::Stamp;
use super::store::{Store, Told};

/// How far behind the last newline a line that is not complete yet may reach.
const LONGEST_TAIL: u64 = 64 << 20;
/// How deep transcripts of spawned agents are looked for.
const CHILD_DEPTH: usize = 2;

/// What was looked at, as it was then.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Looked {
    /// Files and directories, by name beneath the ground of the store; none where nothing was.
    pub(crate) stamps: BTreeMap<String, Option<Stamp>>,
    /// What other files of the store say.
    #[serde(default)]
    pub(crate) told: Told,
}

/// The files of one session, or of a database of many.
pub(crate) struct FileSource<'s> {
    store: &'s Store,
    /// The main file, beneath the ground of the store.
    name: &'s str,
    format: Format,
    /// Where copies of databases go.
    scratch: Option<&'s Path>,
    looked: RefCell<BTreeMap<String, Option<Stamp>>>,
    told: Told,
    copy: OnceCell<Copy>,
    /// How much of the main file is read. It may grow meanwhile.
    length: Cell<Option<u64>>,
    waits: Cell<bool>,
}

impl<'s> FileSource<'s> {
    pub(crate) fn new(store: &'s Store, name: &'s str, format: Format, scratch: Option<&'s Path>) -> Self {
        Self {
            store,
            name,
            format,
            scratch,
            looked: RefCell::default(),
            told: store.told(format, name),
            copy: OnceCell::new(),
            length: Cell::new(None),
            waits: Cell::new(false),
        }
    }

    /// Returns what was looked at.
    pub(crate) fn looked(&self) -> Looked {
        Looked { stamps: self.looked.borrow().clone(), told: self.told.clone() }
    }

    /// Says whether the last line of a file is not complete yet and was left for later.
    pub(crate) fn waits(&self) -> bool {
        self.waits.get()
    }

    fn note(&self, name: &str, stamp: Option<Stamp>) {
        // The first look counts: what comes later may be newer than what was read.
        self.looked.borrow_mut().entry(name.to_owned()).or_insert(stamp);
    }

    fn file(&self, name: &str) -> io::Result<Option<File>> {
        let opened = self.store.ground.file(name)?;
        self.note(name, opened.as_ref().map(|opened| opened.stamp));
        Ok(opened.map(|opened| opened.file))
    }

    /// Lists the names in a directory beneath the ground.
    fn names(&self, directory: &str, is_wanted: impl Fn(&super::ground::Listed) -> bool) -> io::Result<Vec<String>> {
        let listed = self.store.ground.list(directory)?;
        self.note(directory, listed.as_ref().map(|(_, stamp)| *stamp));
        let names = listed.into_iter().flat_map(|(names, _)| names);
        Ok(names.filter(is_wanted).map(|listed| listed.name).collect())
    }

    fn is_lines(&self) -> bool {
        match self.format {
            Format::Claude | Format::Pi | Format::Omp => true,
            Format::Codex | Format::Gemini | Format::Goose => self.name.ends_with(".jsonl"),
            _ => false,
        }
    }

    /// How much of the file is whole records, as it is now.
    fn complete(&self, file: &File) -> io::Result<u64> {
        if let Some(length) = self.length.get() {
            return Ok(length);
        }
        let size = file.metadata()?.len();
        let length = if self.is_lines() { complete_lines(file, size)? } else { size };
        self.waits.set(self.waits.get() || length < size);
        self.length.set(Some(length));
        Ok(length)
    }

    /// The transcripts in a directory of them, as names beneath `directory`.
    fn transcripts(&self, directory: &str, prefix: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut waiting = vec![(String::new(), 0)];
        while let Some((inner, depth)) = waiting.pop() {
            let whole = join(directory, &inner);
            let name_of = |name: &str| join(&inner, name);
            for name in self.names(&whole, |listed| listed.is_file && is_transcript(&listed.name, prefix))? {
                found.push(name_of(&name));
            }
            if depth < CHILD_DEPTH {
                let deeper = self.names(&whole, |listed| listed.is_directory)?;
                waiting.extend(deeper.iter().map(|name| (name_of(name), depth + 1)));
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

impl Source for FileSource<'_> {
    fn name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(self.name)
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        let file = self.file(self.name)?.ok_or(io::ErrorKind::NotFound)?;
        let length = self.complete(&file)?;
        Ok(Box::new(file.take(length)))
    }

    fn other(&self, wanted: Wanted<'_>) -> io::Result<Option<Box<dyn Read + '_>>> {
        let name = match wanted {
            Wanted::Child(name) => Some(join(parent(self.name), name)),
            Wanted::Rollout(id) => self.store.rollout(id).map(str::to_owned),
            Wanted::Beside(name) => Some(join(&self.base(), name)),
        };
        let Some(name) = name else { return Ok(None) };
        let Some(file) = self.file(&name)? else { return Ok(None) };
        let is_transcript = match wanted {
            Wanted::Child(child) => child.ends_with(".jsonl") && !child.contains("/tool-results/"),
            Wanted::Rollout(_) => name.ends_with(".jsonl"),
            Wanted::Beside(_) => false,
        };
        if !is_transcript {
            return Ok(Some(Box::new(file)));
        }
        let size = file.metadata()?.len();
        let length = complete_lines(&file, size)?;
        // What another thread goes on to write behind the part that this one builds on is not waited for.
        self.waits.set(self.waits.get() || length < size && matches!(wanted, Wanted::Child(_)));
        Ok(Some(Box::new(file.take(length))))
    }

    fn children(&self) -> io::Result<Vec<String>> {
        let directory = parent(self.name);
        let stem = self.name().rsplit_once('.').map_or(self.name(), |(stem, _)| stem);
        let beneath =
            |inner: &str, found: Vec<String>| -> Vec<String> { found.iter().map(|name| join(inner, name)).collect() };
        match self.format {
            Format::Claude => {
                let inner = format!("{stem}/subagents");
                Ok(beneath(&inner, self.transcripts(&join(directory, &inner), "agent-")?))
            }
            Format::Gemini => {
                let short = stem.rsplit('-').next().filter(|short| short.len() >= 8).unwrap_or(stem);
                let mut found = Vec::new();
                for inner in self.names(directory, |listed| listed.is_directory && listed.name.starts_with(short))? {
                    found.extend(beneath(&inner, self.transcripts(&join(directory, &inner), "")?));
                }
                Ok(found)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        self.names(&join(&self.base(), directory), |listed| listed.is_file)
    }

    fn database(&self) -> io::Result<Option<PathBuf>> {
        if let Some(copy) = self.copy.get() {
            return Ok(Some(copy.path()));
        }
        let Some(file) = self.file(self.name)? else { return Ok(None) };
        if !is_database(&file)? {
            return Ok(None);
        }
        let missing = || io::Error::new(io::ErrorKind::Unsupported, "this home has no place for a copy of a database");
        let (copy, parts) = Copy::of(&self.store.ground, self.name, self.scratch.ok_or_else(missing)?)?;
        self.looked.borrow_mut().extend(parts);
        Ok(Some(self.copy.get_or_init(|| copy).path()))
    }

    fn directory(&self) -> Option<String> {
        self.told.directory.clone()
    }

    fn title(&self) -> Option<String> {
        self.told.title.clone()
    }

    fn modified(&self) -> Option<i64> {
        self.looked.borrow().get(self.name).copied().flatten().map(|stamp| stamp.milliseconds())
    }
}

impl FileSource<'_> {
    /// The directory that other files of the store are named from.
    fn base(&self) -> String {
        match self.format {
            // `storage/session/PROJECT/ID.json` has its messages in `storage/message`.
            Format::Opencode => parent(parent(parent(self.name))).to_owned(),
            Format::Pi | Format::Omp => String::new(),
            _ => parent(self.name).to_owned(),
        }
    }
}

/// Where the last line that is whole ends. A line without a newline is whole when it is a value.
fn complete_lines(file: &File, size: u64) -> io::Result<u64> {
    let start = last_line(file, size)?;
    if start == size || size - start >= LONGEST_TAIL {
        return Ok(size);
    }
    let mut tail = vec![0; usize::try_from(size - start).unwrap_or_default()];
    file.read_exact_at(&mut tail, start)?;
    let tail = tail.trim_ascii();
    let is_value = Raw::parse(tail).is_some_and(|raw| raw.shape() == Shape::Object);
    Ok(if tail.is_empty() || is_value { size } else { start })
}

/// Where the line starts that the file ends in, looking back no further than it matters.
fn last_line(file: &File, size: u64) -> io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut start = size;
    let mut chunk = Vec::new();
    while start > 0 && size - start < LONGEST_TAIL {
        let step = STEP.min(start);
        chunk.resize(usize::try_from(step).unwrap_or_default(), 0);
        file.read_exact_at(&mut chunk, start - step)?;
        if let Some(at) = memchr::memrchr(b'\n', &chunk) {
            return Ok(start - step + at as u64 + 1);
        }
        start -= step;
    }
    Ok(start)
}

fn is_transcript(name: &str, prefix: &str) -> bool {
    name.starts_with(prefix) && name.ends_with(".jsonl")
}

/// The directory of a name; empty for one that is in none.
pub(super) fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(super) fn join(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", name) => name.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, name) => format!("{directory}/{name}"),
    }
}

/// A source and the store that it is in, to be opened by whoever reads it.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) store: Arc<Store>,
    pub(crate) name: String,
    /// The format, where the place tells it; otherwise what is in the file does.
    pub(crate) format: Option<Format>,
    /// The session that spawned it, where the place tells that.
    pub(crate) parent: Option<String>,
    pub(crate) size: u64,
    /// Whether somebody said that it is a session.
    pub(crate) is_named: bool,
}

impl Located {
    /// Returns the whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.store.ground.path().join(&self.name)
    }
}
