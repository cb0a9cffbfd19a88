//! A world of its own for every test: an empty environment, a home, a project directory, and names that stay the same
//! from run to run.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const BRANCHES: [&str; 8] = [
    r#"{"type":"message","id":"aaaa0001","message":{"role":"user","content":"How do I sort a list?"}}"#,
    r#"{"type":"message","id":"aaaa0002","message":{"role":"assistant","content":[{"type":"thinking","thinking":"easy"},{"type":"text","text":"Let me look."},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"list.py"}}],"provider":"demo","model":"small","stopReason":"toolUse","usage":{"input":100,"output":20,"cacheRead":5,"cacheWrite":1,"totalTokens":126,"cost":{"input":0.001,"output":0.002,"total":0.003}}}}"#,
    r#"{"type":"message","id":"aaaa0003","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","isError":false,"content":[{"type":"text","text":"names = []\nnames.append(1)\n"}]}}"#,
    r#"{"type":"message","id":"aaaa0004","message":{"role":"assistant","content":[{"type":"text","text":"Call names.sort().\nIt sorts in place."}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
    r#"{"type":"label","id":"aaaa0005","targetId":"aaaa0004","label":"answer"}"#,
    r#"{"type":"message","id":"bbbb0001","parentId":"aaaa0004","message":{"role":"user","content":"And in reverse?"}}"#,
    r#"{"type":"message","id":"cccc0001","parentId":"aaaa0004","message":{"role":"user","content":"Without changing it?"}}"#,
    r#"{"type":"message","id":"cccc0002","message":{"role":"assistant","content":[{"type":"text","text":"Call sorted(names)."}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
];

/// Temporary directories and an environment.
pub(crate) struct World {
    folder: TempDir,
    environment: HashMap<String, String>,
}

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project", "user"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, environment: HashMap::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Temporary directories may lie behind a link; sessions record where they really are.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.environment.insert(variable.to_owned(), value.to_owned());
        self
    }

    /// A command that sees nothing of the machine it runs on.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramus"));
        command.args(arguments).current_dir(self.path("project")).env_clear();
        command.env("HOME", self.path("user")).env("RAMUS_HOME", self.path("home")).env("COLUMNS", "100");
        command.envs(&self.environment).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ended(self.command(arguments).output().unwrap())
    }

    /// Runs a command that reads `input`.
    pub(crate) fn run_with(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Whoever stops reading early is judged by what it prints.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        ended(child.wait_with_output().unwrap())
    }

    /// Runs a command that must succeed, and returns what it printed, without the newline.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "ramus {arguments:?}: {}", ran.stderr);
        ran.stdout.trim_end_matches('\n').to_owned()
    }

    /// Runs a command with --json that must succeed, and returns its answer.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.ok(&[arguments, &["--json"]].concat());
        let value: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(value["schema_version"], 1, "ramus {arguments:?}: {answer}");
        value
    }

    /// Runs a command with --json, whatever its exit code, and returns its answer.
    pub(crate) fn json_of(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("ramus {arguments:?}: {}", ran.stderr))
    }

    /// Starts a session and returns its id.
    pub(crate) fn session(&self) -> String {
        self.ok(&["new"])
    }

    /// Says something and returns the entry's id.
    pub(crate) fn say(&self, session: &str, role: &str, text: &str) -> String {
        self.ok(&["say", session, text, "--role", role])
    }

    /// Writes a file into the project and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.path("project").join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// A session with two branches, a label, a model and a title.
    pub(crate) fn branched(&self) -> String {
        let session = self.ok(&["new", "--title", "Sort a list", "--model", "demo/small"]);
        self.append_branches(&session);
        session
    }

    /// Appends two branches and a label, under ids that are always the same.
    pub(crate) fn append_branches(&self, session: &str) {
        let ran = self.run_with(&BRANCHES.join("\n"), &["append", session]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }

    /// The ids of the sessions in the home, oldest first.
    fn sessions(&self) -> Vec<String> {
        let listed =
            |directory: PathBuf| std::fs::read_dir(directory).into_iter().flatten().flatten().map(|e| e.path());
        let published = listed(self.path("home/sessions")).flat_map(listed);
        let names = listed(self.path("home/drafts")).chain(published);
        let names = names.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let id = |path: PathBuf| Some(path.file_stem()?.to_str()?.split_once('_')?.1.to_owned());
        let mut ids: Vec<String> = names.filter_map(id).collect();
        ids.sort();
        ids
    }

    /// Replaces what differs from run to run: directories, and ids by the order they were made or appear in.
    pub(crate) fn tame(&self, text: &str) -> String {
        let text = text.replace(&self.path("").display().to_string(), "[world]/");
        let text = text.replace(&dashed(&self.path("")), "[world]-");
        let mut names = Names { sessions: self.sessions(), entries: Vec::new() };
        let mut out = String::new();
        let mut token = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_ascii_alphanumeric() || c == '-' {
                token.push(c);
                continue;
            }
            out.push_str(&names.of(&token));
            token.clear();
            out.push(c);
        }
        out.trim_end_matches('\0').to_owned()
    }
}

