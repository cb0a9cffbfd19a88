//! Lists through the catalogue equal lists by reading, whatever happens to the sessions and to the catalogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use ramus_engine::{
    Children, Cursor, Durability, Engine, Filter, ForkOptions, Listing, NewSession, Say, Session, Sort, SortKey,
    WhichDirectory,
};
use ramus_model::{Body, Draft, Scope};
use ramus_store::{JsonlStore, Layout, LogStore, MemoryStore};
use serde_json::{Value, json};

/// A home on disk, and an engine with a catalogue in it.
struct World {
    folder: tempfile::TempDir,
    engine: Engine,
    store: Arc<dyn LogStore>,
}

const DIRECTORIES: [&str; 3] = ["/srv/a", "/srv/b", "/Srv/Ünï"];

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn LogStore> = Arc::new(JsonlStore::new(folder.path().join("home"), Layout::Pi));
        let engine = Engine::new(Arc::clone(&store), "test").with_catalogue(folder.path().join("home"));
        // Nothing here is about power cuts.
        let engine = engine.with_durability(Durability::Os);
        Self { folder, engine, store }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    /// The same home, as another process finds it.
    fn again(&self) -> Engine {
        Engine::new(Arc::clone(&self.store), "test").with_catalogue(self.folder.path().join("home"))
    }

    fn logs(&self) -> Vec<PathBuf> {
        self.store.list().unwrap().into_iter().filter_map(|location| location.path).collect()
    }

    fn open(&self, which: usize) -> Option<Session> {
        let all = self.store.list().unwrap();
        let location = all.get(which.checked_rem(all.len())?)?;
        self.engine.open(location.path.as_ref()?.to_str()?, "/").ok()
    }

    fn create(&self, a: usize, b: usize) {
        let new = NewSession {
            cwd: DIRECTORIES[a % 3].into(),
            title: b.is_multiple_of(2).then(|| format!("Title {}", b % 5)),
            model: (a % 2 == 1).then(|| "demo/small".to_owned()),
            parent: self.store.list().unwrap().first().filter(|_| b.is_multiple_of(3)).map(|at| at.id.clone()),
            owner: (b % 4 == 1).then(|| "ada".to_owned()),
            permission: Vec::new(),
        };
        let has_parent = new.parent.is_some();
        let created = self.engine.create(new);
        // A parent that was harmed may be none any more.
        assert!(has_parent || created.is_ok(), "{:?}", created.err());
    }
}

fn meta(set: Value) -> Draft {
    Draft::new(Body::ramus("meta", json!({"op": "meta", "client": "test", "set": set})))
}

fn answer(number: usize) -> Draft {
    let usage = json!({"input": number, "output": 7, "cacheRead": 2, "cacheWrite": 1,
        "cost": {"total": if number.is_multiple_of(2) { 0.0 } else { number as f64 / 1000.0 }}});
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}], "provider": "demo",
        "model": "small", "usage": usage, "timestamp": 1_700_000_000_000_u64 + 1000 * number as u64});
    Draft::new(Body::new("message", [("message", message)]))
}

/// One thing that happens to a home. What cannot be done to a session that was damaged is not done.
fn happen(world: &World, what: u8, a: usize, b: usize) {
    let append = |draft: Draft| {
        if let Some(mut session) = world.open(a) {
            let _ = world.engine.append(&mut session, &[draft], &Cursor::Leaf);
        }
    };
    match what {
        0 => world.create(a, b),
        1 => append(Draft::new(Body::new("message", [("message", json!({"role": "user", "content": "hi"}))]))),
        2 | 3 => append(answer(b)),
        4 => append(meta(json!({"archived_at": if b.is_multiple_of(2) { json!("2026-01-01") } else { json!(null) }}))),
        5 => append(meta(json!({"tags": ["x", format!("t{}", b % 3)], "starred": b.is_multiple_of(2)}))),
        6 => append(meta(json!({"workspace": {"root": "/w", "session": "s"}, "git": {"commit": "c", "dirty": true}}))),
        7 => fork(world, a, b),
        8 => delete(world, a, b),
        9 => move_it(world, a, b),
        10 => replace_entries(world, a, b),
        _ => harm(world, what, a, b),
    }
}

