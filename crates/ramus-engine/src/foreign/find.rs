//! Finding sessions: where agents keep them, or wherever somebody says.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_interchange::place::{Kind, Role, Root};
use ramus_interchange::{Format, detect};

use super::ground::{Ground, relative};
use super::source::{Located, join, parent};
use super::store::{Store, ground_of};
use super::walk::{Bounds, walk};
use super::{ForeignFailure, ForeignStore};

/// How much of a file is looked at to tell what it is.
const FRONT: u64 = 1 << 16;
/// What a file must be called to be looked into when nobody says that it is a session.
const EXTENSIONS: [&str; 6] = ["jsonl", "json", "zst", "db", "sqlite", "dets"];

/// Looks for the sessions of an agent where it keeps them; none when the agent was never here.
pub(super) fn in_root(root: &Root) -> Option<ForeignStore> {
    let mut found = ForeignStore::of(Some(root.format), &root.directory);
    if !root.directory.exists() {
        return None;
    }
    if let Err(error) = look(root, &mut found) {
        found.sources.clear();
        let agent = Some(root.format.name());
        found.failed.push(ForeignFailure { file: root.directory.clone(), agent, reason: error.to_string() });
    }
    (!found.sources.is_empty() || !found.failed.is_empty()).then_some(found)
}

fn look(root: &Root, found: &mut ForeignStore) -> io::Result<()> {
    let whole = root.directory.canonicalize()?;
    if whole.is_file() {
        let directory = whole.parent().unwrap_or(&whole);
        let store = Arc::new(Store::new(Ground::open(directory)?));
        let name = relative(&whole, directory).filter(|_| root.role("").is_some());
        found.sources.extend(name.and_then(|name| located(&store, name, Some(root.format), None)));
        return Ok(());
    }
    let store = Arc::new(Store::new(Ground::open(&ground_of(root.format, &whole))?));
    let from = relative(&whole, store.ground.path()).unwrap_or_default();
    let mut sessions = Vec::new();
    walk(&store.ground, &from, Bounds { depth: root.depth, ..Bounds::default() }, &mut |file| {
        let name = file.name.strip_prefix(&from).unwrap_or(&file.name).trim_start_matches('/');
        match root.role(name) {
            None => {}
            Some(_) if !file.is_file => found.failed.push(ForeignFailure {
                file: store.ground.path().join(&file.name),
                agent: Some(root.format.name()),
                reason: "it is no regular file, and links are not followed".to_owned(),
            }),
            Some(Role::Session { kind, .. }) => sessions.push((kind, file.name.clone(), None)),
            // The codec of Claude Code and Gemini CLI reads what a session's agents wrote with the session.
            Some(Role::Child { of }) if root.format == Format::Omp => {
                let parent = of.rsplit('/').next().and_then(id_in_stem);
                sessions.push((Kind::Lines, file.name.clone(), parent));
            }
            Some(Role::Child { .. }) => {}
        }
    })?;
    // Files that a database took over are still there, and would come twice.
    if sessions.iter().any(|(kind, ..)| *kind == Kind::Database) {
        sessions.retain(|(kind, ..)| *kind != Kind::Directory);
    }
    let sessions = sessions.into_iter();
    found.sources.extend(sessions.filter_map(|(_, name, parent)| located(&store, name, Some(root.format), parent)));
    Ok(())
}

fn located(store: &Arc<Store>, name: String, format: Option<Format>, parent: Option<String>) -> Option<Located> {
    let size = store.ground.stamp(&name).ok()??.size;
    Some(Located { store: Arc::clone(store), name, format, parent, size, is_named: format.is_some() })
}

/// Looks for sessions where somebody says that there are some: a file, a directory that is one session, or one that holds many.
pub(super) fn at_path(path: &Path) -> io::Result<ForeignStore> {
    let path = path.canonicalize()?;
    let mut found = ForeignStore::of(None, &path);
    let mut finder = Finder::default();
    if !path.is_dir() {
        found.sources.push(finder.file(&path)?);
        return Ok(found);
    }
    let ground = Ground::open(&path)?;
    if ground.stamp("meta.json")?.is_some_and(|stamp| stamp.size > 0) {
        let store = Arc::new(Store::new(ground));
        found.sources.extend(located(&store, "meta.json".to_owned(), Some(Format::Directory), None));
        return Ok(found);
    }
    let mut names = Vec::new();
    walk(&ground, "", Bounds::default(), &mut |file| {
        if file.is_file && may_be_session(&file.name) {
            names.push(file.name.clone());
        }
    })?;
    for name in names {
        if is_child(&ground, &name) {
            continue;
        }
        match finder.found(&ground, &name) {
            Ok(source) => found.sources.extend(source),
            Err(error) => {
                let reason = error.to_string();
                found.failed.push(ForeignFailure { file: path.join(&name), agent: None, reason });
            }
        }
    }
    Ok(found)
}

