//! Files that the real programs wrote. They are no part of the repository: where they are not, these tests say nothing.

use std::path::{Path, PathBuf};

use ramus_interchange::{Format, MemorySource, detect};

use crate::carry;

/// The directory with files of real programs: `../shared`, or `RAMUS_SHARED`.
fn fixtures() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("RAMUS_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let fixtures = shared.join("fixtures");
    if !fixtures.is_dir() {
        eprintln!("skipped: there are no files of real programs here");
        return None;
    }
    Some(fixtures)
}

/// The files below a directory with one of these endings, sorted.
fn files(root: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false if path.to_string_lossy().ends_with(ending) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn claude_code_files_are_read_whole_and_come_back() {
    let Some(fixtures) = fixtures() else { return };
    for path in files(&fixtures.join("agents/claude-code"), ".jsonl") {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(detect(&name(&path), &bytes), Some(Format::Claude), "{path:?}");
        let mut source = MemorySource::new(&name(&path), &bytes);
        if path.parent().is_some_and(|parent| parent.ends_with("subagents")) {
            source = MemorySource::new(&name(&path), b"").child(&name(&path), &bytes);
            let (sessions, _) = carry::check(Format::Claude, &source);
            let (written, _) = carry::write(Format::Claude, &sessions.sessions[0].bytes);
            assert_eq!(
                written.iter().filter(|byte| **byte == b'\n').count(),
                bytes.iter().filter(|byte| **byte == b'\n').count()
            );
            continue;
        }
        carry::comes_back(Format::Claude, &source, &bytes);
    }
}

#[test]
fn codex_rollouts_are_read_whole_with_what_they_build_on() {
    let Some(fixtures) = fixtures() else { return };
    let rollouts = files(&fixtures.join("agents/codex"), ".jsonl");
    let rollouts: Vec<_> = rollouts.into_iter().filter(|path| name(path).starts_with("rollout-")).collect();
    for path in &rollouts {
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(detect(&name(path), &bytes), Some(Format::Codex), "{path:?}");
        let mut source = MemorySource::new(&name(path), &bytes);
        for other in &rollouts {
            let stem = name(other).strip_suffix(".jsonl").unwrap().to_owned();
            let id = stem.rsplit('_').next().unwrap();
            source = source.rollout(&id[id.len() - 36..], &std::fs::read(other).unwrap());
        }
        let (sessions, report) = carry::check(Format::Codex, &source);
        assert_eq!((report.lost, report.bridged), (0, 0), "{report:?}");
        eprintln!("{}: {report:?}\n{:#?}", name(path), carry::told(&sessions.sessions[0].bytes));
        if memchr_find(&bytes, b"history_base") {
            carry::settles(Format::Codex, &sessions.sessions[0].bytes);
        } else {
            carry::comes_back(Format::Codex, &source, &bytes);
        }
    }
}

fn memchr_find(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

#[test]
fn gemini_sessions_are_read_whole_and_come_back() {
    let Some(fixtures) = fixtures() else { return };
    for path in files(&fixtures.join("agents/gemini-cli"), ".jsonl") {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(detect(&name(&path), &bytes), Some(Format::Gemini), "{path:?}");
        let source = MemorySource::new(&name(&path), &bytes);
        let (sessions, report) = carry::check(Format::Gemini, &source);
        eprintln!("{}: {report:?}\n{:#?}", name(&path), carry::told(&sessions.sessions[0].bytes));
        carry::comes_back(Format::Gemini, &source, &bytes);
    }
}

#[test]
fn pi_sessions_are_read_whole_and_come_back() {
    let Some(fixtures) = fixtures() else { return };
    for path in [files(&fixtures.join("agents/pi"), ".jsonl"), files(&fixtures.join("pi"), ".jsonl")].concat() {
        let bytes = std::fs::read(&path).unwrap();
        let format = detect(&name(&path), &bytes).unwrap_or(Format::Pi);
        let source = MemorySource::new(&name(&path), &bytes);
        let (sessions, report) = carry::check(format, &source);
        assert_eq!(sessions.sessions.len(), usize::from(!bytes.is_empty()));
        if bytes.is_empty() {
            continue;
        }
        let is_old = ["pi-mono", "31-v2", "32-v1"].iter().any(|old| path.to_string_lossy().contains(old));
        if report.losses.is_empty() && !is_old {
            carry::comes_back(format, &source, &bytes);
        } else {
            eprintln!("{}: {report:?}", name(&path));
            carry::settles(format, &sessions.sessions[0].bytes);
        }
    }
}

#[test]
fn opencode_exports_are_read_whole_and_come_back() {
    let Some(fixtures) = fixtures() else { return };
    let exports =
        files(&fixtures.join("opencode"), ".json").into_iter().filter(|path| name(path).starts_with("export"));
    for path in exports.chain(files(&fixtures.join("agents/opencode"), ".json")) {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(detect(&name(&path), &bytes), Some(Format::Opencode), "{path:?}");
        let source = MemorySource::new(&name(&path), &bytes);
        let (sessions, report) = carry::check(Format::Opencode, &source);
        eprintln!("{}: {report:?}\n{:#?}", name(&path), carry::told(&sessions.sessions[0].bytes));
        let (written, report) = carry::write(Format::Opencode, &sessions.sessions[0].bytes);
        assert!(report.losses.is_empty(), "{report:?}");
        let values = [&bytes, &written].map(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap());
        assert_eq!(values[0], values[1]);
    }
}

/// A database of a real program, as whoever imports it hands it over: a copy.
struct Database {
    name: String,
    directory: tempfile::TempDir,
}

impl Database {
    fn copy(path: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let name = name(path);
        std::fs::copy(path, directory.path().join(&name)).unwrap();
        Self { name, directory }
    }
}

impl ramus_interchange::Source for Database {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(std::fs::File::open(self.directory.path().join(&self.name))?))
    }

    fn database(&self) -> std::io::Result<Option<PathBuf>> {
        Ok(Some(self.directory.path().join(&self.name)))
    }
}