fn fork(world: &World, a: usize, b: usize) {
    let Some(session) = world.open(a) else { return };
    let entries = session.tree(Scope::Visible).entries;
    let Some(node) = b.checked_rem(entries.len()).and_then(|at| entries.get(at)) else { return };
    let _ = world.engine.fork(&session, node.seq, &ForkOptions::default());
}

fn delete(world: &World, a: usize, b: usize) {
    let Some(session) = world.open(a) else { return };
    let children = if b.is_multiple_of(4) { Children::Cascade } else { Children::Orphan };
    let _ = world.engine.delete(&session, children, false);
}

fn move_it(world: &World, a: usize, b: usize) {
    let Some(mut session) = world.open(a) else { return };
    let _ = if b.is_multiple_of(2) {
        world.engine.move_to(&mut session, DIRECTORIES[b % 3])
    } else {
        world.engine.rename(&mut session, &format!("Renamed {b}")).map(drop)
    };
}

fn replace_entries(world: &World, a: usize, b: usize) {
    let Some(mut session) = world.open(a) else { return };
    let path: Vec<_> = session.tree(Scope::Visible).entries.iter().map(|node| node.seq).collect();
    let Some(first) = b.checked_rem(path.len()) else { return };
    let _ = world.engine.replace_entries(&mut session, &path[first..=first], "in short");
}

/// What other programs and bad luck do to files.
fn harm(world: &World, what: u8, a: usize, b: usize) {
    let logs = world.logs();
    let Some(path) = a.checked_rem(logs.len()).map(|at| &logs[at]) else { return };
    let Ok(mut bytes) = std::fs::read(path) else { return };
    let place = b.checked_rem(bytes.len()).unwrap_or_default();
    match what {
        // In place, the length stays.
        11 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = if b.is_multiple_of(3) { 0 } else { byte.wrapping_add(1) };
            }
            write_in_place(path, &bytes);
        }
        12 => std::fs::File::options().write(true).open(path).unwrap().set_len(place as u64).unwrap(),
        13 => {
            let new = path.with_extension("new");
            std::fs::write(&new, &bytes[place / 2..]).unwrap();
            std::fs::rename(new, path).unwrap();
        }
        14 => {
            let folder = world.file(["sessions/--elsewhere--", "drafts", "sessions/--100%--"][b % 3]);
            std::fs::create_dir_all(&folder).unwrap();
            let _ = std::fs::rename(path, folder.join(path.file_name().unwrap()));
        }
        15 => {
            let _ = std::fs::copy(path, path.with_file_name(format!("2020_copy{}.jsonl", b % 2)));
        }
        16 => {
            let _ = std::fs::remove_file(path);
            if b.is_multiple_of(2) {
                std::os::unix::fs::symlink("/etc/hostname", path).unwrap();
            }
        }
        17 => {
            bytes.extend_from_within(place..);
            write_in_place(path, &bytes);
        }
        _ => {
            let _ = world.engine.doctor_all(ramus_engine::Treatment::Repair);
        }
    }
}

fn write_in_place(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    std::fs::File::options().write(true).open(path).unwrap().write_all_at(bytes, 0).unwrap();
}

fn filters() -> Vec<Filter> {
    let here = |cwd: &str| WhichDirectory::One(cwd.into());
    let all = Filter { drafts: true, archived: true, ..Filter::default() };
    let mut filters = vec![
        Filter::default(),
        all.clone(),
        Filter { directory: here("/srv/a"), ..Filter::default() },
        Filter { directory: here("/srv/b"), drafts: true, ..Filter::default() },
        Filter { directory: here("/srv/a"), archived: true, limit: Some(1), ..Filter::default() },
        Filter { owner: Some("ada".into()), ..all.clone() },
        Filter { text: Some("TITLE 2".into()), ..all.clone() },
        Filter { text: Some("ÜNÏ".into()), ..Filter::default() },
        Filter { tag: Some("t1".into()), ..all.clone() },
        Filter { starred: true, ..all.clone() },
        Filter { agent: Some("ramus".into()), ..all.clone() },
        Filter { agent: Some("claude".into()), ..all.clone() },
        Filter { project: Some("a".into()), ..all.clone() },
    ];
    for key in [SortKey::Created, SortKey::Title, SortKey::Messages, SortKey::Cost, SortKey::Tokens] {
        for is_ascending in [false, true] {
            filters.push(Filter { sort: Sort { key, is_ascending }, limit: Some(3), ..all.clone() });
        }
    }
    filters
}

