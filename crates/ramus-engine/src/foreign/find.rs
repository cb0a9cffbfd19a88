//! Finding sessions: where agents keep them, or wherever somebody says.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_interchange::Format;
use ramus_interchange::place::{Role, Root};

use super::ground::{Ground, relative};
use super::rank::Rank;
use super::recognise::recognise;
use super::source::{Located, join, parent};
use super::store::{Store, ground_of};
use super::walk::{Bounds, What, walk};
use super::{ForeignFailure, ForeignSkip, ForeignStore, UNKNOWN};

/// What a file must be called to be looked into when nobody says that it is a session.
const EXTENSIONS: [&str; 6] = ["jsonl", "json", "zst", "db", "sqlite", "dets"];
/// Documents are called so that are nobody's session.
const COMMON: &str = ".json";
/// How many files that are no sessions are told.
const MOST_SKIPPED: usize = 1000;

/// Why something that is called like a session is none.
const NO_FILE: &str = "it is no regular file, and links are not followed";
/// Why what is in a directory is not looked at.
const LINK: &str = "it is a link to a directory, and links are not followed; import the directory itself";

/// Tells places apart in which several agents keep sessions: each is looked at once, as deep as one of them goes, and is said to be
/// shared. One variable moves the sessions of pi and those of omp to the same directory.
pub(super) fn apart(roots: &[Root]) -> impl Iterator<Item = (&Root, bool)> {
    let place = |root: &Root| root.directory.canonicalize().unwrap_or_else(|_| root.directory.clone());
    let mut found: Vec<(PathBuf, &Root, bool)> = Vec::new();
    for root in roots {
        let place = place(root);
        match found.iter_mut().find(|(known, ..)| *known == place) {
            Some((_, known, is_shared)) => {
                *is_shared |= known.format != root.format;
                *known = if root.depth > known.depth { root } else { *known };
            }
            None => found.push((place, root, false)),
        }
    }
    found.into_iter().map(|(_, root, is_shared)| (root, is_shared))
}

/// Looks for the sessions of an agent where it keeps them; none when the agent was never here. In a place that is shared, what is
/// in a file says whose it is.
pub(super) fn in_root(root: &Root, is_shared: bool) -> Option<ForeignStore> {
    let mut found = in_root_within(root, Bounds { depth: root.depth, ..Bounds::default() })?;
    if is_shared {
        found.format = None;
        for source in &mut found.sources {
            // What cannot be opened is told when it is read.
            let opened = source.store.ground.file(&source.name).ok().flatten();
            let file = source.name.rsplit('/').next().unwrap_or(&source.name);
            let format = opened.and_then(|opened| recognise(opened.file, file).ok().flatten());
            source.format = format.filter(|format| format.is_read()).or(source.format);
        }
    }
    Some(found)
}

fn in_root_within(root: &Root, bounds: Bounds) -> Option<ForeignStore> {
    let mut found = ForeignStore::of(Some(root.format), &root.directory);
    if !root.directory.exists() {
        return None;
    }
    if let Err(error) = look(root, bounds, &mut found) {
        let agent = Some(root.format.name());
        found.failed.push(ForeignFailure { file: root.directory.clone(), agent, reason: error.to_string() });
    }
    (!found.sources.is_empty() || !found.failed.is_empty()).then_some(found)
}

fn look(root: &Root, bounds: Bounds, found: &mut ForeignStore) -> io::Result<()> {
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
    let mut failed = Vec::new();
    let inner = |name: &str| name.strip_prefix(&from).unwrap_or(name).trim_start_matches('/').to_owned();
    let walked = walk(&store.ground, &from, bounds, &|name| root.holds(&inner(name)), &mut |met| {
        let name = inner(&met.name);
        let reason = match (met.what, root.role(&name)) {
            (What::File, Some(Role::Session { .. })) => return sessions.push((met.name, None)),
            // The codec of Claude Code and Gemini CLI reads what a session's agents wrote with the session.
            (What::File, Some(Role::Child { of })) if root.format == Format::Omp => {
                let parent = of.rsplit('/').next().and_then(id_in_stem);
                return sessions.push((met.name, parent));
            }
            (What::Link | What::Other, Some(_)) => NO_FILE.to_owned(),
            (What::Link, None) if root.holds(&name) && store.ground.leads_out(&met.name, &from) => LINK.to_owned(),
            (What::Closed(error), _) if name.is_empty() || root.holds(&name) => error.to_string(),
            _ => return,
        };
        let agent = Some(root.format.name());
        failed.push(ForeignFailure { file: store.ground.path().join(&met.name), agent, reason });
    });
    found.failed.extend(failed);
    let sessions = sessions.into_iter();
    found.sources.extend(sessions.filter_map(|(name, parent)| located(&store, name, Some(root.format), parent)));
    walked
}

fn located(store: &Arc<Store>, name: String, format: Option<Format>, parent: Option<String>) -> Option<Located> {
    let size = store.ground.stamp(&name).ok()??.size;
    Some(Located { store: Arc::clone(store), name, format, parent, size, is_named: format.is_some() })
}

/// Looks for sessions where somebody says that there are some: a file, a directory that is one session, or one that holds many.
/// Whose they are may be said, too.
pub(super) fn at_path(path: &Path, given: Option<Format>) -> io::Result<ForeignStore> {
    at_path_within(path, given, Bounds::default())
}

