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

use super::database::{Copy, is_database};
use super::ground::Stamp;
use super::store::Store;

/// How far behind the last newline a line that is not complete yet may reach.
const LONGEST_TAIL: u64 = 64 << 20;
/// How deep transcripts of spawned agents are looked for.
const CHILD_DEPTH: usize = 2;

/// What was looked at, by name beneath the ground of the store; none where nothing was.
pub(crate) type Looked = BTreeMap<String, Option<Stamp>>;

/// The files of one session, or of a database of many.
pub(crate) struct FileSource<'s> {
    store: &'s Store,
    /// The main file, beneath the ground of the store.
    name: &'s str,
    format: Format,
    /// Where copies of databases go.
    scratch: Option<&'s Path>,
    looked: RefCell<Looked>,
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
            copy: OnceCell::new(),
            length: Cell::new(None),
            waits: Cell::new(false),
        }
    }

    /// Returns what was looked at.
    pub(crate) fn looked(&self) -> Looked {
        self.looked.borrow().clone()
    }

    /// Says whether the last line is not complete yet and was left for later.
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
            Format::Codex | Format::Gemini => self.name.ends_with(".jsonl"),
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
        self.waits.set(length < size);
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
        let Some(file) = name.map(|name| self.file(&name)).transpose()?.flatten() else { return Ok(None) };
        Ok(Some(Box::new(file)))
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
        match self.format {
            Format::Gemini => {
                let project = parent(parent(self.name));
                let owner = self.store.text(&join(project, ".project_root")).map(|text| text.trim().to_owned());
                owner.filter(|owner| !owner.is_empty()).or_else(|| self.store.project_called(project))
            }
            Format::Shepherd => self.store.ground.path().join(parent(self.name)).to_str().map(str::to_owned),
            _ => None,
        }
    }

    fn title(&self) -> Option<String> {
        if self.format != Format::Codex {
            return None;
        }
        let ids = self.name().strip_prefix("rollout-")?.get(20..)?;
        self.store.title(ids.get(..36)?).map(str::to_owned)
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