/// A directory as it is spelled in the names of others.
fn dashed(path: &Path) -> String {
    path.display().to_string().trim_start_matches('/').replace('/', "-")
}

fn ended(output: std::process::Output) -> Ran {
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().expect("not ended by a signal"),
    }
}

struct Names {
    sessions: Vec<String>,
    entries: Vec<String>,
}

impl Names {
    fn of(&mut self, token: &str) -> String {
        let hex = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        let made_up = token.starts_with("aaaa0") || token.starts_with("bbbb0") || token.starts_with("cccc0");
        if token.len() == 36 && token.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && hex(&token.replace('-', "")) {
            return format!("[session {}]", number(&mut self.sessions, token));
        }
        if let Some(at) = self.sessions.iter().position(|session| token.len() >= 8 && session.starts_with(token)) {
            return format!("[session {} short]", at + 1);
        }
        if token.len() == 8 && hex(token) && !made_up {
            return format!("entry-{:02}", number(&mut self.entries, token));
        }
        token.to_owned()
    }
}

fn number(known: &mut Vec<String>, name: &str) -> usize {
    if let Some(at) = known.iter().position(|other| other == name) {
        return at + 1;
    }
    known.push(name.to_owned());
    known.len()
}

/// Compares with the stored snapshot; times and sizes that depend on paths are left out.
macro_rules! snapshot {
    ($name:expr, $value:expr) => {
        insta::with_settings!({
            filters => vec![
                (r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z", "[time]"),
                (r"\d{4}-\d\d-\d\d \d\d:\d\d", "[minute]"),
                (r#""timestamp": ?\d{13}"#, r#""timestamp": "[millis]""#),
                (r#""bytes": ?\d+"#, r#""bytes": "[bytes]""#),
                (r"\d+(\.\d)? k?B to ", "[size] to "),
                (r"(remove|removed) session (.*), \d+(\.\d)? k?B", "$1 session $2, [size]"),
                (r"p-[0-9a-f]{64}-", "[path]-"),
                (r"(?m)^ID +UPDATED", "ID        UPDATED"),
                (r"\[session( \d short)?\] +just", "[session$1]  just"),
            ],
            omit_expression => true,
            prepend_module_to_snapshot => false,
        }, {
            insta::assert_snapshot!($name, $value);
        });
    };
}
pub(crate) use snapshot;

/// A transcript of a command: what it was called with, what it printed where, how it ended.
pub(crate) fn transcript(world: &World, arguments: &[&str]) -> String {
    let ran = world.run(arguments);
    let mut out = format!("$ ramus {}\n", arguments.join(" "));
    for (name, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        if !text.is_empty() {
            out.push_str(&format!("--- {name}\n{text}"));
        }
    }
    out.push_str(&format!("--- exit {}\n", ran.code));
    out
}

/// JSON on several lines, keys in the order they are printed.
pub(crate) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
