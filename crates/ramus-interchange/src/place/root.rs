//! Directories in which agents keep sessions, and what the names in them mean. An agent's index is never asked: indexes lie,
//! names do not.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::format::Format;
use crate::mapping::is_uuid;

/// A directory that may hold sessions of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Whose sessions.
    pub format: Format,
    /// Where. It may not exist.
    pub directory: PathBuf,
    /// How many directories lie between it and the deepest file that matters.
    pub depth: usize,
    names: Names,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A session, or a store of several.
    Session {
        /// How it is read.
        kind: Kind,
        /// What [`Role::Child`] calls it; of a rollout, the id by which others build on it. Several files may have one
        /// key.
        key: String,
    },
    /// The transcript of an agent that a session spawned, to be read with that session.
    Child {
        /// The key of the session.
        of: String,
    },
}

/// How a session is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines, to which the agent appends.
    Lines,
    /// A file that is read as a whole.
    Document,
    /// A database with many sessions, of which a copy is read.
    Database,
    /// A file among others that belong to it.
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Claude,
    Codex,
    Gemini,
    Pi,
    Opencode,
    Goose,
    Opal,
    Shepherd,
    Okcvm,
    Directory,
    /// One file of any name.
    Single,
}

/// Returns where an agent may keep sessions, the usual place first. Formats that are no agent's have none.
pub fn roots(format: Format, environment: &Environment) -> Vec<Root> {
    let root = |names, depth, directory: PathBuf| Root { format, directory, depth, names };
    match format {
        Format::Claude => {
            let directory = environment.variable_or("CLAUDE_CONFIG_DIR", ".claude").join("projects");
            vec![root(Names::Claude, 4, directory)]
        }
        Format::Codex => {
            let home = environment.variable_or("CODEX_HOME", ".codex");
            ["sessions", "archived_sessions"].map(|name| root(Names::Codex, 3, home.join(name))).to_vec()
        }
        Format::Gemini => {
            let home = environment.variable("GEMINI_CLI_HOME").unwrap_or_else(|| environment.home().to_owned());
            vec![root(Names::Gemini, 3, home.join(".gemini/tmp"))]
        }
        Format::Pi => {
            let agent = environment.variable_or("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions");
            let own = environment.variable("PI_CODING_AGENT_SESSION_DIR");
            own.into_iter().chain([agent]).map(|directory| root(Names::Pi, 1, directory)).collect()
        }
        Format::Omp => {
            let moved = environment.data().join("omp/sessions");
            [omp_sessions(environment), moved].map(|place| root(Names::Pi, 3, place)).to_vec()
        }
        Format::Opencode => {
            let single = environment.variable("OPENCODE_DB").filter(|path| path.is_absolute());
            let single = single.map(|file| root(Names::Single, 0, file));
            single.into_iter().chain([root(Names::Opencode, 3, environment.data().join("opencode"))]).collect()
        }
        Format::Goose => vec![root(Names::Goose, 0, goose_data(environment).join("sessions"))],
        Format::Opal => vec![root(Names::Opal, 0, environment.home().join(".opal/sessions"))],
        Format::Shepherd => {
            let working = environment.working_directory();
            working.map(|place| root(Names::Shepherd, 0, place.to_owned())).into_iter().collect()
        }
        Format::Okcvm => {
            let single = okcvm_database(environment).map(|file| root(Names::Single, 0, file));
            let working = environment.working_directory().map(|place| root(Names::Okcvm, 0, place.to_owned()));
            single.into_iter().chain(working).collect()
        }
        Format::Directory => vec![root(Names::Directory, 1, environment.home().join(".opencode/session"))],
        Format::Atif => Vec::new(),
    }
}

/// Where omp keeps sessions when they were not moved to the place for data.
pub(super) fn omp_sessions(environment: &Environment) -> PathBuf {
    let configuration = environment.variable("PI_CONFIG_DIR").unwrap_or_else(|| PathBuf::from(".omp"));
    let agent = environment.variable("PI_CODING_AGENT_DIR");
    agent.unwrap_or_else(|| environment.home().join(configuration).join("agent")).join("sessions")
}