#[test]
fn databases_of_opencode_and_goose_are_read_whole() {
    let Some(fixtures) = fixtures() else { return };
    for (format, folder, sessions) in [(Format::Opencode, "agents/opencode", 5), (Format::Goose, "agents/goose", 5)] {
        for path in files(&fixtures.join(folder), ".db") {
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(detect(&name(&path), &bytes), Some(format));
            let (read, report) = carry::check(format, &Database::copy(&path));
            eprintln!("{}: {report:?}", name(&path));
            assert_eq!(read.sessions.len(), sessions);
            for session in &read.sessions {
                eprintln!("{:?} {:#?}", session.start, carry::told(&session.bytes));
                carry::settles(format, &session.bytes);
            }
        }
    }
}

#[test]
fn h6_tables_of_opal_are_read_whole_and_come_back() {
    let Some(fixtures) = fixtures() else { return };
    for path in files(&fixtures.join("opal-dets"), ".dets") {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(detect(&name(&path), &bytes), Some(Format::Opal), "{path:?}");
        let (sessions, report) = carry::check(Format::Opal, &MemorySource::new(&name(&path), &bytes));
        let dump = std::fs::read_to_string(path.with_extension("expected.jsonl")).unwrap();
        assert_eq!(report.records, dump.lines().count() as u64, "{path:?}");
        eprintln!(
            "{path:?}: {report:?} {:?}\n{:#?}",
            sessions.sessions[0].start,
            carry::told(&sessions.sessions[0].bytes)
        );
        let (written, _) = carry::write(Format::Opal, &sessions.sessions[0].bytes);
        let (again, more) = carry::check(Format::Opal, &MemorySource::new(&name(&path), &written));
        assert_eq!(
            (carry::told(&again.sessions[0].bytes), more.records),
            (carry::told(&sessions.sessions[0].bytes), report.records)
        );
        if let Some(counted) = counted_by_erlang(&written) {
            assert_eq!(counted, report.records, "Erlang finds every record");
        }
    }
}

/// How many records a real Erlang finds in a table; none when there is no Erlang here.
fn counted_by_erlang(table: &[u8]) -> Option<u64> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("written.dets");
    std::fs::write(&path, table).unwrap();
    let program = format!(
        "{{ok, T}} = dets:open_file(t, [{{file, {:?}}}, {{keypos, 1}}]), \
         L = dets:foldl(fun({{K, V}}, A) when is_map(V) -> [{{K, V}}] = dets:lookup(T, K), [K | A]; (_, A) -> A end, [], T), \
         io:format(\"~p\", [length(L)]), halt().",
        path.to_str().unwrap()
    );
    let output = std::process::Command::new("erl").args(["-noshell", "-eval", &program]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    eprintln!("{text} {}", String::from_utf8_lossy(&output.stderr));
    Some(text.trim().lines().last()?.trim().parse().unwrap())
}