/// Asks every question both ways, and every page of the answers.
fn compare(engine: &Engine, what: &str) {
    for mut filter in filters() {
        for _ in 0..20 {
            let (found, read) = (engine.list(&filter).unwrap(), engine.list_by_reading(&filter).unwrap());
            assert_eq!(found, read, "{what}: {filter:?}");
            filter.cursor = found.next_cursor;
            if filter.cursor.is_none() {
                break;
            }
        }
    }
    assert_eq!(engine.take_catalogue_notices(), Vec::<String>::new(), "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_list_is_what_reading_every_session_gives(
        steps in prop::collection::vec((0_u8..20, any::<u8>(), any::<u16>(), 0_u8..4), 1..24),
    ) {
        let world = World::new();
        for number in 0..4 {
            world.create(number, number);
        }
        for (at, (what, a, b, looks)) in steps.iter().enumerate() {
            happen(&world, *what, usize::from(*a), usize::from(*b));
            if *looks == 0 {
                settle();
            }
            if *looks < 2 {
                compare(&world.engine, &format!("step {at}"));
            }
        }
        compare(&world.again(), "in the end");
    }
}

/// Waits until files that were just written are no longer fresh: only then is a stamp believed.
#[expect(clippy::disallowed_methods, reason = "the clock of the file system is what is waited for")]
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(25));
}

/// The file of a fork stays the same when its origin changes, but not what it shows.
#[test]
fn forks_follow_what_happens_to_the_logs_they_stand_on() {
    let world = World::new();
    world.create(0, 0);
    for number in 1..6 {
        happen(&world, 2, 0, number);
    }
    let origin = world.open(0).unwrap();
    let path = origin.location().path.clone().unwrap();
    let forked = world.engine.fork(&origin, origin.log().leaf().unwrap(), &ForkOptions::default()).unwrap();
    let fork = world.engine.open_fork(&forked).unwrap();
    world.engine.fork(&fork, fork.log().leaf().unwrap(), &ForkOptions::default()).unwrap();
    drop((origin, fork));
    let whole = std::fs::read(&path).unwrap();
    let elsewhere = world.file("sessions/--elsewhere--").join(path.file_name().unwrap());
    std::fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    let steps: [(&str, &dyn Fn()); 7] = [
        ("as they were made", &|| {}),
        ("the origin is cut", &|| std::fs::write(&path, &whole[..whole.len() / 2]).unwrap()),
        ("it is whole again", &|| std::fs::write(&path, &whole).unwrap()),
        ("it is elsewhere", &|| std::fs::rename(&path, &elsewhere).unwrap()),
        ("it is gone", &|| std::fs::remove_file(&elsewhere).unwrap()),
        ("it is back", &|| std::fs::write(&path, &whole).unwrap()),
        ("it is deleted", &|| drop(world.engine.delete(&world.open(0).unwrap(), Children::Orphan, false).unwrap())),
    ];
    let mut seen = Vec::new();
    for (what, step) in steps {
        step();
        settle();
        compare(&world.engine, what);
        // Once more, when nothing is fresh.
        compare(&world.again(), what);
        seen.push(all(&world.engine).sessions.iter().map(|info| info.messages).collect::<Vec<_>>());
    }
    assert_ne!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[3], seen[4]);
}

#[test]
fn a_home_in_memory_is_listed_the_same_way() {
    let engine = Engine::new(Arc::new(MemoryStore::default()), "test");
    for number in 0..20_usize {
        let cwd = DIRECTORIES[number % 3].to_owned();
        let mut session = engine.create(NewSession { cwd, ..NewSession::default() }).unwrap();
        engine.append(&mut session, &[answer(number)], &Cursor::Leaf).unwrap();
        let leaf = session.log().leaf().unwrap();
        let forked = engine.fork(&session, leaf, &ForkOptions::default()).unwrap();
        if number.is_multiple_of(3) {
            engine.delete(&session, Children::Orphan, false).unwrap();
        }
        let mut fork = engine.open_fork(&forked).unwrap();
        engine.say(&mut fork, Say::user("on")).unwrap();
        compare(&engine, &number.to_string());
    }
}