fn at_path_within(path: &Path, given: Option<Format>, bounds: Bounds) -> io::Result<ForeignStore> {
    let path = path.canonicalize()?;
    let mut found = ForeignStore::of(given, &path);
    let mut finder = Finder { given, ..Finder::default() };
    if !path.is_dir() {
        found.sources.push(finder.file(&path)?);
        return Ok(found);
    }
    let ground = Ground::open(&path)?;
    let may_be_directory = given.is_none_or(|given| given == Format::Directory);
    if may_be_directory && ground.stamp("meta.json")?.is_some_and(|stamp| stamp.size > 0) {
        let store = Arc::new(Store::new(ground));
        found.sources.extend(located(&store, "meta.json".to_owned(), Some(Format::Directory), None));
        return Ok(found);
    }
    let mut names = Vec::new();
    let walked = walk(&ground, "", bounds, &|_| true, &mut |met| {
        let reason = match met.what {
            What::File if may_be_session(&met.name) => return names.push(met.name),
            What::Link if ground.leads_out(&met.name, "") => LINK.to_owned(),
            What::Closed(error) => error.to_string(),
            _ => return,
        };
        found.failed.push(ForeignFailure { file: path.join(&met.name), agent: None, reason });
    });
    if let Err(error) = walked {
        found.failed.push(ForeignFailure { file: path.clone(), agent: None, reason: error.to_string() });
    }
    for name in names {
        if is_child(&ground, &name) {
            continue;
        }
        match finder.found(&ground, &name) {
            Ok(Some(source)) => found.sources.push(source),
            Ok(None) if name.ends_with(COMMON) || found.skipped.len() >= MOST_SKIPPED => {}
            Ok(None) => {
                let file = path.join(&name);
                found.skipped.push(ForeignSkip { id: None, agent: None, file, reason: UNKNOWN });
            }
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
    /// What everything is, when that was said.
    given: Option<Format>,
    stores: HashMap<PathBuf, Arc<Store>>,
}

impl Finder {
    /// A file that somebody named. What it is decides from where it is looked at.
    fn file(&mut self, path: &Path) -> io::Result<Located> {
        let directory = path.parent().unwrap_or(path);
        let near = Ground::open(directory)?;
        let name = relative(path, near.path()).ok_or(io::ErrorKind::InvalidInput)?;
        let format = self.format_of(&near, &name)?;
        let (store, name) = self.place(&near, &name, format)?;
        let size = store.ground.stamp(&name)?.map_or(0, |stamp| stamp.size);
        Ok(Located { store, name, format, parent: None, size, is_named: true })
    }

    fn found(&mut self, ground: &Ground, name: &str) -> io::Result<Option<Located>> {
        let Some(format) = self.format_of(ground, name)?.filter(|format| format.is_read()) else { return Ok(None) };
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

    /// Says what a file is by what is in it, or by where it is when that says more.
    fn format_of(&self, ground: &Ground, name: &str) -> io::Result<Option<Format>> {
        let Some(opened) = ground.file(name)? else { return Err(io::ErrorKind::NotFound.into()) };
        if self.given.is_some() {
            return Ok(self.given);
        }
        let file = name.rsplit('/').next().unwrap_or(name);
        let is_former = Rank::of_path(Format::Opencode.name(), &ground.path().join(name)) == Rank::Former;
        if is_former { Ok(Some(Format::Opencode)) } else { recognise(opened.file, file) }
    }
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

#[cfg(test)]
mod tests {
    use ramus_interchange::place::{Environment, roots};

    use super::*;

    fn put(path: &Path, bytes: &[u8]) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn few(names: usize, depth: usize) -> Bounds {
        Bounds { names, depth }
    }

    #[test]
    fn parts_of_messages_do_not_hide_the_database_of_opencode() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join(".local/share/opencode");
        put(&data.join("opencode.db"), b"");
        put(&data.join("storage/session/global/ses_1.json"), b"{}");
        for number in 0..20 {
            put(&data.join(format!("storage/part/msg_{number}/prt_1.json")), b"{}");
        }
        let environment = Environment::new(directory.path(), "/tmp");
        let root = roots(Format::Opencode, &environment).pop().unwrap();
        let found = in_root_within(&root, few(10, root.depth)).unwrap();
        assert_eq!((found.files(), found.failed.len()), (2, 0), "{:?}", found.failed);
    }

    #[test]
    fn what_is_found_before_there_are_too_many_names_is_imported() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::new(directory.path(), "/tmp");
        let root = roots(Format::Pi, &environment).pop().unwrap();
        for number in 0..9 {
            put(&root.directory.join(format!("--w--/1_{number}.jsonl")), b"{\"type\":\"session\",\"id\":\"s\"}\n");
        }
        let found = in_root_within(&root, few(6, 1)).unwrap();
        assert_eq!((found.files(), found.failed.len()), (5, 1), "{:?}", found.failed);
        assert!(found.failed.iter().all(|failure| failure.reason.contains("more than 6 files")));
        let at = at_path_within(&root.directory, None, few(6, 16)).unwrap();
        assert_eq!((at.files(), at.failed.len()), (5, 1), "{:?}", at.failed);
    }
}