/// Keeps the stores that sources lie in, so that each is opened once.
#[derive(Default)]
struct Finder {
    stores: HashMap<PathBuf, Arc<Store>>,
}

impl Finder {
    /// A file that somebody named. What it is decides from where it is looked at.
    fn file(&mut self, path: &Path) -> io::Result<Located> {
        let directory = path.parent().unwrap_or(path);
        let near = Ground::open(directory)?;
        let name = relative(path, near.path()).ok_or(io::ErrorKind::InvalidInput)?;
        let format = format_of(&near, &name)?;
        let (store, name) = self.place(&near, &name, format)?;
        let size = store.ground.stamp(&name)?.map_or(0, |stamp| stamp.size);
        Ok(Located { store, name, format, parent: None, size, is_named: true })
    }

    fn found(&mut self, ground: &Ground, name: &str) -> io::Result<Option<Located>> {
        let Some(format) = format_of(ground, name)?.filter(|format| format.is_read()) else { return Ok(None) };
        let parent = if matches!(format, Format::Pi | Format::Omp) { spawner(ground, name) } else { None };
        let (store, name) = self.place(ground, name, Some(format))?;
        Ok(located(&store, name, Some(format), parent))
    }

    fn place(&mut self, ground: &Ground, name: &str, format: Option<Format>) -> io::Result<(Arc<Store>, String)> {
        let path = ground.path().join(name);
        let directory = path.parent().unwrap_or(&path);
        let above = format.map_or(directory.to_owned(), |format| ground_of(format, directory));
        let store = match self.stores.get(&above) {
            Some(store) => Arc::clone(store),
            None => {
                let store = Arc::new(Store::new(Ground::open(&above)?));
                self.stores.insert(above.clone(), Arc::clone(&store));
                store
            }
        };
        let name = relative(&path, &above).ok_or(io::ErrorKind::InvalidInput)?;
        Ok((store, name))
    }
}

/// Says what a file is by what is in it, or by where it is when that says more.
fn format_of(ground: &Ground, name: &str) -> io::Result<Option<Format>> {
    let Some(opened) = ground.file(name)? else { return Err(io::ErrorKind::NotFound.into()) };
    let mut front = Vec::new();
    opened.file.take(FRONT).read_to_end(&mut front)?;
    let file = name.rsplit('/').next().unwrap_or(name);
    let whole = ground.path().join(name);
    let is_stored = file.starts_with("ses_") && whole.to_string_lossy().contains("/storage/session/");
    Ok(if is_stored { Some(Format::Opencode) } else { detect(file, &front) })
}

fn may_be_session(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| EXTENSIONS.iter().any(|wanted| extension == *wanted))
}

/// The session of omp whose agent wrote a file: the nearest directory above that is called like a session beside it. Agents that
/// agents spawned have directories too, but no id in their names.
fn spawner(ground: &Ground, name: &str) -> Option<String> {
    let above = std::iter::successors(Some(parent(name)), |directory| Some(parent(directory)));
    let is_session = |directory: &&str| matches!(ground.stamp(&format!("{directory}.jsonl")), Ok(Some(_)));
    let mut sessions = above.take_while(|directory| !directory.is_empty()).filter(is_session);
    sessions.find_map(|directory| id_in_stem(directory.rsplit('/').next()?))
}

/// The id of a session whose file is called `TIME_ID.jsonl`.
fn id_in_stem(stem: &str) -> Option<String> {
    stem.split_once('_').map(|(_, id)| id.to_owned())
}

/// Says whether a file is the transcript of an agent that a session of Claude Code spawned, which is read with that session.
fn is_child(ground: &Ground, name: &str) -> bool {
    let mut parts = name.split("/subagents/");
    let (Some(session), Some(_)) = (parts.next(), parts.next()) else { return false };
    matches!(ground.stamp(&join("", &format!("{session}.jsonl"))), Ok(Some(_)))
}