/// The database of OKCVM that a variable names: `sqlite:///FILE`, and four slashes for a path from the root. Others are no files.
fn okcvm_database(environment: &Environment) -> Option<PathBuf> {
    let url = environment.variable("OKCVM_DB_URL")?;
    let file = url.to_str()?.strip_prefix("sqlite:///")?.split('?').next().filter(|file| !file.is_empty())?;
    Some(environment.working_directory().unwrap_or(Path::new("/")).join(file)).filter(|path| path.is_absolute())
}

fn goose_data(environment: &Environment) -> PathBuf {
    match environment.variable("GOOSE_PATH_ROOT") {
        Some(root) => root.join("data"),
        None => environment.data().join("goose"),
    }
}

impl Root {
    /// Says what a file is by its name, relative to the directory and with `/` between its parts; none when it is no
    /// session. What is in the file still decides: see [`detect`](crate::detect).
    pub fn role(&self, name: &str) -> Option<Role> {
        let parts: Vec<&str> = name.split('/').collect();
        match self.names {
            Names::Claude => claude(&parts),
            Names::Codex => codex(&parts),
            Names::Gemini => gemini(&parts),
            Names::Pi => pi(&parts, self.depth),
            Names::Opencode => opencode(&parts),
            Names::Goose => goose(&parts),
            Names::Opal => session(Kind::Document, name, has_extension(name, "dets")),
            Names::Shepherd => {
                let fits = name.starts_with(".shepherd_session.") && has_extension(name, "json");
                session(Kind::Document, name, fits)
            }
            Names::Okcvm => session(Kind::Database, name, name == "okcvm_conversations.db"),
            Names::Directory => {
                let id = name.strip_suffix("/meta.json").filter(|id| !id.contains('/'));
                session(Kind::Directory, id.unwrap_or_default(), id.is_some())
            }
            Names::Single => session(Kind::Database, name, name.is_empty()),
        }
    }

    /// Says whether a directory may hold sessions, or transcripts of spawned agents, by its name relative to this one.
    pub fn holds(&self, name: &str) -> bool {
        let parts: Vec<&str> = name.split('/').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match (self.names, parts.as_slice()) {
            (_, []) => false,
            (Names::Claude, [_]) | (Names::Directory, [_]) | (Names::Gemini, [_] | [_, "chats"] | [_, "chats", _]) => {
                true
            }
            (Names::Claude, [_, id] | [_, id, "subagents"]) => is_uuid(id),
            (Names::Codex, parts) => parts.len() <= self.depth && parts.iter().all(is_number),
            (Names::Pi, parts) => parts.len() <= self.depth,
            (Names::Opencode, ["storage"] | ["storage", "session"] | ["storage", "session", _]) => true,
            _ => false,
        }
    }
}

