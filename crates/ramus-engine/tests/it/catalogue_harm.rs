//! Whatever happens to the files of the catalogue, a list is what reading every session gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_engine::{Durability, Engine, Filter, NewSession, Say};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::random::Random;

const FILES: [&str; 4] = ["catalogue.db", "catalogue.seal", "catalogue.db-wal", "catalogue.db-shm"];

/// The files that may be harmed under a process that has them open. SQLite does not look twice at what it knows to be in
/// its write-ahead log, and memory that is mapped ends where its file is cut.
const IN_USE: usize = 2;

/// How often each kind of harm is done.
const ROUNDS: usize = 55;

fn engine(home: &Path) -> Engine {
    let store = Arc::new(JsonlStore::new(home, Layout::Pi));
    Engine::new(store, "test").with_catalogue(home).with_durability(Durability::Os)
}

/// A home with sessions, and something new in it every time.
struct World {
    folder: tempfile::TempDir,
    random: Random,
    /// How many of the files are harmed.
    reach: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), random: Random::new(seed), reach: FILES.len() };
        for home in ["home", "other"] {
            for number in 0..8 {
                let engine = engine(&world.folder.path().join(home));
                let new = NewSession { title: Some(format!("{home} {number}")), ..NewSession::default() };
                let mut session = engine.create(new).unwrap();
                engine.say(&mut session, Say::assistant("hello")).unwrap();
            }
            engine(&world.folder.path().join(home)).list(&Filter::default()).unwrap();
        }
        world
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn write_something(&mut self) {
        let engine = engine(&self.home());
        let ids = engine.session_ids().unwrap();
        let id = &ids[self.random.below(ids.len())];
        let mut session = engine.open(id.as_str(), "/").unwrap();
        engine.say(&mut session, Say::user("more")).unwrap();
    }

    fn copy(&self, from: &str, to: &str, names: &[&str]) {
        fs::create_dir_all(self.folder.path().join(to)).unwrap();
        for name in names {
            let target = self.folder.path().join(to).join(name);
            match fs::read(self.folder.path().join(from).join(name)) {
                Ok(bytes) => fs::write(target, bytes).unwrap(),
                Err(_) => drop(fs::remove_file(target)),
            }
        }
    }

    /// One of the files, if it is there.
    fn any_file(&mut self) -> Option<PathBuf> {
        let path = self.home().join(FILES[self.random.below(self.reach)]);
        path.is_file().then_some(path)
    }

    fn cut(&mut self) {
        let Some(path) = self.any_file() else { return };
        let len = self.random.below(fs::metadata(&path).unwrap().len() as usize + 1);
        fs::File::options().write(true).open(path).unwrap().set_len(len as u64).unwrap();
    }

    fn zero(&mut self, whole: bool) {
        use std::os::unix::fs::FileExt as _;
        let Some(path) = self.any_file() else { return };
        let len = fs::metadata(&path).unwrap().len() as usize;
        let from = if whole { 0 } else { self.random.below(len + 1) };
        let to = if whole { len } else { (from + self.random.below(5000)).min(len) };
        fs::File::options().write(true).open(path).unwrap().write_all_at(&vec![0; to - from], from as u64).unwrap();
    }

    fn garble(&mut self) {
        let Some(path) = self.any_file() else { return };
        let mut bytes = fs::read(&path).unwrap();
        for _ in 0..20 {
            let at = self.random.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = byte.wrapping_add(1);
            }
        }
        fs::write(path, bytes).unwrap();
    }

    fn harm(&mut self, kind: usize) {
        match kind {
            0 => drop(self.any_file().map(fs::remove_file)),
            1 => self.cut(),
            2 => self.zero(true),
            3 => self.zero(false),
            4 => self.garble(),
            // An older state of the same catalogue, whole or in part.
            5 => self.copy("saved", "home", &FILES),
            6 => self.copy("saved", "home", &FILES[..1]),
            7 => self.copy("saved", "home", &FILES[2..3]),
            // Another home's.
            _ => {
                let names = [&FILES[..], &FILES[..1], &FILES[2..3], &FILES[..3]][self.random.below(4)];
                self.copy("other", "home", names);
            }
        }
    }
}

#[test]
fn harm_to_the_catalogue_changes_no_answer() {
    let mut world = World::new(11);
    let everything = Filter { drafts: true, archived: true, ..Filter::default() };
    let mut long_lived = None;
    for round in 0..ROUNDS {
        for kind in 0..9 {
            let is_kept = world.random.below(2) == 0 && matches!(kind, 0..=4 | 6);
            world.reach = if is_kept { IN_USE } else { FILES.len() };
            long_lived = long_lived.take().filter(|_| is_kept);
            if !is_kept && world.random.below(2) == 0 {
                world.copy("home", "saved", &FILES);
            }
            world.write_something();
            if world.random.below(2) == 0 {
                engine(&world.home()).list(&Filter::default()).unwrap();
            }
            world.harm(kind);
            let fresh = engine(&world.home());
            let expected = fresh.list_by_reading(&everything).unwrap();
            let long_lived = long_lived.get_or_insert_with(|| engine(&world.home()));
            for engine in [long_lived, &fresh, &fresh] {
                assert_eq!(engine.list(&everything).unwrap(), expected, "round {round}, kind {kind}");
                assert!(engine.take_catalogue_notices().is_empty(), "round {round}, kind {kind}");
            }
        }
    }
}
