//! A machine with agents on it: stores with made-up sessions, and a home that imports them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ramus_engine::{Engine, ForeignImport, ForeignImported, Session};
use ramus_interchange::Format;
use ramus_interchange::place::{Environment, roots};

use crate::homes::{Home, jsonl};

/// A session of Claude Code.
pub(crate) const CLAUDE: &str = "aaaaaaaa-0000-4000-8000-000000000001";

pub(crate) struct Machine {
    pub(crate) home: Home,
    pub(crate) engine: Engine,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let home = jsonl();
        std::fs::create_dir_all(home.directory.path().join("user")).unwrap();
        let engine = home.engine.clone().with_foreign(&home.directory.path().join("home"));
        Self { home, engine }
    }

    /// Where a file of the user's is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.directory.path().canonicalize().unwrap().join("user").join(name)
    }

    /// Writes a file of the user's, older than a moment, as files mostly are.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        age(&path);
        path
    }

    pub(crate) fn claude(&self, name: &str, lines: &[String]) -> PathBuf {
        self.write(&format!(".claude/projects/-proj/{name}.jsonl"), (lines.join("\n") + "\n").as_bytes())
    }

    pub(crate) fn environment(&self) -> Environment {
        Environment::new(self.path(""), "/tmp").working(self.path("work"))
    }

    /// Imports everything that is found.
    pub(crate) fn import(&self) -> ForeignImported {
        self.import_with(ForeignImport::default())
    }

    pub(crate) fn import_with(&self, options: ForeignImport) -> ForeignImported {
        let environment = self.environment();
        let all: Vec<_> = Format::ALL.iter().flat_map(|format| roots(*format, &environment)).collect();
        let stores = self.engine.find_foreign(&all);
        self.engine.import_foreign(&stores, options, &mut |_| {}).unwrap()
    }

    pub(crate) fn import_path(&self, path: &Path) -> ForeignImported {
        let store = self.engine.find_foreign_at(path, None).unwrap();
        self.engine.import_foreign(&[store], ForeignImport::default(), &mut |_| {}).unwrap()
    }

    pub(crate) fn session(&self, id: &str) -> Session {
        self.engine.open(id, "/proj").unwrap()
    }

    /// Every log of the home, by name.
    pub(crate) fn logs(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(&self.home.directory.path().join("home/sessions"))
            .into_iter()
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    }

    /// What is in every file of the user's. Looking sets the times of access, so they are set back.
    pub(crate) fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: PathBuf| {
            let content = std::fs::read(&path).unwrap();
            age(&path);
            (path, content)
        };
        files(&self.path("")).into_iter().map(read).collect()
    }

    /// What the system says about every file of the user's: when it was changed and read, which it is, how long.
    pub(crate) fn traces(&self) -> Vec<(PathBuf, [i64; 4], [u64; 2])> {
        let trace = |path: PathBuf| {
            let seen = std::fs::symlink_metadata(&path).unwrap();
            let times = [seen.mtime(), seen.mtime_nsec(), seen.atime(), seen.atime_nsec()];
            (path, times, [seen.ino(), seen.len()])
        };
        files(&self.path("")).into_iter().map(trace).collect()
    }
}

/// Sets the times of a file back: what changed a moment ago is never taken for unchanged.
pub(crate) fn age(path: &Path) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_times(std::fs::FileTimes::new().set_modified(then).set_accessed(then)).unwrap();
}

pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}

fn message(id: &str, parent: Option<&str>, session: &str, body: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("{parent:?}"));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/proj","sessionId":"{session}","version":"2.1.325",{body},"uuid":"{id}","timestamp":"2026-11-01T10:00:00.000Z"}}"#
    )
}

/// Something a person said to Claude Code.
pub(crate) fn asked(id: &str, parent: Option<&str>, text: &str) -> String {
    message(id, parent, CLAUDE, &format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#))
}

/// What Claude Code answered.
pub(crate) fn answered(id: &str, parent: &str, text: &str) -> String {
    let body = format!(
        r#""type":"assistant","message":{{"id":"msg_{id}","type":"message","role":"assistant","model":"claude-x","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"output_tokens":2}}}}"#
    );
    message(id, Some(parent), CLAUDE, &body)
}

/// A conversation of a question and its answer.
pub(crate) fn conversation() -> Vec<String> {
    vec![asked("u1-0000", None, "What is a ramus?"), answered("a1-0000", "u1-0000", "A branch.")]
}