fn session(kind: Kind, key: &str, fits: bool) -> Option<Role> {
    fits.then(|| Role::Session { kind, key: key.to_owned() })
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// `PROJECT/ID.jsonl`, and `PROJECT/ID/subagents/**/agent-X.jsonl`.
fn claude(parts: &[&str]) -> Option<Role> {
    let last = parts.last().filter(|last| has_extension(last, "jsonl"))?;
    match parts {
        [project, file] => session(Kind::Lines, &format!("{project}/{}", stem(file)), true),
        [project, id, "subagents", .., _] if last.starts_with("agent-") => {
            Some(Role::Child { of: format!("{project}/{id}") })
        }
        _ => None,
    }
}

/// `YYYY/MM/DD/rollout-TIME-ID[_ROLLOUT].jsonl[.zst]`. Archived ones lie in one directory.
fn codex(parts: &[&str]) -> Option<Role> {
    let file = parts.last()?;
    let name = file.strip_suffix(".zst").unwrap_or(file).strip_suffix(".jsonl")?.strip_prefix("rollout-")?;
    let id = name.get(name.len().checked_sub(36)?..).filter(|id| is_uuid(id))?;
    session(Kind::Lines, id, true)
}

/// `PROJECT/chats/session-TIME-ID8.jsonl` or `.json`, and `PROJECT/chats/ID/X.jsonl`.
fn gemini(parts: &[&str]) -> Option<Role> {
    match parts {
        [project, "chats", file] if file.starts_with("session-") => {
            let kind = match Path::new(file).extension()?.to_str()? {
                "jsonl" => Kind::Lines,
                "json" => Kind::Document,
                _ => return None,
            };
            let id = stem(file).rsplit('-').next().unwrap_or_default();
            session(kind, &format!("{project}/{id}"), true)
        }
        [project, "chats", id, file] if has_extension(file, "jsonl") => {
            Some(Role::Child { of: format!("{project}/{}", id.get(..8).unwrap_or(id)) })
        }
        _ => None,
    }
}

/// `PROJECT/TIME_ID.jsonl`, or the file alone in a directory of the user's own. omp keeps what a session's agents wrote in a
/// directory of the session's name.
fn pi(parts: &[&str], depth: usize) -> Option<Role> {
    let file = parts.last().filter(|last| has_extension(last, "jsonl"))?;
    match parts {
        [_] => session(Kind::Lines, stem(file), true),
        [project, _] => session(Kind::Lines, &format!("{project}/{}", stem(file)), true),
        [project, of, ..] if depth > 1 => Some(Role::Child { of: format!("{project}/{of}") }),
        _ => None,
    }
}

/// `opencode.db` and those of other channels, and `storage/session/PROJECT/ses_X.json` from before.
fn opencode(parts: &[&str]) -> Option<Role> {
    match parts {
        [file] => {
            let fits = file.starts_with("opencode") && has_extension(file, "db");
            session(Kind::Database, file, fits)
        }
        ["storage", "session", _, file] => {
            session(Kind::Directory, stem(file), file.starts_with("ses_") && has_extension(file, "json"))
        }
        _ => None,
    }
}

/// `sessions.db`, and `ID.jsonl` from before.
fn goose(parts: &[&str]) -> Option<Role> {
    match parts {
        ["sessions.db"] => session(Kind::Database, "sessions.db", true),
        [file] => session(Kind::Lines, stem(file), has_extension(file, "jsonl")),
        _ => None,
    }
}

fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "9ef40646-dd60-4ed0-9166-ee4ecd4f3a92";

    fn role(format: Format, name: &str) -> Option<Role> {
        let environment = Environment::new("/h", "/tmp").working("/w");
        roots(format, &environment).into_iter().next().unwrap().role(name)
    }

    fn key(format: Format, name: &str) -> Option<(Kind, String)> {
        match role(format, name)? {
            Role::Session { kind, key } => Some((kind, key)),
            Role::Child { .. } => None,
        }
    }

    fn owner(format: Format, name: &str) -> Option<String> {
        match role(format, name)? {
            Role::Session { .. } => None,
            Role::Child { of } => Some(of),
        }
    }

    #[test]
    fn sessions_are_known_by_their_names() {
        let lines = |key: &str| Some((Kind::Lines, key.to_owned()));
        assert_eq!(key(Format::Claude, &format!("-w/{ID}.jsonl")), lines(&format!("-w/{ID}")));
        assert_eq!(key(Format::Claude, "-w/sessions-index.json"), None);
        assert_eq!(key(Format::Codex, &format!("2026/11/01/rollout-2026-11-01T10-00-00-{ID}.jsonl")), lines(ID));
        let later =
            format!("2026/11/01/rollout-2026-11-01T10-00-00-01a1de16-196f-7cb2-8483-15ba119ba24e_{ID}.jsonl.zst");
        assert_eq!(key(Format::Codex, &later), lines(ID));
        assert_eq!(key(Format::Codex, "2026/11/01/rollout-é.jsonl"), None);
        assert_eq!(key(Format::Gemini, "app/chats/session-2026-11-15T07-17-368f7678.jsonl"), lines("app/368f7678"));
        let old = key(Format::Gemini, "app/chats/session-2026-11-15T07-17-368f7678.json");
        assert_eq!(old, Some((Kind::Document, "app/368f7678".to_owned())));
        assert_eq!(key(Format::Gemini, "app/logs.json"), None);
        assert_eq!(key(Format::Pi, "--w--/2026_x.y.jsonl"), lines("--w--/2026_x.y"));
        assert_eq!(key(Format::Opencode, "opencode-dev.db"), Some((Kind::Database, "opencode-dev.db".to_owned())));
        assert_eq!(key(Format::Opencode, "opencode.db-wal"), None);
        let before = key(Format::Opencode, "storage/session/global/ses_1.json");
        assert_eq!(before, Some((Kind::Directory, "ses_1".to_owned())));
        assert_eq!(key(Format::Goose, "sessions.db"), Some((Kind::Database, "sessions.db".to_owned())));
        assert_eq!(key(Format::Goose, "20250811_101500.jsonl"), lines("20250811_101500"));
        assert_eq!(key(Format::Goose, "sessions.db-wal"), None);
        assert_eq!(key(Format::Opal, "a.dets"), Some((Kind::Document, "a.dets".to_owned())));
        assert!(key(Format::Shepherd, ".shepherd_session.openai.json").is_some());
        assert!(key(Format::Okcvm, "okcvm_conversations.db").is_some());
        assert_eq!(key(Format::Directory, "session_a/meta.json"), Some((Kind::Directory, "session_a".to_owned())));
        assert_eq!(key(Format::Directory, "session_a/message/meta.json"), None);
    }

    #[test]
    fn transcripts_of_spawned_agents_have_an_owner() {
        let child = |format, name: &str| owner(format, name).unwrap_or_default();
        assert_eq!(child(Format::Claude, &format!("-w/{ID}/subagents/agent-a.jsonl")), format!("-w/{ID}"));
        assert_eq!(child(Format::Claude, &format!("-w/{ID}/subagents/flow/agent-a.jsonl")), format!("-w/{ID}"));
        assert_eq!(owner(Format::Claude, &format!("-w/{ID}/subagents/agent-a.meta.json")), None);
        assert_eq!(owner(Format::Claude, &format!("-w/{ID}/tool-results/x.jsonl")), None);
        assert_eq!(child(Format::Gemini, &format!("app/chats/{ID}/x.jsonl")), "app/9ef40646");
        assert_eq!(child(Format::Omp, "-w/2026_x/0-Task.jsonl"), "-w/2026_x");
        assert_eq!(owner(Format::Pi, "--w--/2026_x/0.jsonl"), None);
    }

    #[test]
    fn directories_that_may_hold_sessions_are_known_by_their_names() {
        let environment = Environment::new("/h", "/tmp").working("/w");
        let holds = |format, name: &str| roots(format, &environment).into_iter().next().unwrap().holds(name);
        for (format, name) in [
            (Format::Claude, "-w"),
            (Format::Claude, &*format!("-w/{ID}/subagents")),
            (Format::Codex, "2026/11"),
            (Format::Gemini, "app/chats"),
            (Format::Pi, "--w--"),
            (Format::Omp, "-w/2026_x"),
            (Format::Opencode, "storage/session/global"),
        ] {
            assert!(holds(format, name), "{name}");
        }
        for (format, name) in [
            (Format::Claude, "-w/memory"),
            (Format::Codex, "2026/backup"),
            (Format::Pi, "--w--/x"),
            (Format::Opencode, "snapshot"),
            (Format::Goose, "x"),
        ] {
            assert!(!holds(format, name), "{name}");
        }
    }

    #[test]
    fn a_database_of_okcvm_is_where_its_variable_says() {
        let place = |url: &str| {
            let environment = Environment::new("/h", "/tmp").working("/w").with("OKCVM_DB_URL", url);
            roots(Format::Okcvm, &environment).into_iter().map(|root| root.directory).collect::<Vec<_>>()
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(place("sqlite:////d/mine.db"), paths(&["/d/mine.db", "/w"]));
        assert_eq!(place("sqlite:///mine.db?timeout=5"), paths(&["/w/mine.db", "/w"]));
        for other in ["", "sqlite://", "sqlite:///", "postgresql://there/okcvm"] {
            assert_eq!(place(other), paths(&["/w"]), "{other}");
        }
    }

    #[test]
    fn a_database_of_the_users_own_comes_first() {
        let environment = Environment::new("/h", "/tmp").with("OPENCODE_DB", "/d/mine.db");
        let roots = roots(Format::Opencode, &environment);
        assert_eq!(
            roots.iter().map(|root| root.directory.clone()).collect::<Vec<_>>(),
            [PathBuf::from("/d/mine.db"), PathBuf::from("/h/.local/share/opencode")]
        );
        assert!(roots.first().unwrap().role("").is_some());
    }
}