/// Long logs are added to, not read again; what was counted must come out the same.
#[test]
fn long_sessions_are_added_to() {
    let world = World::new();
    let mut session = world.engine.create(NewSession { cwd: "/srv/a".into(), ..NewSession::default() }).unwrap();
    let long = Draft::new(Body::new("message", [("message", json!({"role": "user", "content": "x".repeat(1 << 19)}))]));
    world.engine.append(&mut session, &[long], &Cursor::Leaf).unwrap();
    for number in 0..30 {
        world.engine.append(&mut session, &[answer(number)], &Cursor::Leaf).unwrap();
        match number {
            7 => world.engine.rename(&mut session, "renamed").map(drop).unwrap(),
            12 => {
                let entry = session.log().seqs().nth(3).unwrap();
                world.engine.replace_entries(&mut session, &[entry], "in short").map(drop).unwrap();
            }
            17 => {
                world.engine.fork(&session, session.log().leaf().unwrap(), &ForkOptions::default()).unwrap();
            }
            23 => {
                world.engine.append(&mut session, &[meta(json!({"starred": true}))], &Cursor::Leaf).map(drop).unwrap();
            }
            _ => {}
        }
        compare(&world.engine, &number.to_string());
    }
    // What is torn off again, and what another program cut out of the middle.
    let path = session.location().path.clone().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 300]).unwrap();
    compare(&world.engine, "cut");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    compare(&world.engine, "without its last newline");
    std::fs::write(&path, [&bytes[..], &bytes[bytes.len() / 2..]].concat()).unwrap();
    compare(&world.engine, "doubled");
}

/// Everything that a listing is made from, without what changes by itself.
fn all(engine: &Engine) -> Listing {
    engine.list(&Filter { drafts: true, archived: true, ..Filter::default() }).unwrap()
}

#[test]
fn listing_touches_no_session() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new();
    for number in 0..6 {
        world.create(number, number);
        happen(&world, 2, number, number);
        happen(&world, 7, number, number);
    }
    let look = |path: &PathBuf| {
        let metadata = path.metadata().unwrap();
        (metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec())
    };
    let before: Vec<_> = world.logs().iter().map(look).collect();
    let listing = all(&world.engine);
    world.engine.rebuild_catalogue().unwrap();
    assert_eq!(all(&world.again()), listing);
    assert_eq!(world.logs().iter().map(look).collect::<Vec<_>>(), before);
}

#[test]
fn a_cursor_survives_the_session_it_names() {
    let world = World::new();
    for number in 0..6 {
        world.create(0, number);
        happen(&world, 2, number, number);
    }
    let page = Filter { drafts: true, limit: Some(2), ..Filter::default() };
    let first = world.engine.list(&page).unwrap();
    let everything = all(&world.engine).sessions;
    let named = world.engine.open(first.sessions[1].id.as_str(), "/").unwrap();
    world.engine.delete(&named, Children::Orphan, false).unwrap();
    let second = world.engine.list(&Filter { cursor: first.next_cursor, ..page.clone() }).unwrap();
    let ids = |from: &[ramus_engine::SessionInfo]| from.iter().map(|info| info.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&second.sessions), ids(&everything[2..4]));
    let by_id = Filter { cursor: Some(everything[0].id.to_string()), ..page.clone() };
    assert_eq!(ids(&world.engine.list(&by_id).unwrap().sessions), ids(&everything[2..4]));
    let bogus = Filter { cursor: Some("bogus".into()), ..page };
    assert_eq!(world.engine.list(&bogus).unwrap_err().kind(), ramus_engine::ErrorKind::Invalid);
}

#[test]
fn a_catalogue_that_cannot_be_used_is_done_without() {
    let world = World::new();
    world.create(0, 0);
    happen(&world, 2, 0, 1);
    // Nothing can be made where a directory stands in the way.
    std::fs::create_dir(world.file("catalogue.db")).unwrap();
    let listing = all(&world.engine);
    assert_eq!(listing.sessions.len(), 1);
    let notices = world.engine.take_catalogue_notices();
    assert!(notices[0].contains("catalogue.db"), "{notices:?}");
    std::fs::remove_dir(world.file("catalogue.db")).unwrap();
    assert_eq!(all(&world.engine), listing);
    assert!(world.file("catalogue.db").is_file());
    assert!(world.engine.take_catalogue_notices().is_empty());
}
